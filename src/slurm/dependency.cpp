#include "slurm_shim/slurm/dependency.h"

#include "c_number.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <array>
#include <limits>

namespace shim::slurm {

namespace {

struct TypeName {
  std::string_view name;
  DependencyType type;
};
constexpr std::array k_types{
    TypeName{"after", DependencyType::after},
    TypeName{"afterany", DependencyType::after_any},
    TypeName{"afterok", DependencyType::after_ok},
    TypeName{"afternotok", DependencyType::after_not_ok},
    TypeName{"aftercorr", DependencyType::after_corr},
    TypeName{"afterburstbuffer", DependencyType::after_burst_buffer},
    TypeName{"singleton", DependencyType::singleton},
};

tl::unexpected<Error> refuse(std::string_view why) {
  return fail(
      ErrorKind::refused, "Batch job submission failed: " + std::string(why), k_exit_failure);
}
tl::unexpected<Error> problem() {
  return refuse("Job dependency problem");
}

// N[_k|_*][+minutes][(anything)], taken from the front of `rest`.
Result<Dependency> take_job(std::string_view& rest, DependencyType type) {
  Dependency item;
  item.type = type;
  const auto job = take_c_number(rest);
  constexpr long k_top = std::numeric_limits<std::uint32_t>::max();
  if (!job || *job == 0 || *job > k_top || *job < -k_top) return problem();
  item.job = static_cast<std::uint32_t>(*job); // -1 is 4294967295 there, an unknown job
  if (rest.starts_with("_*")) {
    item.whole_array = true;
    rest.remove_prefix(2);
  } else if (rest.starts_with('_')) {
    rest.remove_prefix(1);
    const auto index = take_digits(rest, 9);
    if (!index) return problem();
    item.array_index = static_cast<std::uint32_t>(*index);
  }
  if (rest.starts_with('+')) {
    rest.remove_prefix(1);
    const auto minutes = take_digits(rest, 9);
    if (!minutes || *minutes == 0) return problem();
    item.delay_minutes = static_cast<std::uint32_t>(*minutes);
  }
  // A state in parentheses, as scontrol prints it, may be pasted back.
  if (rest.starts_with('(')) {
    const auto close = rest.find(')');
    if (close == std::string_view::npos) return problem();
    rest.remove_prefix(close + 1);
  }
  return item;
}

void add(DependencyList& list, const Dependency& item) {
  const auto same = [&](const Dependency& other) {
    return other.type == item.type && other.job == item.job &&
           other.array_index == item.array_index && other.whole_array == item.whole_array;
  };
  if (std::none_of(list.items.begin(), list.items.end(), same)) list.items.push_back(item);
}

bool at_separator(std::string_view rest) {
  return rest.empty() || rest.front() == ',' || rest.front() == '?';
}

// type:job[:job...] | job | singleton, up to the next separator.
Result<void> take_item(std::string_view& rest, DependencyList& list) {
  const auto word = rest.substr(0, rest.find_first_of(":,?"));
  if (equals_ignore_case(word, "singleton")) {
    rest.remove_prefix(word.size());
    if (!at_separator(rest)) return problem();
    add(list, {DependencyType::singleton, 0, std::nullopt, false, 0});
    return {};
  }
  auto type = DependencyType::after_any; // a bare number
  if (word.size() < rest.size() && rest[word.size()] == ':') {
    if (equals_ignore_case(word, "expand"))
      return refuse("Requested operation not supported on this system");
    const auto known = std::find_if(k_types.begin(), k_types.end(), [&](const TypeName& t) {
      return equals_ignore_case(word, t.name);
    });
    if (known == k_types.end()) return problem();
    type = known->type;
    rest.remove_prefix(word.size() + 1);
  }
  while (true) {
    TRY_ASSIGN(const auto item, take_job(rest, type));
    add(list, item);
    if (!rest.starts_with(':')) break;
    rest.remove_prefix(1);
  }
  if (!at_separator(rest)) return problem();
  return {};
}

} // namespace

std::string_view dependency_name(DependencyType type) {
  for (const auto& known : k_types)
    if (known.type == type) return known.name;
  return "unknown";
}

Result<DependencyList> parse_dependency(std::string_view text) {
  DependencyList list;
  if (text.empty()) return list;
  auto rest = text;
  while (true) {
    TRY(take_item(rest, list));
    if (rest.empty()) return list;
    if (rest.front() == '?') list.any = true;
    rest.remove_prefix(1);
  }
}

namespace {

std::string joined(const DependencyList& list, std::string_view state) {
  std::vector<std::string> items;
  for (const auto& item : list.items) {
    std::string text(dependency_name(item.type));
    if (item.type != DependencyType::singleton) text += ":" + std::to_string(item.job);
    if (item.array_index) text += "_" + std::to_string(*item.array_index);
    if (item.whole_array) text += "_*";
    if (item.delay_minutes != 0) text += "+" + std::to_string(item.delay_minutes);
    items.push_back(text.append(state));
  }
  return join(items, list.any ? "?" : ",");
}

} // namespace

std::string format_dependency(const DependencyList& list) {
  return joined(list, "(unfulfilled)");
}

std::string dependency_text(const DependencyList& list) {
  return joined(list, "");
}

} // namespace shim::slurm
