#pragma once
// layout.json, schema version 1: what the PE hook found out about the allocation, read by srun and
// scontrol on the master host; and the step counter beside it. Spec environment 3 and 6, job-files
// 3 (end). Owns format and file names of the job folder's layout; knows nothing of Grid Engine.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::layout {

inline constexpr int k_schema_version = 1;

struct Node {
  int index = 0;
  std::string host; // display name: short where unique, else exact
  std::string fqdn; // exact Grid Engine name; "" = same as host
  std::string ip;   // numeric IPv4 or ""
  int slots = 0;
  std::string processor_range;
  std::vector<std::string> gpus; // granted device ids; empty = none
  bool is_master = false;
  [[nodiscard]] const std::string& engine_name() const { return fqdn.empty() ? host : fqdn; }
};

struct Job {
  std::int64_t job_id = 0;                   // the engine's number
  std::optional<std::int64_t> array_task_id; // the engine's task number
  std::string name, user, queue, partition, account, submit_dir, submit_host, pe_name, task_policy;
  std::int64_t uid = 0, gid = 0;
  std::int64_t mem_per_node_mb = 0; // 0 = unknown
};

struct RankMapEntry {
  int rank = 0, node = 0, local = 0;
  std::vector<std::string> gpus;
  std::string cpuset;
};

struct Tasks {
  int ntasks = 0;
  int cpus_per_task = 0; // 0 = unset
  std::vector<int> per_node;
  std::vector<RankMapEntry> rank_map; // informational
};

struct Layout {
  std::string shim_version;
  std::int64_t created_unix = 0;
  Job job;
  std::vector<Node> nodes; // [0] is the master host
  Tasks tasks;
  std::string master_addr;
  int master_port = 0;
  std::string launcher;
};

// Two-space-indented JSON, keys in the order of the spec.
[[nodiscard]] std::string to_json(const Layout& layout);
// Any key but schema_version, job.job_id, nodes[].host and nodes[].slots may be missing. Another
// schema_version is refused by number. `where` names the file in messages.
[[nodiscard]] Result<Layout> from_json(std::string_view text, const std::string& where);

inline constexpr std::string_view k_layout_file = "layout.json";
inline constexpr std::string_view k_counter_file = "stepctr";

// Looks in $SLURM_SHIM_DIR, $TMPDIR/slurm_shim, /tmp/slurm_shim for a layout that is trusted and
// belongs to this job: its job_id is JOB_ID (else what SLURM_JOB_ID decodes to) and its
// array_task_id SGE_TASK_ID, as far as these are set. With no job id in `env` a layout counts only
// where SLURM_SHIM_DIR or TMPDIR point to it. not_found when there is none; a layout that is there
// but broken, foreign or of another version is an error that names it.
struct Found {
  Layout layout;
  std::string directory;
};
[[nodiscard]] Result<Found> find(const EnvList& env);

// Takes the next step id (0, 1, 2, ...; dense under concurrency) from <directory>/stepctr.
// A missing or empty file counts as -1. "corrupt step counter" when it does not hold a number.
[[nodiscard]] Result<int> next_step_id(const std::string& directory);
// The number that the next step would get; takes nothing.
[[nodiscard]] Result<int> peek_step_id(const std::string& directory);

} // namespace shim::layout
