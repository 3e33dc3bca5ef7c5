// The recorded environments, with the results this project wants where they differ.
#include "slurm_shim/base/strings.h"
#include "slurm_shim/fabricate/fabricate.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "support/case_file.h"

namespace shim::fabricate {
namespace {

using nlohmann::json;

config::Config config_of(const std::string& name) {
  config::Config config;
  config.pe_task_policy = {{"mpi.pe", config::TaskPolicy::slot},
                           {"smp.pe", config::TaskPolicy::node},
                           {"gpu.pe", config::TaskPolicy::gpu}};
  config.partition_aliases = {{"all.q", "batch"}};
  config.emit_cpus_per_task = name == "emit cpus per task";
  config.export_master_addr = name == "gpu policy by SGE_HGR";
  if (name == "master port range zero is a crash") config.master_port_range = 0;
  return config;
}

JobFacts facts_of(const json& c) {
  const auto name = c["name"].get<std::string>();
  JobFacts facts;
  for (const auto& [key, value] : c["env"].items())
    facts.env.set(key, value.get<std::string>());
  facts.user = "alice";
  facts.uid = 1000;
  facts.gid = 1001;
  facts.master_ip = name == "host with underscore" ? "" : "10.0.0.11";
  facts.config = config_of(name);
  facts.now_unix = 1754481600;
  facts.shim_version = "0.1.0-dev";
  facts.bin_directory = "/opt/slurm-shim/bin";
  if (name == "gpu uneven by xml")
    facts.detail = ge::JobDetail{{{"gpu", "node001", {"0"}}, {"gpu", "node002", {"2", "3"}}},
                                 {{"h_vmem", 1073741824.0}}};
  return facts;
}

Result<Fabricated> run(const json& c) {
  auto facts = facts_of(c);
  const auto file = c["pe_hostfile"].get<std::string>();
  TRY_ASSIGN(facts.hosts,
             granted_hosts(facts.env,
                           file.empty() ? std::nullopt : std::optional<std::string>(file),
                           "node001"));
  return fabricate(facts);
}

// An element of an array has an id of its own.
void use_element_id(std::vector<std::string>& exports, const json& env) {
  if (!env.contains("SGE_TASK_FIRST")) return;
  const auto element = std::stoll(env["SGE_TASK_ID"].get<std::string>()) -
                       std::stoll(env["SGE_TASK_FIRST"].get<std::string>());
  const auto id =
      std::to_string(std::stoll(env["JOB_ID"].get<std::string>()) + (element + 1) * 10000019);
  exports[0] = "SLURM_JOB_ID=" + id;
  exports[1] = "SLURM_JOBID=" + id;
}

json without_other_addresses(json layout) {
  if (layout["tasks"]["rank_map"].is_null()) layout["tasks"]["rank_map"] = json::array();
  for (auto& node : layout["nodes"])
    if (node["index"] != 0) node["ip"] = "";
  return layout;
}

const std::map<std::string, std::string> k_errors = {
    {"NHOSTS 2 without hostfile", "NHOSTS is 2, but there is no PE_HOSTFILE"},
    {"gpu policy without gpu", "task_policy gpu but no node was granted a GPU"},
    {"bad policy override", "unknown task policy \"x\""},
    {"master port range zero is a crash", "master_port_range is 0: a positive number was expected"},
    {"zero slots", "PE_HOSTFILE names no host with slots"},
};

std::vector<std::string> lines_of_exports(const Fabricated& made) {
  std::vector<std::string> out;
  for (const auto& [name, value] : made.exports)
    out.push_back(name + "=" + value);
  return out;
}

TEST(Fabricate, recorded_cases) {
  int compared = 0;
  for (const auto& c : test::cases_of("fabricate")) {
    const auto name = c["name"].get<std::string>();
    if (name == "disabled") continue; // Environment.disabled_means_unset_lines_only
    SCOPED_TRACE(name);
    const auto made = run(c);
    if (const auto error = k_errors.find(name); error != k_errors.end()) {
      ASSERT_FALSE(made);
      EXPECT_EQ(made.error().message, error->second);
      continue;
    }
    ASSERT_TRUE(made) << made.error().message;
    auto exports = c["exports"].get<std::vector<std::string>>();
    use_element_id(exports, c["env"]);
    EXPECT_EQ(lines_of_exports(*made), exports);
    EXPECT_EQ(json::parse(layout::to_json(made->layout)), without_other_addresses(c["layout"]));
    if (name != "qstat fails") { // Need.what_did_not_come_is_told
      const auto warnings = c["warnings"].is_null() ? json::array() : c["warnings"];
      EXPECT_EQ(json(made->warnings), warnings);
    }
    ++compared;
  }
  EXPECT_EQ(compared, 12);
}

TEST(Fabricate, the_recorded_file_with_a_longer_list_of_unset_names) {
  const auto c = test::cases_of("fabricate")[0];
  const auto made = run(c).value();
  std::vector<std::string> unset;
  std::string rest;
  for (const auto line : split(made.environment, '\n'))
    if (line.starts_with("unset "))
      unset.emplace_back(line);
    else if (!line.empty())
      rest += std::string(line) + "\n";
  std::string recorded_rest;
  const auto recorded = c["environment_file"].get<std::string>();
  for (const auto line : split(recorded, '\n'))
    if (line.starts_with("unset "))
      EXPECT_NE(std::find(unset.begin(), unset.end(), line), unset.end()) << line;
    else if (!line.empty())
      recorded_rest += std::string(line) + "\n";
  EXPECT_EQ(rest, recorded_rest);
}

} // namespace
} // namespace shim::fabricate
