#include "slurm_shim/proto/messages.h"
#include "slurm_shim/proto/step_spec.h"

#include <gtest/gtest.h>

#include "support/case_file.h"

namespace shim::proto {
namespace {

TEST(Envelope, encodes_as_recorded) {
  const Envelope envelope{4711, 2, "node002", 1, "10.0.0.11:34567", {}};
  EXPECT_EQ(encode_envelope(envelope), test::cases_of("envelope")[0]["out"].get<std::string>());
}

TEST(Envelope, decodes_as_recorded) {
  for (const auto& c : test::cases_of("envelope_decode")) {
    const auto envelope = decode_envelope(c["in"].get<std::string>());
    EXPECT_EQ(envelope.has_value(), c["error"].is_null()) << c.dump();
    if (!envelope) {
      EXPECT_EQ(envelope.error().message.rfind("bad envelope: ", 0), 0U);
    }
  }
}

TEST(Envelope, round_trip_with_alternatives) {
  const Envelope envelope{7, 0, "h\xff", 3, "[::1]:5", {"10.0.0.1:5", "10.1.0.1:5"}};
  const auto back = decode_envelope(encode_envelope(envelope));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->host, envelope.host);
  EXPECT_EQ(back->dial, envelope.dial);
  EXPECT_EQ(back->dial_alt, envelope.dial_alt);
}

StepSpec sample() {
  StepSpec spec;
  spec.env = {"A=<&>\xe2\x80\xa8\"\\\n", "BAD=\xff\xfe", "SMILE=\xf0\x9f\x98\x80"};
  spec.command = {"sh", "-c", "\xc3("};
  spec.chdir = "/tmp/\x80";
  spec.chdir_explicit = spec.label = spec.unbuffered = spec.open_append = spec.export_none = true;
  spec.gpu_env_var = "CUDA_VISIBLE_DEVICES";
  spec.umask = 027;
  spec.limits = {"CORE=0"};
  spec.host_env = {"TMPDIR"};
  spec.kill_wait_ms = 1500;
  spec.ping_interval_ms = 250;
  spec.ping_deadline_ms = 750;
  spec.mailbox = "/s/\x80/4711.mbox";
  spec.master_host = "n1";
  spec.is_relay = true;
  spec.ranks = {{5,
                 1,
                 0,
                 "0-3",
                 true,
                 {"4", "GPU-6"},
                 {"SLURM_PROCID=5"},
                 "/o",
                 "/e",
                 {"prog", "\xff"},
                 true,
                 "/i",
                 false}};
  return spec;
}

TEST(StepSpec, every_byte_survives) {
  const auto spec = sample();
  const auto back = decode_step_spec(StepSpecEncoder(spec).with_ranks(spec.ranks));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->env, spec.env);
  EXPECT_EQ(back->command, spec.command);
  EXPECT_EQ(back->chdir, spec.chdir);
  EXPECT_TRUE(back->chdir_explicit && back->label && back->unbuffered && back->open_append &&
              back->export_none);
  EXPECT_EQ(back->gpu_env_var, spec.gpu_env_var);
  EXPECT_EQ(back->umask, 027);
  EXPECT_EQ(back->limits, spec.limits);
  EXPECT_EQ(back->host_env, spec.host_env);
  EXPECT_EQ(back->kill_wait_ms, 1500);
  EXPECT_EQ(back->ping_interval_ms, 250);
  EXPECT_EQ(back->ping_deadline_ms, 750);
  EXPECT_EQ(back->mailbox, spec.mailbox);
  EXPECT_EQ(back->master_host, "n1");
  EXPECT_TRUE(back->is_relay);
  ASSERT_EQ(back->ranks.size(), 1U);
  EXPECT_EQ(back->ranks[0].rank, 5);
  EXPECT_EQ(back->ranks[0].cpuset, "0-3");
  EXPECT_TRUE(back->ranks[0].cpuset_if_limited);
  EXPECT_EQ(back->ranks[0].gpus, (std::vector<std::string>{"4", "GPU-6"}));
  EXPECT_EQ(back->ranks[0].env_delta, spec.ranks[0].env_delta);
  EXPECT_EQ(back->ranks[0].stderr_file, "/e");
  EXPECT_EQ(back->ranks[0].command, spec.ranks[0].command);
}

TEST(StepSpec, input_and_terminal_survive) {
  StepSpec spec;
  spec.command = {"sh"};
  spec.terminal = posix::TerminalState{{50, 132, 1, 2}, {1, 2, 3, 0xffffffff, "\x03\x1c\xff"}};
  spec.ranks.resize(2);
  spec.ranks[0].reads_stdin = spec.ranks[0].on_terminal = true;
  spec.ranks[1].rank = 1;
  spec.ranks[1].stdin_file = "/in";
  const auto back = decode_step_spec(StepSpecEncoder(spec).with_ranks(spec.ranks));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  ASSERT_TRUE(back->terminal.has_value());
  EXPECT_EQ(back->terminal->size, spec.terminal->size);
  EXPECT_EQ(back->terminal->modes.local, 0xffffffff);
  EXPECT_EQ(back->terminal->modes.characters, "\x03\x1c\xff");
  EXPECT_TRUE(back->ranks[0].reads_stdin && back->ranks[0].on_terminal);
  EXPECT_FALSE(back->ranks[1].reads_stdin || back->ranks[1].on_terminal);
  EXPECT_EQ(back->ranks[1].stdin_file, "/in");
  const auto bad = decode_step_spec(R"({"command": ["x"], "terminal": {"size": [1, 2]}})");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message, "bad value of \"terminal\"");
}

TEST(WindowSize, survives_and_short_ones_are_refused) {
  const posix::WindowSize size{24, 65535, 300, 0};
  EXPECT_EQ(decode_window_size(encode_window_size(size)), size);
  EXPECT_FALSE(decode_window_size("1234567").has_value());
}

TEST(StepSpec, reads_what_the_original_wrote) {
  const auto text = test::cases_of("stepspec_json")[0]["json"].get<std::string>();
  const auto spec = decode_step_spec(text);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->env[0], "A=<&>\xe2\x80\xa8\"\\\n");
  EXPECT_EQ(spec->command, (std::vector<std::string>{"sh", "-c", "true"}));
  EXPECT_TRUE(spec->ranks[0].gpus.empty()); // null
}

TEST(StepSpec, wrong_types_are_named) {
  const struct {
    const char* json;
    const char* error;
  } cases[] = {
      {"", "not JSON"},
      {"[]", "not an object"},
      {R"({"env":"x"})", "bad value of \"env\""},
      {R"({"env":[1]})", "bad value of \"env\""},
      {R"({"command":[{"b64":"!"}]})", "bad value of \"command\""},
      {R"({"command":["a\u0000b"]})", "bad value of \"command\""},
      {R"({"label":1})", "bad value of \"label\""},
      {R"({"ranks":[{"rank":"0"}]})", "bad value of \"ranks\""},
      {R"({"ranks":[{"rank":-1}]})", "bad value of \"ranks\""},
      {R"({"ranks":[{"rank":99999999999}]})", "bad value of \"ranks\""},
      {R"({"ranks":[3]})", "bad value of \"ranks\""},
  };
  for (const auto& c : cases) {
    const auto spec = decode_step_spec(c.json);
    ASSERT_FALSE(spec) << c.json;
    EXPECT_EQ(spec.error().message, c.error) << c.json;
  }
}

} // namespace
} // namespace shim::proto
