#pragma once
// A job's SLURM_* environment and its layout, made from what the PE hook finds: hosts, grants, the
// submit record or the task policy. Pure: the hook gathers the facts, asks the engine and writes
// the files. Spec environment 1 to 4, decisions 14a, 17, 18, 18a, 19a.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/config/config.h"
#include "slurm_shim/ge/job_detail.h"
#include "slurm_shim/ge/pe_hostfile.h"
#include "slurm_shim/layout/layout.h"
#include "slurm_shim/records/batch_json.h"
#include "slurm_shim/records/submit_record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shim::fabricate {

// The job's hosts, master first. Without a hostfile (no PE) it is this host with NSLOTS slots; with
// NHOSTS above 1 that is an error.
[[nodiscard]] Result<std::vector<ge::GrantedHost>> granted_hosts(
    const EnvList& env, const std::optional<std::string>& hostfile, const std::string& own_host);

struct JobFacts {
  EnvList env; // the hook's own, as the engine made it
  std::vector<ge::GrantedHost> hosts;
  std::string user;
  std::int64_t uid = 0, gid = 0;
  std::string master_ip; // "" = unknown
  std::optional<ge::JobDetail> detail;
  std::optional<records::SubmitRecord> record;
  int restart = 0;
  config::Config config;
  std::int64_t now_unix = 0;
  std::string shim_version;
  std::string bin_directory;   // goes to the front of PATH
  std::string job_folder;      // SLURM_SHIM_DIR of the script; "" = not set
  std::string device_variable; // see config::device_variable
};

// What qstat has to be asked for; the environment of the hook answers the rest.
struct Need {
  bool gpus = false;
  bool memory = false;
  [[nodiscard]] bool any() const { return gpus || memory; }
};
[[nodiscard]] Need job_detail_need(const JobFacts& facts);
// What is missing in the environment when qstat did not answer.
[[nodiscard]] std::vector<std::string> detail_warnings(const Need& need, const Error& error);

// The numbers of Grid Engine's JOB_ID and SGE_TASK_ID; 0 and nothing where they are no numbers.
[[nodiscard]] std::int64_t engine_job(const EnvList& env);
[[nodiscard]] std::optional<std::int64_t> engine_task(const EnvList& env);

struct Fabricated {
  std::vector<std::pair<std::string, std::string>> exports; // in file order
  layout::Layout layout;
  std::string environment; // the whole file
  std::vector<std::string> warnings;
};
[[nodiscard]] Result<Fabricated> fabricate(const JobFacts& facts);

// The unset lines alone: the environment file under SLURM_SHIM_DISABLE.
[[nodiscard]] std::string unset_text();

// J/batch.json of a job from sbatch. `facts.record` is there; hosts need not be known yet.
[[nodiscard]] records::BatchJob
batch_job(const JobFacts& facts, const std::string& host, const std::string& working_directory);

} // namespace shim::fabricate
