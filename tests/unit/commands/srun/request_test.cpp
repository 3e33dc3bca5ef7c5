#include "host_files.h"
#include "request.h"

#include "slurm_shim/commands/srun.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include "support/case_file.h"
#include "support/temp_dir.h"

namespace shim::commands::srun {
namespace {

struct Made {
  Result<Request> request;
  std::vector<std::string> warnings;
};

Made make(const std::vector<std::string>& words,
          const std::vector<std::string>& env = {},
          const config::Config& config = {}) {
  auto parsed = cli::parse(srun_options(), words, {.command = "srun"});
  if (!parsed) return {tl::unexpected<Error>(parsed.error()), {}};
  std::vector<std::string> warnings;
  auto request = make_request(*parsed, srun_options(), EnvList(env), config, warnings);
  return {std::move(request), std::move(warnings)};
}

bool same_as_recorded(const nlohmann::json& c) {
  // The original took words of unknown options for values, forgave unknown ones, and had its own
  // help and messages; what we do there is in the tests below.
  static const std::vector<std::string> ours = {"--frob", "--frob=1", "--pty", "0"};
  if (c.value("port", "") == "differs" || !c.contains("out")) return false;
  const auto argv = c["argv"].get<std::vector<std::string>>();
  return std::none_of(argv.begin(), argv.end(), [](const auto& word) {
    return std::find(ours.begin(), ours.end(), word) != ours.end();
  });
}

TEST(Request, reads_flags_as_recorded) {
  int checked = 0;
  for (const auto& c : test::cases_of("srun_flags")) {
    if (!same_as_recorded(c)) continue;
    const auto made = make(c["argv"].get<std::vector<std::string>>());
    ASSERT_TRUE(made.request) << c["argv"] << made.request.error().message;
    const auto& got = *made.request;
    const auto& want = c["out"];
    EXPECT_EQ(got.command, want["Command"].get<std::vector<std::string>>()) << c["argv"];
    EXPECT_EQ(got.placement.ntasks, want["Req"]["NTasks"].get<int>()) << c["argv"];
    EXPECT_EQ(got.placement.nodes_min, want["Req"]["Nodes"].get<int>()) << c["argv"];
    EXPECT_EQ(got.placement.cpus_per_task, want["Req"]["CPUsPerTask"].get<int>()) << c["argv"];
    EXPECT_EQ(got.placement.devices.per_task.value_or(plan::DeviceCount{}).count,
              want["Req"]["GPUsPerTask"].get<int>())
        << c["argv"];
    const auto& hosts = want["Req"]["Nodelist"];
    EXPECT_EQ(got.placement.nodelist,
              hosts.is_null() ? std::vector<std::string>{} : hosts.get<std::vector<std::string>>());
    EXPECT_EQ(got.label, want["Label"].get<bool>()) << c["argv"];
    EXPECT_EQ(got.output, want["Output"].get<std::string>()) << c["argv"];
    EXPECT_EQ(got.error, want["Error"].get<std::string>()) << c["argv"];
    EXPECT_EQ(got.chdir, want["Chdir"].get<std::string>()) << c["argv"];
    const auto& kill = want["Kill"].get<std::string>();
    EXPECT_EQ(got.kill_on_bad_exit, !kill.empty() && kill != "0") << c["argv"];
    ++checked;
  }
  EXPECT_GE(checked, 20);
}

TEST(Request, options_never_swallow_the_program) {
  const std::vector<std::vector<std::string>> lines = {{"-u", "true"},
                                                       {"-Q", "true"},
                                                       {"--overlap", "--exact", "true"},
                                                       {"-K0", "true"},
                                                       {"-K", "true"},
                                                       {"-J", "nm", "-Q", "true"},
                                                       {"--cpu-bind", "none", "true"},
                                                       {"-N", "1-2", "true"},
                                                       {"-p", "gpu", "true"}};
  for (const auto& words : lines) {
    const auto made = make(words);
    ASSERT_TRUE(made.request) << words[0];
    EXPECT_EQ(made.request->command, std::vector<std::string>{"true"}) << words[0];
  }
  EXPECT_EQ(make({"echo", "--version", "-n", "3"}).request->command.size(), 4U);
  EXPECT_EQ(make({"--", "-x"}).request->command, std::vector<std::string>{"-x"});
}

TEST(Request, refuses_values_with_slurms_words) {
  const struct {
    std::vector<std::string> words;
    const char* message;
    int code;
  } cases[] = {
      {{"-n", "x", "true"}, "Invalid numeric value \"x\" for --ntasks.", 1},
      {{"-n", "-1", "true"}, "Invalid numeric value \"-1\" for --ntasks.", 1},
      {{"-n", "0", "true"}, "Invalid numeric value \"0\" for --ntasks.", 1},
      {{"-c", "x", "true"}, "Invalid numeric value \"x\" for --cpus-per-task.", 1},
      {{"-N", "x", "true"}, "\"x\" is not a valid node count", 255},
      {{"--open-mode=x", "true"}, "Invalid --open-mode specification", 255},
  };
  for (const auto& c : cases) {
    const auto made = make(c.words);
    ASSERT_FALSE(made.request) << c.message;
    EXPECT_EQ(made.request.error().message, c.message);
    EXPECT_EQ(made.request.error().exit_code, c.code) << c.message;
  }
  const auto hosts = make({"-w", "n[2-1]", "true"});
  ASSERT_FALSE(hosts.request);
  EXPECT_EQ(hosts.request.error().message.rfind("invalid --nodelist: invalid hostlist: ", 0), 0U);
}

TEST(Request, variables_stand_in_for_options) {
  const std::vector<std::string> env = {"SLURM_NTASKS=6",
                                        "SLURM_JOB_NUM_NODES=3",
                                        "SLURM_NNODES=1",
                                        "SLURM_LABELIO=1",
                                        "SLURM_UNBUFFEREDIO=0",
                                        "SLURM_STDOUTMODE=o-%t",
                                        "SLURM_WAIT=5",
                                        "SLURM_OPEN_MODE=append",
                                        "SLURM_JOB_NAME=outer",
                                        "SLURM_EXPORT_ENV=NONE",
                                        "SLURM_CPUS_PER_TASK=2"};
  const auto made = make({"true"}, env);
  ASSERT_TRUE(made.request);
  EXPECT_EQ(made.request->placement.ntasks, 6);
  EXPECT_EQ(made.request->placement.nodes_min, 3); // the first variable of the row wins
  EXPECT_EQ(made.request->placement.cpus_per_task, 2);
  EXPECT_TRUE(made.request->label);
  EXPECT_FALSE(made.request->unbuffered);
  EXPECT_EQ(made.request->output, "o-%t");
  EXPECT_EQ(made.request->wait_s, 5);
  EXPECT_TRUE(made.request->open_append);
  EXPECT_TRUE(made.request->export_spec.none);
  EXPECT_EQ(made.request->job_name, ""); // the job's name, not the step's
  EXPECT_EQ(make({"-n2", "true"}, env).request->placement.ntasks, 2);
}

TEST(Request, reads_distributions) {
  using Nodes = slurm::Distribution::Nodes;
  EXPECT_EQ(make({"-m", "plane=4", "true"}).request->placement.distribution.plane_size, 4);
  const auto job = make({"true"}, {"SLURM_DISTRIBUTION=plane", "SLURM_DIST_PLANESIZE=3"});
  EXPECT_EQ(job.request->placement.distribution.nodes, Nodes::plane);
  EXPECT_EQ(job.request->placement.distribution.plane_size, 3);
  const auto bad = make({"-m", "plane", "true"}, {"SLURM_DIST_PLANESIZE=3"});
  ASSERT_FALSE(bad.request);
  EXPECT_EQ(bad.request.error().exit_code, 255);
  EXPECT_FALSE(make({"-m", "zigzag", "true"}).request);
}

TEST(Request, tells_typed_nodes_from_the_jobs) {
  EXPECT_FALSE(make({"-N2", "true"}, {"SLURM_NNODES=3"}).request->placement.nodes_implied);
  EXPECT_TRUE(make({"true"}, {"SLURM_NNODES=3"}).request->placement.nodes_implied);
}

TEST(Request, reads_relative) {
  EXPECT_EQ(make({"-r1", "true"}).request->placement.relative, 1);
  EXPECT_EQ(make({"true"}).request->placement.relative, std::nullopt);
  const auto bad = make({"-r", "-1", "true"});
  ASSERT_FALSE(bad.request);
  EXPECT_EQ(bad.request.error().message, "Invalid numeric value \"-1\" for --relative.");
}

TEST(HostFiles, hold_lists_and_comments) {
  const auto hosts = parse_host_lines("# mine\nn1\n\nn[2-3],n1 # twice\n", "f");
  ASSERT_TRUE(hosts);
  EXPECT_EQ(*hosts, (std::vector<std::string>{"n1", "n2", "n3", "n1"}));
  EXPECT_EQ(parse_host_lines("# nothing\n", "f").error().message, "f: no hosts in it");
  EXPECT_EQ(parse_host_lines("n[1", "f").error().message.rfind("f: invalid hostlist: ", 0), 0U);
}

TEST(HostFiles, stand_in_for_names) {
  test::TempDir dir;
  const auto file = dir / "hosts";
  ASSERT_TRUE(posix::write_file_atomic(file, "n2\nn1\nn1\n"));
  auto by_path = *make({"-w", file, "true"}).request;
  ASSERT_TRUE(read_host_files(by_path));
  EXPECT_EQ(by_path.placement.nodelist, (std::vector<std::string>{"n2", "n1", "n1"}));
  auto by_variable = *make({"-m", "block", "true"}, {"SLURM_HOSTFILE=" + file}).request;
  ASSERT_TRUE(read_host_files(by_variable));
  using Nodes = slurm::Distribution::Nodes;
  EXPECT_EQ(by_variable.placement.distribution.nodes, Nodes::arbitrary); // it overrides -m
  EXPECT_EQ(by_variable.placement.rank_hosts.size(), 3U);
  auto by_names = *make({"-m", "arbitrary", "-w", "n2,n1,n2", "true"}).request;
  ASSERT_TRUE(read_host_files(by_names));
  EXPECT_EQ(by_names.placement.rank_hosts, (std::vector<std::string>{"n2", "n1", "n2"}));
  auto nothing = *make({"-m", "arbitrary", "true"}).request;
  ASSERT_TRUE(read_host_files(nothing));
  EXPECT_EQ(nothing.placement.distribution.nodes, Nodes::block);
  auto missing = *make({"-w", dir / "none", "true"}).request;
  EXPECT_FALSE(read_host_files(missing));
}

TEST(KillOnBadExit, is_decided_as_recorded) {
  for (const auto& c : test::cases_of("kill_on_bad_exit")) {
    const auto text = [&](const char* key) -> std::optional<std::string> {
      const auto value = c[key].get<std::string>();
      if (value.empty()) return std::nullopt;
      return value;
    };
    EXPECT_EQ(kill_on_bad_exit(text("flag"), text("env"), c["config"]), c["out"].get<bool>())
        << c.dump();
  }
  EXPECT_TRUE(make({"-K", "true"}).request->kill_on_bad_exit);
  EXPECT_FALSE(make({"-K0", "true"}, {"SLURM_KILL_BAD_EXIT=1"}).request->kill_on_bad_exit);
  EXPECT_TRUE(make({"true"}, {"SLURM_KILL_BAD_EXIT=1"}).request->kill_on_bad_exit);
  EXPECT_FALSE(make({"true"}).request->kill_on_bad_exit); // off by default, as in Slurm
}

TEST(Request, reads_times) {
  EXPECT_EQ(make({"-t", "5", "a"}).request->time_limit_min, 5U);
  EXPECT_EQ(make({"-t", "0:01", "a"}).request->time_limit_min, 1U);
  EXPECT_EQ(make({"a"}, {"SLURM_TIMELIMIT=1-0"}).request->time_limit_min, 1440U);
  EXPECT_FALSE(make({"-t", "UNLIMITED", "a"}).request->time_limit_min);
  EXPECT_EQ(make({"-t", "x", "a"}).request.error().message, "Invalid --time specification");
  const auto asked = make({"--signal=USR1@90", "a"});
  ASSERT_TRUE(asked.request->signal);
  EXPECT_EQ(asked.request->signal->signal, 10);
  EXPECT_EQ(asked.request->signal->seconds_before, 90);
  EXPECT_EQ(make({"--signal=x", "a"}).request.error().exit_code, 255);
  const auto batch = make({"--signal=B:USR1", "a"});
  EXPECT_FALSE(batch.request->signal);
  EXPECT_EQ(batch.warnings.size(), 1U);
}

} // namespace
} // namespace shim::commands::srun
