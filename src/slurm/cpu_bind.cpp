#include "slurm_shim/slurm/cpu_bind.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace shim::slurm {

namespace {

constexpr int k_most_cpus = 65536;
constexpr std::size_t k_longest_list = 65536;

std::optional<std::vector<int>> cpu_of(std::string_view text) {
  const auto cpu = is_digits(text) ? parse_int<int>(text) : std::nullopt;
  if (!cpu || *cpu >= k_most_cpus) return std::nullopt;
  return std::vector<int>{*cpu};
}

// Hexadecimal of any length; an empty mask binds to nothing and is a mistake.
std::optional<std::vector<int>> cpus_of_mask(std::string_view text) {
  if (equals_ignore_case(text.substr(0, 2), "0x")) text.remove_prefix(2);
  if (text.empty() || text.size() > std::size_t{k_most_cpus} / 4) return std::nullopt;
  std::vector<int> cpus;
  for (std::size_t i = 0; i < text.size(); ++i) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    const auto digit = k_digits.find(to_lower(text.substr(text.size() - 1 - i, 1)));
    if (digit == std::string_view::npos) return std::nullopt;
    for (std::size_t bit = 0; bit < 4; ++bit)
      if ((digit >> bit & 1U) != 0) cpus.push_back(static_cast<int>(4 * i + bit));
  }
  if (cpus.empty()) return std::nullopt;
  return cpus;
}

bool read_list(std::string_view text, bool masks, CpuBind& out) {
  for (const auto item : split(text, ',')) {
    const auto star = item.find('*');
    auto cpus = masks ? cpus_of_mask(item.substr(0, star)) : cpu_of(item.substr(0, star));
    std::optional<std::size_t> times = 1;
    if (star != std::string_view::npos) times = parse_int<std::size_t>(item.substr(star + 1));
    if (!cpus || !times || *times == 0 || *times > k_longest_list - out.cpus.size()) return false;
    out.cpus.insert(out.cpus.end(), *times, *cpus);
  }
  out.kind = CpuBind::Kind::list;
  return true;
}

bool read_word(std::string_view word, CpuBind& out) {
  constexpr std::array<std::string_view, 8> k_units{
      "rank", "rank_ldom", "sockets", "cores", "threads", "ldoms", "boards", "help"};
  if (word == "q" || word == "quiet") {
    out.verbose = false;
  } else if (word == "v" || word == "verbose") {
    out.verbose = true;
  } else if (word == "no" || word == "none") {
    out.kind = CpuBind::Kind::none;
  } else if (std::find(k_units.begin(), k_units.end(), word) != k_units.end()) {
    out.kind = CpuBind::Kind::units;
  } else {
    return false;
  }
  return true;
}

// Lists of locality domains are checked; which CPUs a domain has is not known here.
bool read_rest(std::string_view rest, CpuBind& out) {
  const auto colon = rest.find(':');
  const auto word = to_lower(rest.substr(0, colon));
  if (colon == std::string_view::npos) return read_word(word, out);
  const auto list = rest.substr(colon + 1);
  if (word == "map_cpu" || word == "mask_cpu") return read_list(list, word == "mask_cpu", out);
  CpuBind ignored;
  return (word == "map_ldom" || word == "mask_ldom") &&
         read_list(list, word == "mask_ldom", ignored);
}

} // namespace

Result<CpuBind> parse_cpu_bind(std::string_view text) {
  CpuBind bind;
  auto rest = text;
  for (bool more = true; more;) {
    // A list has commas of its own and is the last word.
    const auto colon = rest.find(':');
    const auto comma = rest.substr(0, colon).find(',');
    more = comma != std::string_view::npos;
    if (!read_rest(rest.substr(0, comma), bind))
      return fail(ErrorKind::usage,
                  "unrecognized --cpu-bind argument \"" + std::string(text) + "\"");
    if (more) rest.remove_prefix(comma + 1);
  }
  return bind;
}

} // namespace shim::slurm
