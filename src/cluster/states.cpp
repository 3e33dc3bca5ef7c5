#include "slurm_shim/base/strings.h"
#include "slurm_shim/cluster/cluster.h"

#include <array>
#include <utility>

namespace shim::cluster {

namespace {

using slurm::NodeState;

constexpr int k_draining = 0x200;
constexpr int k_not_responding = 0x400;

// Words of `sinfo -t` in the order in which Slurm takes the beginning of one for the whole.
constexpr std::array<std::string_view, 24> k_words{
    "down",       "idle",          "allocated",    "mixed",      "future",      "drain",
    "drained",    "draining",      "no_respond",   "reserved",   "perfctrs",    "cloud",
    "completing", "powering_down", "powered_down", "power_down", "powering_up", "fail",
    "maint",      "reboot",        "planned",      "unknown",    "blocked",     "inval"};

// What is no beginning of its word.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> k_other_words{
    {{"resv", "reserved"},
     {"comp", "completing"},
     {"alloc", "allocated"},
     {"mix", "mixed"},
     {"drng", "draining"},
     {"futr", "future"},
     {"npc", "perfctrs"},
     {"reboot_issued", "reboot"},
     {"reboot_requested", "reboot"}}};

bool drains(NodeState state) {
  return state == NodeState::drained || state == NodeState::draining;
}

} // namespace

std::string short_state(const View& view) {
  return std::string(slurm::short_name(view.state)) + (view.responding ? "" : "*");
}

std::string long_state(const View& view) {
  return std::string(slurm::long_name(view.state)) + (view.responding ? "" : "*");
}

int state_rank(const View& view) {
  int rank = 0;
  switch (view.state) {
  case NodeState::down: rank = 1; break;
  case NodeState::idle: rank = 2; break;
  case NodeState::allocated: rank = 3; break;
  case NodeState::reserved: rank = 4; break;
  case NodeState::mixed: rank = 5; break;
  case NodeState::drained: rank = 2 | k_draining; break;
  case NodeState::draining: rank = 5 | k_draining; break;
  }
  return view.responding ? rank : rank | k_not_responding;
}

std::optional<bool> state_matches(std::string_view word, const View& view) {
  const auto lower = to_lower(word);
  std::string_view meant;
  for (const auto& [name, whole] : k_other_words)
    if (lower == name) meant = whole;
  for (const auto known : k_words)
    if (meant.empty() && known.starts_with(lower)) meant = known;
  if (meant.empty()) return std::nullopt;
  if (meant == "down") return view.state == NodeState::down;
  if (meant == "idle") return view.state == NodeState::idle;
  if (meant == "allocated")
    return view.state == NodeState::allocated || view.state == NodeState::mixed;
  if (meant == "mixed") return view.state == NodeState::mixed;
  if (meant == "drain") return drains(view.state);
  if (meant == "drained") return view.state == NodeState::drained;
  if (meant == "draining") return view.state == NodeState::draining;
  if (meant == "no_respond") return !view.responding;
  if (meant == "reserved") return view.state == NodeState::reserved;
  // Taken out and never heard of: what it would do is not known.
  return meant == "unknown" && view.state == NodeState::drained && !view.responding;
}

} // namespace shim::cluster
