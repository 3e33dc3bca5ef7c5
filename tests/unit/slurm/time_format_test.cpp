#include "slurm_shim/slurm/date_time.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace shim::slurm {
namespace {

constexpr std::time_t k_now = 1796003000; // 2026-11-30T01:43:20 UTC, a Monday
constexpr std::time_t k_day = 86400;

class TimeFormat : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

TEST_F(TimeFormat, standard_is_the_default) {
  EXPECT_EQ(format_date_time(k_now, "", k_now), "2026-11-30T01:43:20");
  EXPECT_EQ(format_date_time(k_now, "standard", k_now), "2026-11-30T01:43:20");
}

TEST_F(TimeFormat, any_format_of_strftime) {
  EXPECT_EQ(format_date_time(k_now, "%s", k_now), "1796003000");
  EXPECT_EQ(format_date_time(k_now, "%d/%m %H", k_now), "30/11 01");
}

TEST_F(TimeFormat, relative_names_the_day) {
  const auto at = [](std::time_t when) { return format_date_time(when, "relative", k_now); };
  EXPECT_EQ(at(k_now + 60), "01:44:20");
  EXPECT_EQ(at(k_now + k_day), "Tomorr 01:43");
  EXPECT_EQ(at(k_now - 2 * 3600), "Ystday 23:43");
  EXPECT_EQ(at(k_now + 3 * k_day), "Thu 01:43");
  EXPECT_EQ(at(k_now - 20 * k_day), "10 Nov 01:43");
  EXPECT_EQ(at(k_now + 60 * k_day), "29 Jan 2027");
}

} // namespace
} // namespace shim::slurm
