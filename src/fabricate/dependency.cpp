#include "slurm_shim/fabricate/dependency.h"

#include "array_identity.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/signals.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace shim::fabricate {
namespace {

using Type = slurm::DependencyType;

std::string text_of(const slurm::Dependency& item) {
  auto text = fmt::format("{}:{}", slurm::dependency_name(item.type), item.job);
  if (item.array_index) text += fmt::format("_{}", *item.array_index);
  return text;
}

bool judged(const slurm::Dependency& item, bool alternatives) {
  if (item.type == Type::after_any) return alternatives; // fulfils the whole list
  return item.type == Type::after_ok || item.type == Type::after_not_ok ||
         item.type == Type::after_corr;
}

std::string how_it_ended(int code, int sig) {
  return sig != 0 ? fmt::format("was ended by signal {}", slurm::signal_name(sig))
                  : fmt::format("ended with exit code {}", code);
}

bool fulfils(const Demand& demand, const Outcome& outcome) {
  switch (demand.type) {
  case Type::after_any: return true;
  case Type::after_not_ok: return outcome.ending == Ending::failed;
  default: return outcome.ending == Ending::succeeded;
  }
}

} // namespace

Demands demands_of(const JobFacts& facts) {
  Demands out;
  if (!facts.record || !facts.config.afterok_check) return out;
  const auto list = slurm::parse_dependency(facts.record->get_or("dep", ""));
  if (!list) return out;
  const auto unknown_text = facts.record->get_or("depgone", "");
  const auto unknown = split(unknown_text, ',');
  std::vector<std::string> ignored; // the environment's making warns of the same
  const auto own = array_identity(facts, ignored);
  out.any = list->any;
  for (const auto& item : list->items) {
    if (!judged(item, list->any)) continue;
    const auto id = slurm::decode_job_id(item.job);
    if (std::ranges::count(unknown, std::to_string(id.job)) != 0) {
      if (list->any) return {}; // fulfilled, and one is enough
      continue;
    }
    Demand demand;
    demand.type = item.type == Type::after_corr ? Type::after_ok : item.type;
    demand.job = static_cast<std::int64_t>(id.job);
    demand.element = id.element;
    demand.index = item.array_index;
    demand.text = text_of(item);
    if (item.type == Type::after_corr && own && !demand.element && !demand.index) {
      demand.index = static_cast<std::uint32_t>(own->index);
      demand.corresponding = true;
    }
    out.items.push_back(std::move(demand));
  }
  return out;
}

std::optional<Outcome> outcome_of(const records::JobRecord& record) {
  if (!record.end || record.end->reason == "requeue") return std::nullopt;
  const auto& end = *record.end;
  if (end.reason == "exit")
    return Outcome{end.code == 0 && end.sig == 0 ? Ending::succeeded : Ending::failed,
                   how_it_ended(end.code, end.sig)};
  if (end.reason == "cancel") return Outcome{Ending::failed, "was cancelled"};
  if (end.reason == "timeout") return Outcome{Ending::failed, "reached its time limit"};
  return Outcome{Ending::failed, "could not run (" + end.reason + ")"};
}

std::optional<Outcome>
outcome_of(const std::vector<ge::AccountingRecord>& records, std::int64_t job, std::uint32_t task) {
  const ge::AccountingRecord* last = nullptr;
  for (const auto& record : records)
    if (static_cast<std::int64_t>(record.job) == job && record.task == task && record.master() &&
        !ge::is_requeue(record))
      last = &record;
  if (last == nullptr) return std::nullopt;
  if (!last->deleted_by.empty()) return Outcome{Ending::failed, "was ended by the engine"};
  if (last->failed != 0) return Outcome{Ending::failed, "failed or was ended by the engine"};
  return Outcome{last->exit_status == 0 ? Ending::succeeded : Ending::failed,
                 fmt::format("ended with exit code {}", last->exit_status)};
}

std::vector<std::uint32_t> demanded_tasks(const Demand& demand, const slurm::ArraySpec& array) {
  std::vector<std::uint32_t> positions;
  if (demand.element) {
    if (*demand.element < array.count())
      positions.push_back(static_cast<std::uint32_t>(*demand.element));
  } else if (demand.index) {
    const auto at = std::ranges::find(array.indices, *demand.index);
    if (at != array.indices.end())
      positions.push_back(static_cast<std::uint32_t>(std::distance(array.indices.begin(), at)));
  }
  const bool whole =
      (!demand.element && !demand.index) || (demand.corresponding && positions.empty());
  if (whole) {
    positions.resize(array.count());
    std::iota(positions.begin(), positions.end(), 0U);
  }
  const bool native = slurm::native_range(array).has_value();
  std::vector<std::uint32_t> tasks;
  tasks.reserve(positions.size());
  for (const auto position : positions)
    tasks.push_back(native ? array.indices[position] : position + 1);
  return tasks;
}

std::optional<std::string> verdict(const Demands& demands, const std::vector<Outcome>& outcomes) {
  std::string why;
  for (std::size_t i = 0; i < demands.items.size(); ++i) {
    const auto& demand = demands.items[i];
    const bool fulfilled = fulfils(demand, outcomes[i]);
    if (fulfilled && demands.any) return std::nullopt;
    if (fulfilled) continue;
    why += fmt::format(
        "{}{}: job {} {}", why.empty() ? "" : "; ", demand.text, demand.job, outcomes[i].how);
    if (!demands.any) break;
  }
  if (why.empty()) return std::nullopt;
  return "DependencyNeverSatisfied: " + why;
}

} // namespace shim::fabricate
