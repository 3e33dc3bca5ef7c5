#include "slurm_shim/slurm/resources.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace shim::slurm {

namespace {

tl::unexpected<Error> bad_gres() {
  return fail(ErrorKind::refused, "Invalid generic resource (gres) specification", k_exit_failure);
}

// Digits with an optional k, m, g (powers of 1024). Nothing for other texts.
std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t factor = 1;
  if (!text.empty()) {
    const auto unit = to_lower(text.substr(text.size() - 1));
    if (unit == "k") factor = std::uint64_t{1} << 10;
    if (unit == "m") factor = std::uint64_t{1} << 20;
    if (unit == "g") factor = std::uint64_t{1} << 30;
    if (factor != 1) text.remove_suffix(1);
  }
  if (!is_digits(text)) return std::nullopt;
  const auto value = parse_int<std::uint64_t>(text);
  if (!value || *value > std::numeric_limits<std::int64_t>::max() / factor) return std::nullopt;
  return *value * factor;
}

// [type][:count], what follows the name.
Result<Gres> parse_parts(std::string name, std::vector<std::string_view> parts) {
  Gres gres;
  gres.name = std::move(name);
  if (!parts.empty())
    if (const auto count = parse_count(parts.back())) {
      gres.count = *count;
      parts.pop_back();
    }
  if (parts.size() > 1) return bad_gres();
  if (!parts.empty()) gres.type = std::string(parts.front());
  if (!parts.empty() && gres.type.empty()) return bad_gres();
  return gres;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (equals_ignore_case(text.substr(0, 2), "0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

} // namespace

std::optional<std::vector<std::uint64_t>> parse_bind_list(std::string_view text, bool masks) {
  constexpr std::uint64_t k_longest = 65536; // elements: as many as a host may have tasks
  std::vector<std::uint64_t> out;
  for (const auto item : split(text, ',')) {
    const auto star = item.find('*');
    const auto head = item.substr(0, star);
    const auto value =
        masks ? parse_hex(head) : (is_digits(head) ? parse_int<std::uint64_t>(head) : std::nullopt);
    std::optional<std::uint64_t> times = 1;
    if (star != std::string_view::npos) times = parse_int<std::uint64_t>(item.substr(star + 1));
    if (!value || !times || *times == 0 || *times > k_longest - out.size()) return std::nullopt;
    out.insert(out.end(), static_cast<std::size_t>(*times), *value);
  }
  return out;
}

namespace {

// False: not a binding.
bool read_gpu_bind(const std::string& word, std::optional<std::string_view> value, GpuBind& out) {
  using Kind = GpuBind::Kind;
  if (word == "none" || word == "closest") {
    out.kind = word == "none" ? Kind::none : Kind::closest;
    return !value;
  }
  if (word == "map_gpu" || word == "mask_gpu") {
    out.kind = word == "map_gpu" ? Kind::map : Kind::mask;
    auto list = parse_bind_list(value.value_or(""), out.kind == Kind::mask);
    if (!list) return false;
    out.list = std::move(*list);
    return true;
  }
  if (word != "single" && word != "per_task" && word != "per-task") return false;
  out.kind = word == "single" ? Kind::single : Kind::per_task;
  if (!value) return out.kind == Kind::per_task;
  const auto number = is_digits(*value) ? parse_int<int>(*value) : std::nullopt;
  out.count = number.value_or(0);
  return out.count > 0;
}

} // namespace

Result<std::vector<Gres>> parse_gres(std::string_view text) {
  std::vector<Gres> list;
  if (equals_ignore_case(text, "none")) return list;
  for (auto item : split(text, ',')) {
    if (item.starts_with("gres:")) item.remove_prefix(5);
    auto parts = split(item, ':');
    std::string name(parts.front());
    if (name.empty()) return bad_gres();
    parts.erase(parts.begin());
    TRY_ASSIGN(auto gres, parse_parts(std::move(name), std::move(parts)));
    list.push_back(std::move(gres));
  }
  return list;
}

Result<std::vector<Gres>> parse_gpus(std::string_view text) {
  std::vector<Gres> list;
  for (const auto item : split(text, ',')) {
    if (item.empty()) return bad_gres();
    TRY_ASSIGN(auto gres, parse_parts("gpu", split(item, ':')));
    list.push_back(std::move(gres));
  }
  return list;
}

std::uint64_t total_count(const std::vector<Gres>& list) {
  std::uint64_t total = 0;
  for (const auto& gres : list)
    total += gres.count;
  return total;
}

std::string format_tres(const std::vector<Gres>& list) {
  std::vector<std::string> items;
  items.reserve(list.size());
  for (const auto& gres : list)
    items.push_back("gres:" + gres.name + (gres.type.empty() ? "" : ":" + gres.type) + ":" +
                    std::to_string(gres.count));
  return join(items, ",");
}

Result<GpuBind> parse_gpu_bind(std::string_view text) {
  GpuBind bind;
  auto rest = text;
  const auto drop = [&](std::string_view head) {
    const bool found = equals_ignore_case(rest.substr(0, head.size()), head);
    if (found) rest.remove_prefix(head.size());
    return found;
  };
  drop("gpu:");
  bind.verbose = drop("verbose,");
  if (bind.verbose) drop("gpu:");
  const auto colon = rest.find(':');
  const bool has_value = colon != std::string_view::npos;
  if (read_gpu_bind(to_lower(rest.substr(0, colon)),
                    has_value ? std::optional(rest.substr(colon + 1)) : std::nullopt,
                    bind))
    return bind;
  return fail(ErrorKind::usage,
              "Invalid --gpu-bind argument: " +
                  std::string(text.starts_with("gpu:") ? "" : "gpu:") + std::string(text),
              k_exit_usage);
}

Result<std::vector<License>> parse_licenses(std::string_view text) {
  std::vector<License> list;
  std::string normal(text);
  std::replace(normal.begin(), normal.end(), ';', ',');
  for (const auto item : split(normal, ',')) {
    const auto mark = item.find_first_of(":=");
    License license;
    license.name = std::string(item.substr(0, mark));
    std::optional<int> count = 1;
    if (mark != std::string_view::npos) count = parse_int<int>(item.substr(mark + 1));
    if (license.name.empty() || !count || *count < 1)
      return fail(ErrorKind::refused,
                  "Batch job submission failed: Invalid license specification",
                  k_exit_failure);
    license.count = *count;
    list.push_back(std::move(license));
  }
  return list;
}

} // namespace shim::slurm
