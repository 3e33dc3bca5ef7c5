#pragma once
// What the engine is asked before a request is translated: abilities of its qsub, names, how its
// complexes count. Only what the request needs is asked; what got no answer stays empty and is not
// checked here. Callers: sbatch, explain, salloc. Spec sbatch-translate 3.4, 4, 6; ge-commands 6.

#include "slurm_shim/context/context.h"
#include "slurm_shim/ge/hosts.h"
#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/ge/reservations.h"
#include "slurm_shim/submit/request.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shim::submit {

// A job that is waited for, as it was at submission.
struct Predecessor {
  std::uint64_t job = 0; // engine's number
  enum class State {
    unknown, // neither the engine nor a record knows it
    waits,
    started,
    ended,
  } state = State::unknown;
  std::int64_t start = 0;   // unix seconds, 0 = unknown
  std::string tasks{};      // an array's as for qsub -t: "1-10:1"
  bool tells_start = false; // the caller's own from sbatch, no array: its hook ends waits for it
};

// Who starts once another job has started, and some minutes are over.
struct StartWait {
  std::uint64_t predecessor = 0;
  std::uint32_t minutes = 0;
  friend bool operator==(const StartWait&, const StartWait&) = default;
};

struct EngineFacts {
  bool has_par = false;
  // Nothing: not asked, or no answer.
  std::optional<std::vector<std::string>> queues; // cluster queues (no partitions configured)
  std::optional<std::vector<std::string>> hosts;  // execution hosts (a host was named)
  std::optional<ge::HostList> host_list; // several hosts, but not all of the job's, are named
  std::optional<std::vector<ge::Complex>> complexes;        // a resource is asked for
  std::optional<std::vector<std::string>> pes;              // no -par and no pe_by_layout
  std::optional<std::vector<ge::Reservation>> reservations; // --reservation=NAME
  std::vector<Predecessor> predecessors;                    // those that could be asked for
  // The user's jobs and their names; only asked for --dependency=singleton.
  std::vector<std::pair<std::uint64_t, std::string>> own_jobs;
  // Parallel environments of the cluster queues that serve as partitions without configuration.
  std::map<std::string, std::vector<std::string>> queue_pes;
};

// Error (complete lines): qsub cannot be asked at all.
[[nodiscard]] Result<EngineFacts> ask_engine(const context::Context& ctx, const Request& request);

} // namespace shim::submit
