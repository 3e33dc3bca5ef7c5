#pragma once
// `scontrol update JobId=N KEY=VALUE ...` as a call of qalter. Pure. Spec commands 6, vectors/10
// up.*

#include "slurm_shim/base/result.h"
#include "slurm_shim/config/config.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/records/submit_record.h"
#include "slurm_shim/slurm/dependency.h"
#include "slurm_shim/submit/facts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::scontrol {

struct Key {
  std::string name; // lower case
  std::string value;
  std::string written; // "TimeLimit=30"
};
using Keys = std::span<const Key>;
// "JobId=7 TimeLimit=30" and "job 7 name=x": a first word without '=' takes the next one.
[[nodiscard]] std::vector<Key> parse_keys(std::span<const std::string> words);

[[nodiscard]] bool is_known(std::string_view name);

// What is known of the job that is changed.
struct Subject {
  const config::Config& config;
  const ge::JobFacts& job;
  // Of sbatch, where this user has it: what a job demands of its predecessors stands there.
  std::optional<records::SubmitRecord> record;
  submit::EngineFacts engine; // predecessors, own jobs: as far as Dependency= needs them
  std::int64_t now = 0;       // unix seconds
};

struct JobChange {
  std::vector<std::string> args;             // of qalter, without the job
  std::map<std::string, std::string> record; // keys of the submit record; "" = gone
  bool hold = false;                         // Priority=0
  std::vector<std::string> warnings;
};
// Errors are Slurm's words for a failure of this job.
[[nodiscard]] Result<JobChange> translate(const Subject& subject, Keys keys);
// What Dependency= asks for; empty when it is not among the keys.
[[nodiscard]] Result<slurm::DependencyList> asked_dependency(Keys keys);

} // namespace shim::commands::scontrol
