#include "slurm_shim/ge/job_detail.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/pe_hostfile.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

namespace shim::ge {
namespace {

std::vector<std::string>
ids_where(const std::vector<ResourceGrant>& grants, std::string_view complex, auto&& same_host) {
  std::vector<std::string> out;
  for (const auto& grant : grants)
    if (grant.complex == complex && same_host(grant.host))
      out.insert(out.end(), grant.ids.begin(), grant.ids.end());
  return out;
}

std::string device_id(std::string_view word, std::size_t position) {
  // A short number behind it is a site's own counting, no UUID.
  constexpr std::size_t k_longest_number = 4;
  for (const std::string_view head : {"GPU-", "MIG-"}) {
    if (!word.starts_with(head)) continue;
    const auto rest = word.substr(head.size());
    if (!is_digits(rest) || rest.size() > k_longest_number) return std::string(word);
  }
  const auto last = word.find_last_not_of("0123456789");
  const auto digits = last == std::string_view::npos ? word : word.substr(last + 1);
  const auto number = parse_int<int>(digits);
  return number ? std::to_string(*number) : std::to_string(position);
}

std::string first_line(std::string_view text) {
  const auto body = trim(text);
  return std::string(trim(body.substr(0, body.find('\n'))));
}

std::string describe(const posix::Output& output) {
  auto said = first_line(output.err);
  if (said.empty()) said = first_line(output.out);
  return fmt::format("exit {}{}{}", output.status, said.empty() ? "" : ": ", said);
}

} // namespace

std::vector<std::string> JobDetail::granted_ids(std::string_view complex,
                                                std::string_view host) const {
  auto exact =
      ids_where(grants, complex, [&](const std::string& h) { return equals_ignore_case(h, host); });
  if (!exact.empty()) return exact;
  return ids_where(grants, complex, [&](const std::string& h) {
    // Only where one of the two has no domain: two machines may share a short name.
    const auto mine = short_host_name(host);
    const auto theirs = short_host_name(h);
    return equals_ignore_case(mine, theirs) && (mine == host || theirs == h);
  });
}

std::optional<double> JobDetail::request(std::string_view complex) const {
  for (const auto& wanted : hard_requests)
    if (wanted.complex == complex) return wanted.value;
  return std::nullopt;
}

std::vector<std::string> device_ids(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const auto& word : words) {
    auto id = device_id(word, out.size());
    if (std::find(out.begin(), out.end(), id) == out.end()) out.push_back(std::move(id));
  }
  return out;
}

std::vector<std::string> device_ids(std::string_view words) {
  std::vector<std::string> list;
  for (const auto word : split_words(words))
    list.emplace_back(word);
  return device_ids(list);
}

std::optional<double> parse_memory_value(std::string_view text) {
  double factor = 1;
  constexpr std::string_view k_units = "kKmMgGtT";
  if (const auto unit = text.empty() ? std::string_view::npos : k_units.find(text.back());
      unit != std::string_view::npos) {
    const double base = unit % 2 == 0 ? 1000 : 1024;
    for (std::size_t power = 0; power <= unit / 2; ++power)
      factor *= base;
    text.remove_suffix(1);
  }
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value * factor;
}

Result<JobDetail>
query_job_detail(const Tools& tools, const JobTask& which, std::chrono::milliseconds timeout) {
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + timeout;
  const auto id = std::to_string(which.job);
  TRY_ASSIGN(const auto output, tools.run({"qstat", {"-xml", "-j", id}, "", {}, timeout}));
  auto detail =
      output.status == 0
          ? parse_job_detail_xml(output.out, which)
          : Result<JobDetail>(fail(ErrorKind::refused,
                                   fmt::format("qstat -xml -j {}: {}", id, describe(output))));
  if (detail || detail.error().kind == ErrorKind::not_found) return detail;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now());
  if (left.count() <= 0) return detail;
  TRY_ASSIGN(const auto plain, tools.run({"qstat", {"-j", id}, "", {}, left}));
  if (plain.status != 0)
    return fail(ErrorKind::refused, fmt::format("qstat -j {}: {}", id, describe(plain)));
  return parse_job_detail_text(plain.out, which);
}

} // namespace shim::ge
