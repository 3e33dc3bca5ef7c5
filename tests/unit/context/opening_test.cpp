#include "slurm_shim/context/opening.h"

#include <gtest/gtest.h>

#include <array>

namespace shim::context {
namespace {

using Words = std::vector<std::string>;

constexpr std::array k_options{
    cli::Option{.name = "clusters",
                .letter = 'M',
                .arity = cli::Arity::required,
                .metavar = "names",
                .support = cli::Support::later,
                .note = "there is one"},
    cli::Option{.name = "help"},
    cli::Option{.name = "mail", .support = cli::Support::rejected, .note = "no mail"},
    cli::Option{.name = "usage"},
    cli::Option{.name = "version"},
};
constexpr cli::HelpFrame k_frame{.synopsis = "sask [OPTIONS...]", .description = "Asks."};

class NoRunner final : public posix::Runner {
public:
  Result<posix::Output> run(const posix::RunRequest& request) override {
    return fail(ErrorKind::unavailable, "nobody is to be asked: " + request.argv[0]);
  }
};

struct Said {
  std::optional<int> code;
  Words rest;
  std::string out, err;
};
Said opened(const Words& words, bool try_line = true) {
  StringSink out, err;
  NoRunner runner;
  posix::SystemClock clock;
  Context ctx{"sask", {}, out, err, runner, clock, {}};
  auto opening = open(ctx, k_options, k_frame, words, try_line);
  return {opening.code, std::move(opening.parsed.rest), out.text(), err.text()};
}

TEST(Opening, finds_options_after_positional_words) {
  const auto said = opened({"7", "-Mall", "8"});
  EXPECT_EQ(said.code, std::nullopt);
  EXPECT_EQ(said.rest, (Words{"7", "8"}));
  EXPECT_EQ(said.err, "sask: warning: option '--clusters' has no effect: there is one\n");
  EXPECT_EQ(said.out, "");
}

TEST(Opening, answers_what_was_asked_first) {
  EXPECT_EQ(opened({"--version", "--help"}).out, "slurm " + config::Config{}.compat_version + "\n");
  EXPECT_TRUE(opened({"--help", "--version"}).out.starts_with("Usage: sask [OPTIONS...]\n\nAsks."));
  EXPECT_TRUE(opened({"--usage", "--help"}).out.starts_with("Usage: sask [-M|--clusters="));
  const auto said = opened({"--mail", "--help", "-Mall"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.err, "") << "help is no place for warnings";
}

TEST(Opening, refuses_what_it_does_not_know_or_cannot_do) {
  auto said = opened({"--nope"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.err,
            "sask: unrecognized option '--nope'\nTry \"sask --help\" for more information\n");
  EXPECT_EQ(opened({"--nope"}, false).err, "sask: unrecognized option '--nope'\n");
  said = opened({"--mail"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.err, "sask: error: option '--mail' is not supported: no mail\n");
  EXPECT_EQ(said.out, "");
}

} // namespace
} // namespace shim::context
