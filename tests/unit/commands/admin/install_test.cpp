#include "install_fixture.h"

#include "slurm_shim/config/config.h"
#include "slurm_shim/records/starter.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace shim::commands {

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Install : public test::InstallTest {};

INSTANTIATE_TEST_SUITE_P(Engines, Install, testing::Bool(), [](const auto& engine) {
  return std::string(engine.param ? "ocs_9" : "sge_8");
});

TEST_P(Install, prints_a_plan_and_changes_nothing) {
  const auto before = cell.state();
  EXPECT_EQ(run({}), 0) << err;
  EXPECT_THAT(out, HasSubstr("slurm-shim install plan (nothing has been changed)"));
  EXPECT_THAT(out, HasSubstr(cell.engine));
  EXPECT_THAT(out, HasSubstr("[create]  link    " + prefix + "/bin/srun -> slurm-shim"));
  EXPECT_THAT(out,
              HasSubstr("qconf -mattr queue starter_method " + prefix +
                        "/libexec/starter_method.sh gpu.q"));
  EXPECT_THAT(out, HasSubstr("Run again with --apply"));
  EXPECT_EQ(cell.state(), before);
  EXPECT_FALSE(fs::exists(prefix));
}

TEST_P(Install, apply_wires_the_cluster) {
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err << out;
  EXPECT_EQ(read("libexec/starter_method.sh"), records::starter_text());
  EXPECT_EQ(fs::read_symlink(prefix + "/bin/slurm-shim-env"), "slurm-shim");
  EXPECT_EQ(read("bin/slurm-shim"), test::k_program);
  const auto& pe = cell.pes.at("slurm-shim");
  EXPECT_EQ(pe.get("start_proc_args"), prefix + "/bin/slurm-shim-env");
  EXPECT_EQ(pe.get("control_slaves"), "TRUE");
  EXPECT_EQ(pe.get("job_is_first_task"), "FALSE");
  EXPECT_EQ(pe.get("allocation_rule"), "$round_robin");
  EXPECT_EQ(pe.entries().size(), cell.pes.at("make").entries().size());
  for (const auto* queue : {"batch.q", "gpu.q"}) {
    EXPECT_THAT(ge::parse_name_list(attribute(queue, "pe_list")),
                AllOf(Contains("make"), Contains("slurm-shim")));
    EXPECT_EQ(attribute(queue, "starter_method"), prefix + "/libexec/starter_method.sh");
  }
  // The starter comes last of all.
  EXPECT_THAT(cell.changes.back(), HasSubstr("starter_method"));
}

TEST_P(Install, an_engine_without_par_gets_the_family_of_pes) {
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  EXPECT_EQ(cell.pes.contains("slurm-shim-2"), !ocs());
  const auto config = config::load_file(prefix + "/etc/config.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->warnings.empty());
  const auto* batch = config->config.find_partition("batch");
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->pe_by_layout.empty(), ocs());
  if (ocs()) return;
  for (const auto& [name, rule] :
       std::map<std::string, std::string>{{"slurm-shim-1", "1"},
                                          {"slurm-shim-3", "3"},
                                          {"slurm-shim-8", "8"},
                                          {"slurm-shim-smp", "$pe_slots"},
                                          {"slurm-shim-fill", "$fill_up"}}) {
    EXPECT_EQ(cell.pes.at(name).get("allocation_rule"), rule);
    EXPECT_EQ(cell.pes.at(name).get("start_proc_args"), prefix + "/bin/slurm-shim-env");
    EXPECT_THAT(ge::parse_name_list(attribute("gpu.q", "pe_list")), Contains(name));
  }
  EXPECT_EQ(batch->pe_by_layout.pe_slots, "slurm-shim-smp");
  EXPECT_EQ(batch->pe_by_layout.fill_up, "slurm-shim-fill");
  EXPECT_EQ(batch->pe_by_layout.round_robin, "slurm-shim");
  EXPECT_EQ(batch->pe_by_layout.fixed.at(4), "slurm-shim-4");
}

