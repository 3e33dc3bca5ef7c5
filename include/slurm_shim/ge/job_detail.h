#pragma once
// What a running job was granted and had asked for, from `qstat -j`: device ids per host and
// complex, and the memory request. The parsers are pure; query_job_detail makes the one call of the
// PE hook. Spec environment 2, ge-commands 3, decision 14a.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::ge {

// One host's share of a resource map; ids may be any words. Empty after a request of 0 and on hosts
// that only the other scope asked for.
struct ResourceGrant {
  std::string complex, host;
  std::vector<std::string> ids;
};

struct ResourceRequest {
  std::string complex;
  double value = 0; // bytes for memory
};

struct JobDetail {
  std::vector<ResourceGrant> grants;          // of the task asked for
  std::vector<ResourceRequest> hard_requests; // global scope first
  // Ids granted on `host` (exact name, else its short name); several entries are joined.
  [[nodiscard]] std::vector<std::string> granted_ids(std::string_view complex,
                                                     std::string_view host) const;
  [[nodiscard]] std::optional<double> request(std::string_view complex) const;
};

struct JobTask {
  std::int64_t job = 0;
  std::int64_t task = 1; // 1 for a job that is no array
};

// Errors: malformed; not_found (unknown job, or no such task); unavailable (no qmaster).
[[nodiscard]] Result<JobDetail> parse_job_detail_xml(std::string_view xml, const JobTask& which);
[[nodiscard]] Result<JobDetail> parse_job_detail_text(std::string_view text, const JobTask& which);

// `qstat -xml -j`; when that cannot be read, plain `qstat -j` in what is left of the time.
[[nodiscard]] Result<JobDetail>
query_job_detail(const Tools& tools, const JobTask& which, std::chrono::milliseconds timeout);

// The words of SGE_HGR_<complex> or of a resource map as what a device runtime is told: a UUID or a
// MIG name ("GPU-8932f937-...", "MIG-...") as it is, else the number at the end of the word ("2",
// "gpu2"), else the word's position; each device once.
[[nodiscard]] std::vector<std::string> device_ids(const std::vector<std::string>& words);
[[nodiscard]] std::vector<std::string> device_ids(std::string_view words);

// "200M", "1.5g" as bytes: k m g t are powers of 1000, K M G T of 1024.
[[nodiscard]] std::optional<double> parse_memory_value(std::string_view text);

} // namespace shim::ge
