#pragma once
// Everything about a job that a variable's value may need, worked out once from the facts.

#include "array_identity.h"
#include "geometry.h"

#include "slurm_shim/fabricate/fabricate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shim::fabricate {

struct JobView {
  const JobFacts& facts;
  std::vector<std::string> names;             // of the hosts, as shown
  std::vector<std::vector<std::string>> gpus; // granted devices per host
  JobGeometry geometry;
  std::optional<ArrayIdentity> array;
  std::int64_t job = 0;      // the engine's number
  std::int64_t slurm_id = 0; // this element's
  std::string name, queue, partition, account, submit_dir, submit_host;
  std::string nodelist;
  std::optional<int> ntasks_per_node; // the common count, where it is to be told
  std::int64_t mem_per_node_mb = 0;   // 0 = unknown
  int master_port = 0;

  // A value of the submit record that is there and not empty.
  [[nodiscard]] std::optional<std::string> asked(std::string_view key) const;
  [[nodiscard]] std::vector<int> slots() const;
};

[[nodiscard]] Result<JobView> make_view(const JobFacts& facts, std::vector<std::string>& warnings);

// Name and value of every variable that applies, in file order.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> make_exports(const JobView& view);

} // namespace shim::fabricate