TEST_P(Install, writes_one_partition_per_queue) {
  cell.add_queue("all");
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  const auto config = config::load_file(prefix + "/etc/config.yaml").value().config;
  ASSERT_EQ(config.partitions.size(), 3U);
  EXPECT_EQ(config.partitions[0].name, "all");
  EXPECT_EQ(config.partitions[1].name, "batch");
  EXPECT_EQ(config.partitions[1].queue, "batch.q");
  EXPECT_EQ(config.partitions[1].slots_per_node, 4);
  EXPECT_EQ(config.default_partition_name(), "all");
  EXPECT_EQ(config.gpu.gres_complex, "gpu");
  EXPECT_EQ(config.memory_complex, "h_vmem");
}

TEST_P(Install, a_second_run_changes_nothing) {
  ASSERT_EQ(run({"--apply", "--yes"}), 0) << err;
  const auto state = cell.state();
  const auto times = file_times();
  const auto changes = cell.changes;
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  EXPECT_THAT(out, HasSubstr("0 to create, 0 to modify"));
  EXPECT_EQ(cell.state(), state);
  EXPECT_EQ(cell.changes, changes);
  EXPECT_EQ(file_times(), times);
}

TEST_P(Install, puts_back_what_was_edited_or_taken_from_the_users) {
  ASSERT_EQ(run({"--apply", "--yes"}), 0) << err;
  const auto starter = prefix + "/libexec/starter_method.sh";
  std::ofstream(starter, std::ios::app) << "# slurm-shim of the past\n";
  fs::permissions(prefix + "/bin/slurm-shim", fs::perms(0700));
  EXPECT_EQ(run({}), 0) << err;
  EXPECT_THAT(out,
              AllOf(HasSubstr("starter_method.sh (another version)"),
                    HasSubstr("bin/slurm-shim (not for every user)")));
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  EXPECT_EQ(read("libexec/starter_method.sh"), records::starter_text());
  EXPECT_EQ(fs::status(prefix + "/bin/slurm-shim").permissions(), fs::perms(0755));
  fs::permissions(starter, fs::perms(0644));
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  EXPECT_EQ(fs::status(starter).permissions(), fs::perms(0755));
  // What is as it should be for the users is left as it is.
  fs::permissions(starter, fs::perms(0555));
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  EXPECT_EQ(fs::status(starter).permissions(), fs::perms(0555));
}

TEST_P(Install, keeps_a_manifest_of_what_was_before) {
  ASSERT_EQ(run({"--apply", "--yes"}), 0) << err;
  const auto manifest = nlohmann::json::parse(read("etc/install.json"));
  EXPECT_EQ(manifest.at("queues").at("batch.q").at("starter_method"), "NONE");
  EXPECT_THAT(manifest.at("queues").at("batch.q").at("pe_list_added"), Contains("slurm-shim"));
  EXPECT_EQ(manifest.at("pes").at("slurm-shim").at("created"), true);
  EXPECT_TRUE(manifest.at("files").contains(prefix + "/bin/slurm-shim"));
  EXPECT_EQ(manifest.at("time"), 1796000000);
}

TEST_P(Install, refuses_a_foreign_starter_and_then_does_nothing_at_all) {
  cell.queues.at("gpu.q").set("starter_method", "/opt/site/starter.sh");
  const auto before = cell.state();
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(out, HasSubstr("[BLOCKED] queue   gpu.q starter_method  is /opt/site/starter.sh"));
  EXPECT_EQ(run({"--apply", "--yes"}), 2);
  EXPECT_EQ(cell.state(), before);
  EXPECT_FALSE(fs::exists(prefix));
  // The other queue can be had alone, and so can everything but the starter.
  EXPECT_EQ(run({"--apply", "--yes", "--queue", "batch.q"}), 0) << err;
  EXPECT_EQ(run({"--apply", "--yes", "--no-starter"}), 0) << err;
  EXPECT_EQ(attribute("gpu.q", "starter_method"), "/opt/site/starter.sh");
}

TEST_P(Install, looks_at_every_hosts_part_of_a_starter) {
  cell.queues.at("gpu.q").set("starter_method", "NONE,[n1=/x/y.sh]");
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(out, HasSubstr("gpu.q@n1 starter_method  is /x/y.sh"));
  cell.queues.at("gpu.q").set("starter_method", "NONE,[n1=NONE]");
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  const auto ours = prefix + "/libexec/starter_method.sh";
  EXPECT_EQ(attribute("gpu.q", "starter_method"), ours + ",[n1=" + ours + "]");
}

