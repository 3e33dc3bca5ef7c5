#include "input.h"

#include "slurm_shim/submit/translate.h"

#include <gtest/gtest.h>

namespace shim::commands::sbatch {
namespace {

using namespace submit;

using Words = std::vector<std::string>;

constexpr std::time_t k_now = 1796002949; // 2026-11-30 UTC

config::Config cluster() {
  config::Config c;
  c.default_partition = "batch";
  config::Partition batch;
  batch.name = "batch";
  batch.queue = "batch.q";
  batch.pe_by_layout.pe_slots = "slurm-shim-smp";
  batch.pe_by_layout.fill_up = "slurm-shim-fill";
  for (const int k : {1, 2, 3, 4, 8})
    batch.pe_by_layout.fixed[k] = "slurm-shim-" + std::to_string(k);
  auto gpu = batch;
  gpu.name = "gpu";
  gpu.queue = "gpu.q";
  gpu.default_time_min = 60;
  c.partitions = {batch, gpu};
  return c;
}

Situation situation() {
  Situation s;
  s.directory = "/home/u/p";
  s.host = "login";
  s.user = "u";
  s.cluster = "default";
  s.token = "9f3c21d07be84a55";
  s.state = "/home/u/.local/state/slurm-shim/default";
  s.log = s.state + "/submit/" + s.token + ".log";
  s.now = k_now;
  return s;
}

Result<Submission> submission_of(const Words& words,
                                 bool has_par,
                                 const config::Config& config = cluster(),
                                 const std::string& body = "") {
  Script script;
  script.name = "job.sh";
  script.path = script.command = "/home/u/p/job.sh";
  script.text = "#!/bin/bash\n" + body + "true\n";
  TRY_ASSIGN(const auto parsed, parse_words(words));
  TRY_ASSIGN(const auto values, collect_values(parsed, EnvList{}, script));
  Request request;
  TRY(apply_values(values.given, k_now, request));
  TRY(verify_request(request));
  TRY(verify_submission(request, k_now));
  EngineFacts facts;
  facts.has_par = has_par;
  return translate(request, script, config, facts, situation());
}

Words args_of(const Words& words, bool has_par, const std::string& body = "") {
  auto s = submission_of(words, has_par, cluster(), body);
  if (!s) return {"refused: " + s.error().message};
  s->qsub.script = "/home/u/p/job.sh";
  return ge::build_qsub_args(s->qsub);
}

// What lies between -q and -N: queue, PE and rule.
Words layout_of(const Words& words, bool has_par) {
  const auto args = args_of(words, has_par);
  const auto from = std::find(args.begin(), args.end(), "-q");
  const auto to = std::find(args.begin(), args.end(), "-N");
  return from < to ? Words(from, to) : args;
}

TEST(Translate, whole_call_for_an_engine_with_par) {
  EXPECT_EQ(
      args_of({"-p", "gpu", "-N2", "--ntasks-per-node=4", "-c2", "-J", "1 job", "-t", "5"}, true),
      (Words{"-terse",
             "-C",
             "",
             "-b",
             "n",
             "-shell",
             "y",
             "-S",
             "/bin/bash",
             "-w",
             "e",
             "-q",
             "gpu.q",
             "-pe",
             "slurm-shim",
             "16",
             "-par",
             "8",
             "-N",
             "_1_job",
             "-o",
             situation().log,
             "-j",
             "y",
             "-wd",
             "/home/u/p",
             "-v",
             "SLURM_SHIM_REQ",
             "-r",
             "y",
             "-R",
             "y",
             "-ac",
             "SLURM_NAME=1%20job",
             "-l",
             "h_rt=300",
             "/home/u/p/job.sh"}));
}

TEST(Translate, whole_call_for_grid_engine_8_1_9) {
  EXPECT_EQ(
      args_of({}, false, "#SBATCH --nodes=3 --ntasks-per-node=2 --hold\n#SBATCH -a 0-9:3%2\n"),
      (Words{"-terse",
             "-C",
             "",
             "-b",
             "n",
             "-shell",
             "y",
             "-S",
             "/bin/bash",
             "-w",
             "e",
             "-q",
             "batch.q",
             "-pe",
             "slurm-shim-2",
             "6",
             "-N",
             "job.sh",
             "-o",
             situation().log,
             "-j",
             "y",
             "-wd",
             "/home/u/p",
             "-v",
             "SLURM_SHIM_REQ",
             "-t",
             "1-4",
             "-tc",
             "2",
             "-r",
             "y",
             "-R",
             "y",
             "-h",
             "-ac",
             "SLURM_ARRAY=0;3;6;9",
             "/home/u/p/job.sh"}));
}

struct LayoutCase {
  Words words;
  Words with_par, without;
};

TEST(Translate, layouts_on_both_engines) {
  const Words q = {"-q", "batch.q", "-pe"};
  const auto pe = [&](const Words& rest) {
    Words all = q;
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  const LayoutCase cases[] = {
      {{}, pe({"slurm-shim", "1", "-par", "$pe_slots"}), pe({"slurm-shim-smp", "1"})},
      {{"-c4"}, pe({"slurm-shim", "4", "-par", "$pe_slots"}), pe({"slurm-shim-smp", "4"})},
      {{"-n8"}, pe({"slurm-shim", "8", "-par", "$fill_up"}), pe({"slurm-shim-fill", "8"})},
      {{"-N4"}, pe({"slurm-shim", "4", "-par", "1"}), pe({"slurm-shim-1", "4"})},
      {{"-N2", "--tasks-per-node=2"},
       pe({"slurm-shim", "4", "-par", "2"}),
       pe({"slurm-shim-2", "4"})},
      {{"--tasks=3"}, pe({"slurm-shim", "3", "-par", "$pe_slots"}), pe({"slurm-shim-smp", "3"})},
      {{"-N2", "-n3"}, pe({"slurm-shim", "3"}), pe({"slurm-shim-2", "4"})},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(layout_of(c.words, true), c.with_par);
    EXPECT_EQ(layout_of(c.words, false), c.without);
  }
  const auto refused = args_of({"-N2", "--ntasks-per-node=9"}, false);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].find("allocation_rule 9"), std::string::npos);
  EXPECT_NE(refused[0].find("slurm-shim-9"), std::string::npos);
}

TEST(Translate, records_what_was_asked_for) {
  const auto s = submission_of({"-N2",
                                "-n3",
                                "-c2",
                                "--signal=B:USR2@90",
                                "-o",
                                "%x.out",
                                "--comment=a;b",
                                "-d",
                                "afterok:12:13",
                                "--mem=1500K",
                                "--gpus-per-node=2"},
                               true);
  ASSERT_TRUE(s.has_value());
  const auto& r = s->record;
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"nodes", "2"},        {"ntasks", "3"},     {"tpn", "2,1"},
           {"cpt", "2"},          {"layout", "exact"}, {"name", "job.sh"},
           {"part", "batch"},     {"sig", "USR2@90B"}, {"out", "%x.out"},
           {"openmode", "t"},     {"comment", "a;b"},  {"dep", "afterok:12,afterok:13"},
           {"mem", "2"},          {"memper", "node"},  {"gpn", "2"},
           {"export", "ALL"},     {"requeue", "1"},    {"in", "/dev/null"},
           {"sdir", "/home/u/p"}, {"shost", "login"},  {"env", "1"},
           {"kw", "30000"}})
    EXPECT_EQ(r.get_or(key, "(none)"), value) << key;
  EXPECT_FALSE(r.has("err"));
  EXPECT_FALSE(r.has("npn"));
  EXPECT_FALSE(r.has("time"));
  EXPECT_EQ(s->qsub.hold_jobs, (Words{"12", "13"}));
}

