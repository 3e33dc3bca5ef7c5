#include "slurm_shim/ge/accounting.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>
#include <ctime>

namespace shim::ge {

namespace {

std::optional<std::int64_t> local_time(std::string_view text) {
  constexpr const char* k_forms[] = {
      "%a %b %e %H:%M:%S %Y", "%Y-%m-%d %H:%M:%S", "%m/%d/%Y %H:%M:%S"};
  const std::string copy(text);
  for (const auto* form : k_forms) {
    std::tm parts{};
    const char* end = ::strptime(copy.c_str(), form, &parts);
    if (end == nullptr || (*end != '\0' && *end != '.')) continue;
    parts.tm_isdst = -1;
    return std::mktime(&parts);
  }
  return std::nullopt;
}

} // namespace

std::optional<std::int64_t> latest_end(std::string_view qacct_text) {
  constexpr std::string_view k_key = "end_time";
  std::optional<std::int64_t> latest;
  for (const auto line : split(qacct_text, '\n')) {
    if (!line.starts_with(k_key)) continue;
    if (const auto when = local_time(trim(line.substr(k_key.size()))))
      latest = std::max(latest.value_or(*when), *when);
  }
  return latest;
}

Result<std::optional<std::int64_t>> query_end(const Tools& tools, std::uint64_t job) {
  TRY_ASSIGN(const auto output, tools.run({.tool = "qacct", .args = {"-j", std::to_string(job)}}));
  if (output.status == 0) return latest_end(output.out);
  if (output.err.find("not found") != std::string::npos) return std::optional<std::int64_t>{};
  return fail(ErrorKind::unavailable,
              "qacct: " + std::string(trim(split(trim(output.err), '\n').front())));
}

} // namespace shim::ge