TEST_P(Install, adds_the_pe_to_every_hosts_part_of_a_list) {
  cell.queues.at("batch.q").set("pe_list", "NONE,[n1=make],[@big=make slurm-shim]");
  EXPECT_EQ(run({"--apply", "--yes", "--pe-family", "none"}), 0) << err;
  EXPECT_EQ(attribute("batch.q", "pe_list"),
            "slurm-shim,[n1=make slurm-shim],[@big=make slurm-shim]");
}

TEST_P(Install, refuses_a_foreign_hook) {
  auto pe = cell.pes.at("make");
  pe.set("pe_name", "slurm-shim");
  pe.set("start_proc_args", "/opt/mpi/start $pe_hostfile");
  cell.pes["slurm-shim"] = pe;
  const auto before = cell.state();
  EXPECT_EQ(run({"--apply", "--yes"}), 2);
  EXPECT_THAT(out, HasSubstr("[BLOCKED] pe      slurm-shim start_proc_args  is /opt/mpi/start"));
  EXPECT_EQ(cell.state(), before);
  EXPECT_EQ(run({"--apply", "--yes", "--pe", "shim"}), 0) << err;
  EXPECT_TRUE(cell.pes.contains("shim"));
  EXPECT_EQ(config::load_file(prefix + "/etc/config.yaml")->config.pe_name, "shim");
}

TEST_P(Install, completes_a_pe_that_has_no_hook_unless_jobs_run_in_it) {
  auto pe = cell.pes.at("make");
  pe.set("pe_name", "slurm-shim");
  cell.pes["slurm-shim"] = pe;
  cell.running_jobs = "job-ID prior\n-----\n   12 0.5 x\n";
  EXPECT_EQ(run({"--apply", "--yes"}), 2);
  EXPECT_THAT(out, HasSubstr("1 jobs run in it"));
  cell.running_jobs.clear();
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  EXPECT_EQ(cell.pes.at("slurm-shim").get("start_proc_args"), prefix + "/bin/slurm-shim-env");
  EXPECT_EQ(cell.pes.at("slurm-shim").get("control_slaves"), "TRUE");
}

TEST_P(Install, refuses_names_that_are_a_real_slurms) {
  fs::create_directories(prefix + "/bin");
  std::ofstream(prefix + "/bin/srun") << "real";
  fs::create_symlink("/usr/bin/sbatch", prefix + "/bin/sbatch");
  EXPECT_EQ(run({"--apply", "--yes"}), 2);
  EXPECT_THAT(out, HasSubstr("bin/srun -> slurm-shim\n"));
  EXPECT_EQ(read("bin/srun"), "real");
  EXPECT_EQ(run({"--apply", "--yes", "--force-files"}), 0) << err;
  EXPECT_EQ(fs::read_symlink(prefix + "/bin/sbatch"), "slurm-shim");
}

TEST_P(Install, needs_a_manager_on_an_administrative_host) {
  cell.managers = {"root"};
  EXPECT_EQ(run({}), 0);
  EXPECT_EQ(run({"--apply", "--yes"}), 1);
  EXPECT_THAT(err, HasSubstr("user boss is not in \"qconf -sm\""));
  cell.managers = {"boss"};
  cell.admin_hosts = {"elsewhere"};
  EXPECT_EQ(run({"--apply", "--yes"}), 1);
  EXPECT_THAT(err, HasSubstr("is not in \"qconf -sh\""));
  EXPECT_TRUE(cell.changes.empty());
  EXPECT_FALSE(fs::exists(prefix));
}

TEST_P(Install, does_not_believe_an_exit_code) {
  const auto starter =
      "qconf -mattr queue starter_method " + prefix + "/libexec/starter_method.sh batch.q";
  cell.pretending = {starter};
  EXPECT_EQ(run({"--apply", "--yes"}), 3);
  EXPECT_THAT(err,
              HasSubstr("batch.q starter_method: qconf reported success, but the value read "
                        "back is NONE"));
}

TEST_P(Install, adds_pes_one_by_one_where_a_list_is_not_taken) {
  cell.lists_at_once = false;
  EXPECT_EQ(run({"--apply", "--yes", "--pe-family", "1,smp"}), 0) << err;
  EXPECT_THAT(ge::parse_name_list(attribute("batch.q", "pe_list")),
              ElementsAre("make", "slurm-shim", "slurm-shim-1", "slurm-shim-smp"));
}

