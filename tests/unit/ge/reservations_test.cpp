#include "slurm_shim/ge/reservations.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace shim::ge {
namespace {

TEST(Reservations, are_read_with_their_whole_names) {
  std::ifstream file(std::string(SHIM_TEST_DATA) + "/fixtures/8.1.9/qrstat-xml.stdout");
  std::stringstream text;
  text << file.rdbuf();
  const auto found = parse_reservations(text.str());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found,
            (std::vector<Reservation>{{"1", "course", "user1"},
                                      {"2", "", "user1"},
                                      {"3", "averylongnameofreservation", "user1"}}));
  EXPECT_TRUE(parse_reservations("<?xml version='1.0'?>\n<qrstat></qrstat>")->empty());
  EXPECT_FALSE(parse_reservations("<?xml version='1.0'?>\n<qrstat><ar_summary>").has_value());
}

} // namespace
} // namespace shim::ge
