#include "slurm_shim/slurm/array_spec.h"

#include "c_number.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <set>

namespace shim::slurm {

namespace {

tl::unexpected<Error> bad_array() {
  return fail(ErrorKind::refused,
              "Batch job submission failed: Invalid job array specification",
              k_exit_failure);
}

// first[-last[:step]]; a missing first is 0 (so "-" is 0-0, and "1-" descends).
Result<void> add_part(std::string_view part, std::uint32_t max_size, std::set<std::uint32_t>& out) {
  auto rest = part;
  const long first = take_c_number(rest).value_or(0);
  long last = first;
  long step = 1;
  if (rest.starts_with('-')) {
    rest.remove_prefix(1);
    last = take_c_number(rest).value_or(0);
    if (rest.starts_with(':')) {
      rest.remove_prefix(1);
      step = take_c_number(rest).value_or(0);
    }
  }
  if (!rest.empty() || first < 0 || last < first || step < 1 || last >= long{max_size})
    return bad_array();
  for (long index = first; index <= last; index += std::min(step, long{max_size}))
    out.insert(static_cast<std::uint32_t>(index));
  return {};
}

// Distance of neighbours when it is the same everywhere.
std::optional<std::uint32_t> even_step(const std::vector<std::uint32_t>& indices) {
  if (indices.size() < 2) return 1;
  const auto step = indices[1] - indices[0];
  for (std::size_t i = 2; i < indices.size(); ++i)
    if (indices[i] - indices[i - 1] != step) return std::nullopt;
  return step;
}

} // namespace

std::uint32_t ArraySpec::step() const {
  return even_step(indices).value_or(1);
}

Result<std::optional<ArraySpec>> parse_array_spec(std::string_view text, std::uint32_t max_size) {
  if (text.empty()) return std::optional<ArraySpec>{};
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  ArraySpec spec;
  const auto percent = text.find('%');
  if (percent != std::string_view::npos) {
    // What is no positive number limits nothing; Slurm takes "%", "%a" and "%-1".
    auto limit = text.substr(percent + 1);
    const long running = take_c_number(limit).value_or(0);
    if (running > 0) spec.throttle = static_cast<std::uint32_t>(std::min(running, 0x7fffffffL));
    text = text.substr(0, percent);
  }
  std::set<std::uint32_t> indices;
  for (const auto part : split(text, ',')) {
    if (part.empty()) continue;
    TRY(add_part(part, max_size, indices));
  }
  if (indices.empty()) return bad_array();
  spec.indices.assign(indices.begin(), indices.end());
  return std::optional<ArraySpec>(std::move(spec));
}

std::string NativeRange::text() const {
  return std::to_string(first) + "-" + std::to_string(last) + ":" + std::to_string(step);
}

std::optional<NativeRange> native_range(const ArraySpec& spec) {
  const auto step = even_step(spec.indices);
  if (!step || spec.min() < 1) return std::nullopt;
  return NativeRange{spec.min(), spec.max(), *step};
}

std::string format_array_indices(const std::vector<std::uint32_t>& indices,
                                 std::uint32_t throttle) {
  std::string out;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t end = i + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1)
      ++end;
    if (!out.empty()) out += ',';
    out += std::to_string(indices[i]);
    if (end > i + 1) out += "-" + std::to_string(indices[end - 1]);
    i = end;
  }
  if (throttle != 0) out += "%" + std::to_string(throttle);
  return out;
}

} // namespace shim::slurm
