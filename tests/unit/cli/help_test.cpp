#include "slurm_shim/cli/help.h"

#include <gtest/gtest.h>

namespace shim::cli {
namespace {

constexpr Option k_table[] = {
    {.name = "begin",
     .letter = 'b',
     .arity = Arity::required,
     .metavar = "time",
     .support = Support::later,
     .help = "start later",
     .note = "starts at once"},
    {.name = "exclusive-with-a-long-name",
     .arity = Arity::optional,
     .metavar = "who",
     .help = "share nothing"},
    {.name = "uid",
     .arity = Arity::required,
     .metavar = "user",
     .support = Support::rejected,
     .help = "be another",
     .note = "not here"},
    {.name = "verbose", .letter = 'v', .help = "say more"},
    {.name = "verbos", .hidden = true, .alias_of = "verbose"},
};
constexpr HelpFrame k_frame{
    .synopsis = "t [OPTIONS...] FILE", .description = "Does a thing.", .epilogue = "The end."};

TEST(Help, lists_visible_options_with_their_limits) {
  EXPECT_EQ(help_text(k_table, k_frame),
            "Usage: t [OPTIONS...] FILE\n\nDoes a thing.\n\nOptions:\n"
            "  -b, --begin=time              start later\n"
            "                                (no effect: starts at once)\n"
            "      --exclusive-with-a-long-name[=who]\n"
            "                                share nothing\n"
            "      --uid=user                be another\n"
            "                                (refused: not here)\n"
            "  -v, --verbose                 say more\n"
            "\nThe end.\n");
}

TEST(Help, usage_folds_at_80_columns) {
  EXPECT_EQ(usage_text(k_table, k_frame),
            "Usage: t [-b|--begin=time] [--exclusive-with-a-long-name[=who]] [--uid=user]\n"
            "       [-v|--verbose] FILE\n");
}

TEST(Help, warns_once_for_each_option_without_effect) {
  const auto parsed = parse(k_table,
                            {"-b1", "--begin=2", "-v", "--odd=1"},
                            {.command = "t", .tolerate_unknown_long = true});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(warnings_of(*parsed),
            (std::vector<std::string>{"option '--begin' has no effect: starts at once",
                                      "unrecognized option '--odd=1' ignored"}));
  EXPECT_TRUE(refuse_unsupported(*parsed, false));
  const auto strict = refuse_unsupported(*parsed, true);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().message,
            "option '--begin' has no effect: starts at once (strict_flags)");
}

TEST(Help, refuses_what_is_rejected_by_design) {
  const auto parsed = parse(k_table, {"--uid", "0"}, {.command = "t"});
  ASSERT_TRUE(parsed);
  const auto refused = refuse_unsupported(*parsed, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "option '--uid' is not supported: not here");
}

} // namespace
} // namespace shim::cli
