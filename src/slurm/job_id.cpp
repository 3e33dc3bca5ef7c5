#include "slurm_shim/slurm/job_id.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>
#include <limits>

namespace shim::slurm {

namespace {

Result<std::vector<std::uint32_t>> parse_indices(std::string_view brackets) {
  std::string list(brackets);
  if (const auto percent = list.find('%'); percent != std::string::npos)
    list.erase(percent, list.size() - percent - 1); // "[0-3%2]": the limit is no index
  TRY_ASSIGN(const auto texts, slurm_expand_hostlist(list));
  std::vector<std::uint32_t> indices;
  for (const auto& text : texts) {
    const auto index = parse_int<std::uint32_t>(text);
    if (!index) return fail(ErrorKind::usage, "", k_exit_failure);
    indices.push_back(*index);
  }
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

// What follows '_': an index, a list in brackets, or '*'.
Result<void> parse_array_part(std::string_view part, JobRef& ref) {
  if (part == "*") {
    ref.whole_array = true;
    return {};
  }
  if (part.size() > 2 && part.starts_with('[') && part.ends_with(']')) {
    ref.bracketed = true;
    TRY_ASSIGN(ref.indices, parse_indices(part));
    return {};
  }
  const auto index = parse_int<std::uint32_t>(part);
  if (!is_digits(part) || !index) return fail(ErrorKind::usage, "", k_exit_failure);
  ref.indices = {*index};
  return {};
}

bool is_step(std::string_view step) {
  return is_digits(step) || step == "batch" || step == "extern" || step == "interactive";
}

} // namespace

Result<JobRef> parse_job_id(std::string_view text) {
  const auto invalid = [&](const std::string& first_line = "") {
    return fail(ErrorKind::usage,
                (first_line.empty() ? "" : first_line + "\n") + "Invalid job id " +
                    std::string(text),
                k_exit_failure);
  };
  JobRef ref;
  auto rest = text;
  if (const auto dot = rest.rfind('.'); dot != std::string_view::npos) {
    ref.step = std::string(rest.substr(dot + 1));
    if (!is_step(ref.step)) return invalid();
    rest = rest.substr(0, dot);
  }
  const auto underscore = rest.find('_');
  const auto id = parse_int<std::uint64_t>(rest.substr(0, underscore));
  constexpr std::uint64_t k_top = std::numeric_limits<std::int64_t>::max();
  if (!is_digits(rest.substr(0, underscore)) || !id || *id == 0 || *id > k_top) return invalid();
  ref.id = *id;
  const auto decoded = decode_job_id(*id);
  ref.job = decoded.job;
  ref.element = decoded.element;
  if (ref.job == 0) return invalid();
  if (underscore != std::string_view::npos)
    if (const auto part = parse_array_part(rest.substr(underscore + 1), ref); !part)
      return invalid(part.error().message);
  return ref;
}

} // namespace shim::slurm
