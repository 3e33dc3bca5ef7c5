#include "slurm_shim/submit/request.h"

#include "setters.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/submit/refusal.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::submit {

namespace {

tl::unexpected<Error> refuse_gres(std::string_view reason) {
  return refuse(std::string(reason) + "\n" + std::string(k_bad_gres));
}

// Of --mem, --mem-per-cpu, --mem-per-gpu the one of the highest source counts; two from there
// exclude each other.
Result<void> choose_memory(Request& r) {
  using Origin = cli::Origin::Kind;
  for (const auto source : {Origin::command_line, Origin::environment, Origin::directive}) {
    std::vector<Memory> found;
    for (const auto& [per, given] : r.memory_given)
      if (given.second == source) found.push_back({per, given.first});
    if (found.size() > 1)
      return refuse_fatally("--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
    if (!found.empty()) {
      r.memory = found.front();
      return {};
    }
  }
  return {};
}

Result<void> check_nodelist(Request& r) {
  if (!r.nodelist || r.nodelist->empty()) return {};
  const auto hosts = slurm::expand_hostlist(*r.nodelist);
  if (!hosts) return refuse_submission("Invalid node name specified");
  const auto count = static_cast<int>(hosts->size());
  if (r.nodes && r.nodes->min > 0 && count > r.nodes->max)
    return refuse(fmt::format("invalid number of nodes (-N {}-{})", count, r.nodes->max));
  const bool counted = r.nodes && r.nodes->min > 0;
  if (!counted) r.nodes = slurm::NodeCount{count, count, false};
  return {};
}

int gpus_per_node(const Request& r) {
  int count = static_cast<int>(slurm::total_count(r.gpus_per_node));
  for (const auto& gres : r.gres)
    if (count == 0 && gres.name == "gpu") count = static_cast<int>(gres.count);
  return count;
}

// -n, or nodes and tasks per node that fix the number as well.
bool tasks_are_known(const Request& r) {
  const bool one_count = !r.nodes || r.nodes->min == r.nodes->max;
  return r.ntasks || (r.tasks_per_node && one_count);
}

// Counts that follow from GPU counts, with the refusals of Slurm's resource plugin.
Result<void> derive_from_gpus(Request& r) {
  const auto total = static_cast<int>(slurm::total_count(r.gpus));
  const auto per_task = static_cast<int>(slurm::total_count(r.gpus_per_task));
  const int per_node = gpus_per_node(r);
  const bool any_gpu = total > 0 || per_task > 0 || per_node > 0 || !r.gpus_per_socket.empty();
  if (!r.gpus_per_socket.empty() && !r.sockets_per_node)
    return refuse_gres("--gpus-per-socket option requires --sockets-per-node specification");
  if (per_task > 0 && total == 0 && !tasks_are_known(r))
    return refuse_gres("Failed to validate job spec. --gpus-per-task used without either --gpus "
                       "or -n/--ntasks is not allowed.");
  if (per_task > 0 && total > 0 && total % per_task != 0)
    return refuse_gres("Failed to validate job spec, --gpus not multiple of --gpus-per-task");
  if (r.tasks_per_gpu && !any_gpu && !r.ntasks && !r.nodes)
    return refuse_gres("gres_job_state_validate: --ntasks-per-tres needs either a GRES GPU "
                       "specification or a node/ntask specification");
  if (r.memory && r.memory->per == MemoryPer::gpu && !any_gpu)
    return refuse_gres(fmt::format(
        "Requested mem_per_tres=gres:gpu:{} but did not request any GPU.", r.memory->mebibytes));
  if (per_task > 0 && total > 0 && r.ntasks && *r.ntasks != total / per_task)
    return refuse_gres(
        fmt::format("--gpus={} is not {} tasks of --gpus-per-task={}", total, *r.ntasks, per_task));
  if (per_task > 0 && total > 0) r.ntasks = total / per_task;
  if (r.tasks_per_gpu && total > 0 && !r.ntasks) r.ntasks = *r.tasks_per_gpu * total;
  if (total == 0 || per_node == 0) return {};
  const int n = total / per_node;
  const bool counted = r.nodes && r.nodes->min > 0;
  if (total % per_node != 0 || (counted && (n < r.nodes->min || n > r.nodes->max)))
    return refuse_gres(fmt::format("--gpus={} is not {} on each of {} nodes",
                                   total,
                                   per_node,
                                   counted ? std::to_string(r.nodes->min) : "some"));
  r.nodes = slurm::NodeCount{n, n, false};
  return {};
}

Result<void> check_words(const Request& r) {
  using Nodes = slurm::Distribution::Nodes;
  if (r.distribution && r.distribution->nodes == Nodes::arbitrary && !r.nodelist && !r.nodefile)
    return refuse("With Arbitrary distribution you need to specify a nodelist or hostfile with "
                  "the -w option");
  return {};
}

// -B without -n: a task for each thread of each host (Slurm's opt_verify).
void derive_from_extra_info(Request& r) {
  if (!r.extra_node_info || r.ntasks || r.tasks_per_node) return;
  const auto& info = *r.extra_node_info;
  const int nodes = r.nodes ? std::max(r.nodes->min, 1) : 1;
  r.ntasks =
      nodes * std::max(info.sockets, 1) * std::max(info.cores, 1) * std::max(info.threads, 1);
}

} // namespace

Result<void> apply_values(const std::vector<cli::Given>& given, std::time_t now, Request& request) {
  for (const auto& value : given)
    if (const auto set = find_setter(value.option->name); set != nullptr)
      TRY(set({request, value.value, value.origin.kind, now}));
  return {};
}

Result<void> verify_request(Request& r) {
  TRY(choose_memory(r));
  TRY(check_words(r));
  TRY(check_nodelist(r));
  derive_from_extra_info(r);
  return derive_from_gpus(r);
}

Result<void> verify_submission(Request& r, std::time_t now) {
  const auto lift = [](const Error& e) { return refuse(e.message, e.exit_code); };
  auto array = slurm::parse_array_spec(r.array_text.value_or(""));
  if (!array) return lift(array.error());
  r.array = std::move(*array);
  if (r.dependency_text && !r.dependency_text->empty()) {
    auto dependency = slurm::parse_dependency(*r.dependency_text);
    if (!dependency) return lift(dependency.error());
    r.dependency = std::move(*dependency);
  }
  // The time that it must at least have: an end before the deadline has to be possible.
  const auto least = r.minutes_min ? r.minutes_min : r.minutes;
  const auto needs = least && *least != slurm::k_unlimited_minutes ? std::time_t{*least} * 60 : 0;
  if (r.deadline && (*r.deadline <= now || *r.deadline < now + needs))
    return refuse_submission("Requested time limit is invalid (missing or exceeds some limit)");
  return {};
}

} // namespace shim::submit
