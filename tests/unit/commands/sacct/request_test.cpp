#include "columns.h"
#include "request.h"
#include "table.h"

#include "slurm_shim/commands/sacct.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace shim::commands::sacct {
namespace {

constexpr std::int64_t k_now = 1'796'040'000; // 2026-11-30T12:00:00 UTC

class SacctRequest : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  static tl::expected<Request, Refusal> made(const std::vector<std::string>& words,
                                             const EnvList& env = {}) {
    const auto parsed = cli::parse(sacct_options(), words, {.command = "sacct", .permute = true});
    EXPECT_TRUE(parsed) << parsed.error().message;
    return make_request(*parsed, env, k_now);
  }
};

TEST_F(SacctRequest, times_lie_behind) {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"now", k_now},
      {"now-1hours", k_now - 3600},
      {"now-2days", k_now - 172'800},
      {"today", k_now - 43'200},
      {"midnight", k_now - 43'200},
      {"00:00", k_now - 43'200},
      {"13:00", k_now - 82'800}, // yesterday's
      {"2020-01-01", 1'577'836'800},
      {"2020-01-01T00:00:00", 1'577'836'800},
      {"01/01/20", 1'577'836'800},
      {"1970-01-01-00:00:01", 1},
      {"0101", 1'767'225'600}, // this year's
      {"1231", 1'767'139'200}, // last year's
      {"2030-01-01", 1'893'456'000},
  };
  for (const auto& [text, want] : cases) {
    const auto when = parse_past_time(text, k_now);
    ASSERT_TRUE(when) << text;
    EXPECT_EQ(*when, want) << text;
  }
  for (const auto* text : {"bogus", "yesterday"}) {
    const auto when = parse_past_time(text, k_now);
    ASSERT_FALSE(when);
    EXPECT_EQ(when.error().message, std::string("Invalid time specification (pos=0): ") + text);
  }
}

TEST_F(SacctRequest, begins_at_midnight_unless_jobs_are_named) {
  EXPECT_EQ(made({})->from, k_now - 43'200);
  EXPECT_EQ(made({"-j", "7"})->from, 0);
  EXPECT_EQ(made({"-j", "7", "-S", "now-1hours"})->from, k_now - 3600);
}

TEST_F(SacctRequest, lists_add_up) {
  const auto request = made({"-j", "7,8_[1-2]", "-j", "9.batch", "-s", "CD,failed", "--name=a,b"});
  ASSERT_TRUE(request);
  ASSERT_EQ(request->jobs.size(), 3U);
  EXPECT_EQ(request->jobs[2].step, "batch");
  EXPECT_EQ(request->states.size(), 2U);
  EXPECT_EQ(request->names.size(), 2U);
}

TEST_F(SacctRequest, refuses_what_it_cannot_read) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"-j", "abc"}, "Bad job/step specified: abc"},
      {{"-s", "frob"}, "unrecognized job state value"},
      {{"--units", "X"}, "Invalid unit type: X"},
      {{"-i", "3-1"}, "invalid range \"3-1\" for --nnodes"},
      {{"-K", "5"}, "timelimit_max without timelimit_min isn't valid."},
  };
  for (const auto& [words, text] : cases) {
    const auto request = made(words);
    ASSERT_FALSE(request);
    EXPECT_EQ(request.error().text, text);
  }
}

TEST_F(SacctRequest, the_later_of_two_styles_wins) {
  EXPECT_EQ(made({"-p", "-P"})->style, Request::Style::between);
  EXPECT_EQ(made({"-P", "-p"})->style, Request::Style::ends_in);
}

TEST_F(SacctRequest, filters_by_every_list) {
  history::Entry entry;
  entry.name = "a";
  entry.account = "x";
  entry.partition = "batch";
  entry.hosts = "n[1-2].dom";
  entry.nodes = 2;
  entry.cpus = 8;
  entry.limit_min = 10;
  entry.submit = k_now - 10;
  const std::pair<std::vector<std::string>, bool> cases[] = {
      {{}, true},
      {{"--name", "b"}, false},
      {{"-A", "x"}, true},
      {{"-r", "gpu"}, false},
      {{"-N", "n2"}, true},
      {{"-N", "n3"}, false},
      {{"-i", "2-3"}, true},
      {{"-I", "1-4"}, false},
      {{"-k", "5", "-K", "20"}, true},
      {{"-k", "5"}, false},
      {{"-q", "normal"}, true},
      {{"-q", "high"}, false},
      {{"-s", "R"}, true},
      {{"-s", "CD"}, false},
      {{"-S", "now-2hours", "-E", "now-1hours"}, false},
  };
  for (const auto& [words, want] : cases)
    EXPECT_EQ(keeps(*made(words), entry), want) << (words.empty() ? "" : words[0]);
}

TEST_F(SacctRequest, json_has_what_clients_index) {
  history::Entry entry;
  entry.job = entry.id = 7;
  entry.shown_id = "7";
  entry.name = "n\xff";
  entry.ending.state = slurm::JobState::cancelled;
  entry.ending.cancelled_by = "alice";
  Setting setting;
  setting.now = k_now;
  setting.ids = [](const std::string&) { return Ids{1001, 1001}; };
  const auto text = to_json({entry}, setting, "24.05.0");
  EXPECT_NE(text.find("\"job_id\": 7"), std::string::npos);
  EXPECT_NE(text.find("\"current\": [\n          \"CANCELLED\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\"major\": \"24\""), std::string::npos);
}

} // namespace
} // namespace shim::commands::sacct
