// What the probe's job printed, and what is made of it.
#include "probe.h"
#include "world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shim::commands::doctor {

namespace {

using testing::HasSubstr;

// As a job of two hosts prints it.
const std::string k_output = "slurm-shim-probe job\n"
                             "SLURM_JOB_ID=71\nSLURM_NNODES=2\nSLURM_NTASKS=2\n"
                             "SLURM_JOB_NODELIST=n[1-2]\nSLURM_SUBMIT_DIR=/home/a\n"
                             "SLURM_TASKS_PER_NODE=1(x2)\n"
                             "slurm-shim-probe ranks\n"
                             "0: HOST=n1\n1: HOST=n2\n0: SLURM_PROCID=0\n1: SLURM_PROCID=1\n"
                             "0: SLURM_NTASKS=2\n1: SLURM_NTASKS=2\n"
                             "0: SLURM_JOB_ID=71\n1: SLURM_JOB_ID=71\n"
                             "0: CUDA_VISIBLE_DEVICES=0\n1: CUDA_VISIBLE_DEVICES=1\n"
                             "slurm-shim-probe code 3\nslurm-shim-probe end\n";

Probe good_probe() {
  Probe probe;
  probe.job = "71";
  probe.nodes = 2;
  probe.wants_gpu = true;
  probe.in_time = true;
  probe.output = parse_probe_output(k_output);
  probe.accounting = "FAILED|3:0";
  return probe;
}

struct ProbeCase {
  std::string name;
  std::size_t at; // 0 = P01
  std::function<void(Probe&)> change;
  Status status;
  std::string message;
};

std::vector<ProbeCase> cases() {
  const auto without = [](const std::string& line) {
    return [line](Probe& p) {
      auto text = k_output;
      text.erase(text.find(line), line.size());
      p.output = parse_probe_output(text);
    };
  };
  return {
      {"refused",
       0,
       [](Probe& p) {
         p = {};
         p.submit_said = "sbatch: error: Batch job submission failed";
       },
       Status::fail,
       "Batch job submission failed"},
      {"never_started",
       0,
       [](Probe& p) {
         p.in_time = false;
         p.reasons = "queue instance is full";
         p.output = {};
       },
       Status::fail,
       "did not start in time: queue instance is full"},
      {"silent", 0, [](Probe& p) { p.output = {}; }, Status::fail, "ended without output"},
      {"stuck",
       0,
       [](Probe& p) {
         p.in_time = false;
         p.output.ended = false;
       },
       Status::fail,
       "did not end in time"},
      {"no_job_id", 1, without("SLURM_JOB_ID=71\n"), Status::fail, "SLURM_JOB_ID is not set"},
      {"other_list",
       1,
       [](Probe& p) { p.output.job["SLURM_JOB_NODELIST"] = "n[1-3]"; },
       Status::fail,
       "does not name 2 hosts"},
      {"no_submit_dir",
       1,
       without("SLURM_SUBMIT_DIR=/home/a\n"),
       Status::fail,
       "SLURM_SUBMIT_DIR is not set"},
      {"other_nodes",
       1,
       [](Probe& p) { p.output.job["SLURM_NNODES"] = "1"; },
       Status::fail,
       "SLURM_NNODES is \"1\", should be \"2\""},
      {"one_rank",
       2,
       [](Probe& p) { p.output.ranks.erase(1); },
       Status::fail,
       "1 ranks answered, 2 were started"},
      {"wrong_rank",
       2,
       [](Probe& p) { p.output.ranks[1]["SLURM_PROCID"] = "0"; },
       Status::fail,
       "rank 1: SLURM_PROCID is \"0\""},
      {"same_host",
       2,
       [](Probe& p) { p.output.ranks[1]["HOST"] = "n1"; },
       Status::fail,
       "on n1 only"},
      {"no_labels",
       2,
       [](Probe& p) { p.output.strange.emplace_back("HOST=n1"); },
       Status::fail,
       "without a label"},
      {"lost_code", 2, [](Probe& p) { p.output.exit_code = "0"; }, Status::fail, "gave 0"},
      {"other_layout",
       3,
       [](Probe& p) { p.output.job["SLURM_TASKS_PER_NODE"] = "2"; },
       Status::fail,
       "\"2\" for one task"},
      {"unknown_to_sacct",
       4,
       [](Probe& p) { p.accounting = ""; },
       Status::warn,
       "does not know job 71"},
      {"wrong_in_sacct",
       4,
       [](Probe& p) { p.accounting = "COMPLETED|0:0"; },
       Status::warn,
       "COMPLETED|0:0"},
      {"all_devices",
       5,
       [](Probe& p) { p.output.ranks[0]["CUDA_VISIBLE_DEVICES"] = "0,1"; },
       Status::fail,
       "\"0,1\", not one"},
      {"no_gpus", 5, [](Probe& p) { p.wants_gpu = false; }, Status::skip, "C15"},
  };
}

class OneProbe : public testing::TestWithParam<ProbeCase> {};
std::string case_name(const testing::TestParamInfo<ProbeCase>& one) {
  return one.param.name;
}
INSTANTIATE_TEST_SUITE_P(Probe, OneProbe, testing::ValuesIn(cases()), case_name);

TEST_P(OneProbe, is_judged) {
  auto probe = good_probe();
  GetParam().change(probe);
  const auto findings = judge_probe(probe);
  ASSERT_EQ(findings.size(), 6U);
  const auto& finding = findings[GetParam().at];
  EXPECT_EQ(finding.status, GetParam().status);
  EXPECT_THAT(finding.message, HasSubstr(GetParam().message));
  EXPECT_EQ(finding.advice.empty(), finding.status == Status::skip);
}

TEST(Probe, that_is_right_passes) {
  for (const auto& finding : judge_probe(good_probe()))
    EXPECT_EQ(finding.status, Status::pass) << finding.message;
}

TEST(Probe, whose_job_did_not_run_skips_the_rest) {
  const auto findings = judge_probe(Probe{});
  ASSERT_EQ(findings.size(), 6U);
  for (std::size_t i = 1; i < findings.size(); ++i)
    EXPECT_EQ(findings[i].status, Status::skip);
}

// ---- the whole way, with commands that stand in for the installed ones

TEST(Probe, is_submitted_awaited_and_cleaned_up_after) {
  test::DoctorWorld world;
  world.answer(world.prefix + "/bin/sbatch", 0, "71\n");
  world.answer(world.prefix + "/bin/squeue", 0, "");
  world.answer(world.prefix + "/bin/sacct", 0, "FAILED|3:0\n");
  EXPECT_EQ(world.doctor({"--probe", "--check", "P01"}), 1); // it printed nothing
  EXPECT_THAT(world.out, HasSubstr("[FAIL] P01 probe.submit       job 71 ended without output"));
  EXPECT_THAT(world.calls,
              testing::Contains(testing::AllOf(HasSubstr("sbatch --parsable"),
                                               HasSubstr("--nodes=2 --ntasks=2"))));
  EXPECT_TRUE(std::filesystem::is_empty(world.root + "/home/.local/state/slurm-shim/default/jobs"));
  for (const auto& entry :
       std::filesystem::directory_iterator(world.root + "/home/.local/state/slurm-shim/default"))
    EXPECT_THAT(entry.path().filename(), testing::Not(testing::StartsWith("doctor.")));
}

TEST(Probe, that_does_not_start_is_cancelled) {
  test::DoctorWorld world;
  world.answer(world.prefix + "/bin/sbatch", 0, "71\n");
  world.answer(world.prefix + "/bin/squeue", 0, "PENDING\n");
  world.answer(world.prefix + "/bin/scancel", 0, "");
  world.answer("qstat -j 71", 0, "job: 71\nscheduling info:   queue is full\n   no slots\n");
  EXPECT_EQ(world.doctor({"--probe", "--timeout", "5", "--check", "P01"}), 1);
  EXPECT_THAT(world.out, HasSubstr("did not start in time: queue is full; no slots"));
  EXPECT_THAT(world.calls, testing::Contains(world.prefix + "/bin/scancel 71"));
}

TEST(Probe, that_is_refused_shows_what_was_said) {
  test::DoctorWorld world;
  world.answer(world.prefix + "/bin/sbatch", 1, "", "sbatch: error: invalid partition specified\n");
  EXPECT_EQ(world.doctor({"--probe", "--check", "P01,P02"}), 1);
  EXPECT_THAT(world.out, HasSubstr("sbatch refused the job: sbatch: error: invalid partition"));
  EXPECT_THAT(world.out, HasSubstr("[skip] P02"));
}

} // namespace

} // namespace shim::commands::doctor
