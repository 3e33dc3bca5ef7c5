#pragma once
// How a complex counts what is asked of it, and so which number `-l` has to say: a consumable YES
// is multiplied by the slots on each host, HOST counts once on each host, JOB once, on the master
// host. Pure. OCS-FACTS-2 section 5, spec sbatch-translate 6.2 and 6.3.

#include "slurm_shim/base/result.h"
#include "slurm_shim/submit/facts.h"
#include "slurm_shim/submit/geometry.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shim::submit {

enum class Counting { slot, host, job };

// `configured`: auto, slot, host, job. Nothing: the cluster has no such complex. `unknown`: what
// holds when the engine was not asked.
[[nodiscard]] std::optional<Counting> counting_of(const std::string& complex,
                                                  const std::string& configured,
                                                  const EngineFacts& facts,
                                                  Counting unknown);

// A complex of type DOUBLE: each slot may be asked for a part of a thing.
[[nodiscard]] bool counts_parts(const std::string& complex, const EngineFacts& facts);

struct Whole { // a number of things that cannot be split up
  std::string_view option;
  const std::string& complex;
  std::uint64_t count = 0;
  bool parts = false; // counts_parts() of the complex
};
// The number that `-l` says for `thing.count` on each host. Errors (complete lines): the complex
// cannot say that.
[[nodiscard]] Result<std::string>
request_per_host(const Whole& thing, Counting counting, const Geometry& geometry);
// `thing.count` for the whole job.
[[nodiscard]] Result<std::string>
request_per_job(const Whole& thing, Counting counting, const Geometry& geometry);

// Memory and the like, MiB: rounded up where it is divided. Nothing: the complex cannot say it.
[[nodiscard]] std::optional<std::uint64_t>
mebibytes_per_host(std::uint64_t mebibytes, Counting counting, const Geometry& geometry);
[[nodiscard]] std::optional<std::uint64_t>
mebibytes_per_slot(std::uint64_t mebibytes, Counting counting, const Geometry& geometry);

} // namespace shim::submit