TEST_P(Install, tries_the_files_before_it_sets_a_starter) {
  cell.version_status = 126;
  EXPECT_EQ(run({"--apply", "--yes"}), 3);
  EXPECT_THAT(err, HasSubstr("does not run here"));
  EXPECT_EQ(attribute("batch.q", "starter_method"), "NONE");
  cell.version_status = 0;
  EXPECT_EQ(run({"--apply", "--yes", "--no-files", "--prefix", m_root / "other"}), 3);
  EXPECT_THAT(err, HasSubstr("/other/libexec/starter_method.sh is not an executable file"));
  EXPECT_FALSE(cell.pes.contains("slurm-shim"));
}

TEST_P(Install, an_unreachable_qmaster_is_one_clear_line) {
  cell.unreachable = true;
  EXPECT_EQ(run({}), 1);
  EXPECT_EQ(out, "");
  EXPECT_THAT(err,
              AllOf(HasSubstr("slurm-shim: error: install: qconf -sm: "),
                    HasSubstr("unable to send message to qmaster")));
}

TEST_P(Install, works_in_a_cluster_without_any_pe) {
  cell.pes.clear();
  for (auto& [name, queue] : cell.queues)
    queue.set("pe_list", "NONE");
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  EXPECT_EQ(cell.pes.at("slurm-shim").entries().size(), ocs() ? 14U : 12U);
}

TEST_P(Install, takes_batch_queues_only_unless_told) {
  cell.queues.at("gpu.q").set("qtype", "INTERACTIVE");
  EXPECT_EQ(run({}), 0);
  EXPECT_THAT(out, Not(HasSubstr("gpu.q")));
  EXPECT_EQ(run({"--queue", "gpu.q"}), 0);
  EXPECT_THAT(out, HasSubstr("gpu.q"));
  EXPECT_EQ(run({"--queue", "nope.q"}), 1);
  EXPECT_THAT(err, HasSubstr("there is no cluster queue \"nope.q\""));
}

TEST_P(Install, refuses_words_it_does_not_know) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"--nope"},
                                             {"stray"},
                                             {"--prefix"},
                                             {"--prefix", "relative"},
                                             {"--prefix", "/with blank"},
                                             {"--pe", "a b"},
                                             {"--pe-family", "0"},
                                             {"--pe-family", "1,x"},
                                             {"--queue", "a@b"},
                                             {"--all-queues", "--queue", "q"}}) {
    EXPECT_EQ(run(words), 1) << words.front();
    EXPECT_THAT(err, HasSubstr("slurm-shim: error: install: ")) << words.front();
  }
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("--apply"), HasSubstr("--pe-family")));
}

TEST_P(Install, leaves_a_configuration_that_is_there) {
  fs::create_directories(prefix + "/etc");
  std::ofstream(prefix + "/etc/config.yaml") << "launch_ramp: 5\n";
  EXPECT_EQ(run({"--apply", "--yes"}), 0) << err;
  EXPECT_THAT(out,
              HasSubstr("[keep]    config  " + prefix + "/etc/config.yaml (exists, not touched)"));
  EXPECT_EQ(read("etc/config.yaml"), "launch_ramp: 5\n");
  std::ofstream(prefix + "/etc/config.yaml") << "partitions: {a: {queue: batch.q}}\n";
  EXPECT_EQ(run({}), 0);
  EXPECT_EQ(out.find("give its partitions a pe_by_layout") != std::string::npos, !ocs());
}

TEST_P(Install, json_says_the_same) {
  EXPECT_EQ(run({"--json"}), 0);
  const auto plan = nlohmann::json::parse(out);
  EXPECT_EQ(plan.at("cell"), "default");
  EXPECT_EQ(plan.at("summary").at("blocked"), 0);
  EXPECT_EQ(plan.at("actions").at(0).at("op"), "create");
  EXPECT_EQ(plan.at("actions").at(0).at("kind"), "file");
  EXPECT_EQ(plan.at("summary").at("create").get<std::size_t>() +
                plan.at("summary").at("modify").get<std::size_t>(),
            plan.at("actions").size());
}

} // namespace

} // namespace shim::commands
