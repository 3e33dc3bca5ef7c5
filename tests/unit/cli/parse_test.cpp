#include "slurm_shim/cli/parse.h"

#include <gtest/gtest.h>

namespace shim::cli {
namespace {

constexpr Option k_table[] = {
    {.name = "hold", .letter = 'H'},
    {.name = "job-name", .letter = 'J', .arity = Arity::required},
    {.name = "jobs", .letter = 'j', .arity = Arity::optional},
    {.name = "job", .arity = Arity::optional, .hidden = true, .alias_of = "jobs"},
    {.name = "kill-on-bad-exit", .letter = 'K', .arity = Arity::optional},
    {.name = "nodes", .letter = 'N', .arity = Arity::required},
    {.name = "nodelist", .letter = 'w', .arity = Arity::required},
    {.name = "nodefile", .letter = 'F', .arity = Arity::required},
    {.name = "verbose", .letter = 'v'},
};

// "name=value" of every option given, then "|" and the rest.
std::string shape(const Result<Parsed>& parsed) {
  if (!parsed) return "error: " + parsed.error().message;
  std::string text;
  for (const auto& given : parsed->given)
    text += std::string(given.option->name) + (given.value ? "=" + *given.value : "") + " ";
  for (const auto& word : parsed->ignored)
    text += "?" + word + " ";
  text += "|";
  for (const auto& word : parsed->rest)
    text += " " + word;
  return text;
}

struct Case {
  std::vector<std::string> words;
  std::string want;
};

TEST(Parse, walks_words_as_getopt_long_does) {
  const Case cases[] = {
      {{"--nodes=2", "x", "--hold"}, "nodes=2 | x --hold"},
      {{"--nodes", "2", "x"}, "nodes=2 | x"},
      {{"-N2", "-N", "3"}, "nodes=2 nodes=3 |"},
      {{"-HvN4", "-"}, "hold verbose nodes=4 | -"},
      {{"--hol", "--", "-N"}, "hold | -N"},
      {{"-K", "prog"}, "kill-on-bad-exit | prog"},
      {{"-K1", "--kill=0", "--kill-on-bad-exit", "1"},
       "kill-on-bad-exit=1 kill-on-bad-exit=0 kill-on-bad-exit | 1"},
      {{"--nodes="}, "nodes= |"},
      {{"-J", "--hold"}, "job-name=--hold |"},
      {{"--job=5", "--jobs=6"}, "jobs=5 jobs=6 |"},
      {{}, "|"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(shape(parse(k_table, c.words, {.command = "t"})), c.want);
}

TEST(Parse, options_after_words_only_when_permuting) {
  const ParseRules rules{.command = "t", .permute = true};
  EXPECT_EQ(shape(parse(k_table, {"1", "-v", "2", "--", "-H"}, rules)), "verbose | 1 2 -H");
}

TEST(Parse, refuses_with_getopt_texts) {
  const Case cases[] = {
      {{"--nope"}, "t: unrecognized option '--nope'"},
      {{"--nope=1"}, "t: unrecognized option '--nope=1'"},
      {{"--node=2"},
       "t: option '--node=2' is ambiguous; possibilities: '--nodefile' '--nodelist' '--nodes'"},
      {{"--nodes"}, "t: option '--nodes' requires an argument"},
      {{"--job-n"}, "t: option '--job-name' requires an argument"},
      {{"--ho=1"}, "t: option '--hold' doesn't allow an argument"},
      {{"-vy"}, "t: invalid option -- 'y'"},
      {{"-vJ"}, "t: option requires an argument -- 'J'"},
  };
  for (const auto& c : cases) {
    const auto parsed = parse(k_table, c.words, {.command = "t"});
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().message, c.want + "\nTry \"t --help\" for more information");
    const auto bare = parse(k_table, c.words, {.command = "t", .try_line = false});
    ASSERT_FALSE(bare);
    EXPECT_EQ(bare.error().message, c.want);
  }
}

TEST(Parse, tolerates_unknown_long_options_on_request) {
  const ParseRules rules{.command = "t", .tolerate_unknown_long = true, .try_line = false};
  EXPECT_EQ(shape(parse(k_table, {"--view=a b", "--uenv", "-v", "x"}, rules)),
            "verbose ?--view=a b ?--uenv | x");
  EXPECT_EQ(shape(parse(k_table, {"--uenv"}, rules)), "?--uenv |");
  EXPECT_EQ(shape(parse(k_table, {"--uenv", "img", "x"}, rules)),
            "error: t: unrecognized option '--uenv' (if 'img' is its value, write '--uenv=img')");
  EXPECT_FALSE(parse(k_table, {"-y"}, rules));
}

TEST(Parse, last_one_wins) {
  const auto parsed = parse(k_table, {"-N1", "-N2"}, {.command = "t"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->last("nodes")->value, "2");
  EXPECT_FALSE(parsed->has("hold"));
}

} // namespace
} // namespace shim::cli