TEST(Translate, leaves_the_number_of_tasks_out_when_none_was_given) {
  const auto s = submission_of({"-N3"}, true);
  ASSERT_TRUE(s.has_value());
  EXPECT_EQ(s->record.get_or("tpn", ""), "1");
  EXPECT_FALSE(s->record.has("ntasks"));
}

TEST(Translate, takes_queue_names_as_partitions_when_none_are_configured) {
  Request request;
  request.partition = "gpu";
  config::Config empty;
  EngineFacts facts;
  facts.has_par = true;
  facts.queues = Words{"batch.q", "gpu.q"};
  Script script = wrap_script("true");
  auto s = translate(request, script, empty, facts, situation());
  ASSERT_TRUE(s.has_value());
  EXPECT_EQ(s->qsub.queues, (Words{"gpu.q"}));
  request.partition = "training";
  s = translate(request, script, empty, facts, situation());
  ASSERT_FALSE(s.has_value());
  EXPECT_EQ(s.error().message,
            "sbatch: error: invalid partition specified: training\n"
            "sbatch: error: Batch job submission failed: Invalid partition name specified");
  request.partition.reset();
  s = translate(request, script, empty, facts, situation());
  ASSERT_TRUE(s.has_value());
  EXPECT_TRUE(s->qsub.queues.empty());
}

TEST(Translate, times_come_from_the_request_or_the_partition) {
  EXPECT_EQ(submission_of({"-p", "gpu"}, true)->record.get_or("time", ""), "60");
  EXPECT_FALSE(submission_of({"-p", "gpu", "-t", "0"}, true)->record.has("time"));
  EXPECT_EQ(submission_of({"-p", "gpu", "-t", "1-0"}, true)->qsub.resources,
            (std::vector<std::pair<std::string, std::string>>{{"h_rt", "86400"}}));
}

