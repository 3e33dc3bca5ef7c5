#include "slurm_shim/cli/packed_options.h"

#include <gtest/gtest.h>

namespace {

using namespace shim::cli;

constexpr Option k_table[] = {
    {.name = "first",
     .letter = 'f',
     .arity = Arity::required,
     .metavar = "n",
     .support = Support::later,
     .env = "A_FIRST",
     .maps_to = "qsub -f",
     .help = "one",
     .note = "not yet"},
    {.name = "second", .hidden = true, .alias_of = "first"},
    {.name = "", .letter = 'x', .arity = Arity::optional, .support = Support::rejected},
};

TEST(PackedOptions, unpacking_gives_the_rows_that_were_packed) {
  const auto rows = unpacked_options<k_table>();
  ASSERT_EQ(rows.size(), std::size(k_table));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(texts_of(rows[i]), texts_of(k_table[i])) << i;
    EXPECT_EQ(rows[i].letter, k_table[i].letter);
    EXPECT_EQ(rows[i].arity, k_table[i].arity);
    EXPECT_EQ(rows[i].support, k_table[i].support);
    EXPECT_EQ(rows[i].hidden, k_table[i].hidden);
  }
  EXPECT_EQ(unpacked_options<k_table>().data(), rows.data()); // made once
}

} // namespace