TEST(Translate, spells_outputs_for_the_engine_where_it_opens_them) {
  auto config = cluster();
  config.output_mode = "ge";
  const auto s = submission_of({"-o", "a:b-%j-%5t.out", "-e", "%x.err"}, true, config);
  ASSERT_TRUE(s.has_value());
  EXPECT_EQ(s->qsub.output, ":/home/u/p/a:b-$JOB_ID-0.out");
  EXPECT_EQ(s->qsub.error, ":/home/u/p/$JOB_NAME.err");
  EXPECT_EQ(s->warnings, (Words{"the engine cannot write %5t into a file name"}));
}

TEST(Translate, names_what_it_cannot_honour) {
  const struct {
    Words words;
    const char* warning;
  } cases[] = {
      {{"--exclusive"},
       "--exclusive: hosts may be shared with other jobs (config exclusive_complex, or "
       "slots_per_node of the partition)"},
      {{"-C", "big"}, "--constraint: \"big\" is not translated: any host may be used"},
      {{"-d", "after:7+5"},
       "--dependency: after:7 waits for the end of the job, not for its start"},
      {{"-N", "2-4"}, "--nodes: a range cannot be asked for; 2 of 2 to 4 nodes are requested"},
      {{"-q", "high"}, "--qos: \"high\" has no meaning here (config qos)"},
      {{"--mem=0"}, "--mem: all of a host's memory cannot be asked for: no memory is requested"},
      {{"--tmp=4G"},
       "--tmp: the request for temporary space is dropped: no tmp_complex is configured"},
      {{"--nice=100"},
       "--nice: 100 becomes Grid Engine's priority -300: less than 200 would not count against a "
       "job's size"},
  };
  for (const auto& c : cases) {
    const auto s = submission_of(c.words, true);
    ASSERT_TRUE(s.has_value()) << c.warning;
    EXPECT_NE(std::find(s->warnings.begin(), s->warnings.end(), c.warning), s->warnings.end())
        << c.warning;
  }
}

TEST(Translate, asks_memory_by_how_the_complex_is_counted) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  auto config = cluster();
  config.memory_consumable = "slot";
  EXPECT_EQ(submission_of({"--mem=4G", "-c8"}, true, config)->qsub.resources,
            (Pairs{{"h_vmem", "512M"}}));
  EXPECT_EQ(submission_of({"--mem-per-cpu=1G", "-c8"}, true, config)->qsub.resources,
            (Pairs{{"h_vmem", "1024M"}}));
  config.memory_consumable = "host";
  EXPECT_EQ(submission_of({"--mem=4G", "-c8"}, true, config)->qsub.resources,
            (Pairs{{"h_vmem", "4096M"}}));
  EXPECT_EQ(submission_of({"--mem-per-cpu=1G", "-N2", "--ntasks-per-node=4"}, true, config)
                ->qsub.resources,
            (Pairs{{"h_vmem", "4096M"}}));
}

TEST(Sources, rank_command_line_environment_directive) {
  Script script;
  script.name = "job.sh";
  script.text = "#!/bin/sh\n#SBATCH -J dir -t 7 -N 2\ntrue\n";
  EnvList env;
  env.set("SBATCH_JOB_NAME", "env");
  env.set("SBATCH_TIMELIMIT", "9");
  env.set("SBATCH_EXCLUSIVE", "");
  const auto parsed = parse_words({"-J", "cli"});
  ASSERT_TRUE(parsed.has_value());
  const auto values = collect_values(*parsed, env, script);
  ASSERT_TRUE(values.has_value());
  Request request;
  ASSERT_TRUE(apply_values(values->given, k_now, request).has_value());
  EXPECT_EQ(request.name, "cli");
  EXPECT_EQ(request.minutes, 9u);
  EXPECT_EQ(request.nodes->min, 2);
  EXPECT_EQ(request.exclusive, slurm::Exclusive::node);
  EXPECT_EQ(values->given[0].origin.kind, cli::Origin::Kind::directive);
  EXPECT_EQ(values->given[0].origin.line, 2);
}

TEST(Sources, read_pbs_and_bsub_lines_over_ours) {
  Script script;
  script.name = "job.sh";
  script.text = "#!/bin/sh\n#PBS -N pbs -l walltime=00:07:00,nodes=2:ppn=4 -W x\n#BSUB -q debug\n"
                "#SBATCH -J aa\n";
  const auto values = collect_values(*parse_words({}), EnvList{}, script);
  ASSERT_TRUE(values.has_value());
  Request request;
  ASSERT_TRUE(apply_values(values->given, k_now, request).has_value());
  EXPECT_EQ(request.name, "pbs");
  EXPECT_EQ(request.minutes, 7u);
  EXPECT_EQ(request.nodes->min, 2);
  EXPECT_EQ(request.tasks_per_node, 4);
  EXPECT_EQ(request.partition, "debug");
  EXPECT_EQ(values->warnings, (Words{"#PBS -W is not translated"}));
}

} // namespace
} // namespace shim::commands::sbatch
