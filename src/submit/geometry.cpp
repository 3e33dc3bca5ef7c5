#include "slurm_shim/submit/geometry.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/submit/refusal.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::submit {

namespace {

constexpr long long k_max_slots = 9999999;
constexpr std::string_view k_impossible = "Requested node configuration is not available";

using Kind = Rule::Kind;

struct Counts {
  int nodes = 0; // 0: open
  int ntasks = 1;
};

// The fewest nodes that can hold the tasks, by --ntasks-per-node and by the hosts' size.
int fewest_nodes(const Shape& shape, int ntasks) {
  int nodes = 1;
  if (shape.tasks_per_node > 0) nodes = ceil_div(ntasks, shape.tasks_per_node);
  const int fitting = shape.overcommit ? 0 : shape.slots_per_node / shape.cpus_per_task;
  if (fitting > 0) nodes = std::max(nodes, ceil_div(ntasks, fitting));
  return nodes;
}

// Tasks and nodes by Slurm's rules (table 3.1; decision 19).
Result<Counts> count_tasks(const Shape& shape,
                           std::vector<std::string>& slurm_warnings,
                           std::vector<std::string>& warnings) {
  Counts counts{shape.nodes, shape.ntasks};
  if (counts.ntasks == 0) {
    const int per_node = std::max(shape.tasks_per_node, 1);
    const int nodes = std::max(counts.nodes, 1);
    if (nodes > k_max_slots / per_node) return refuse_submission(k_impossible);
    counts.ntasks = nodes * per_node;
    if (counts.nodes == 0) counts.nodes = 1;
  } else if (counts.nodes > counts.ntasks) {
    slurm_warnings.push_back(fmt::format("can't run {} processes on {} nodes, setting nnodes to {}",
                                         counts.ntasks,
                                         counts.nodes,
                                         counts.ntasks));
    counts.nodes = counts.ntasks;
  } else if (shape.max_nodes > shape.nodes && shape.nodes > 0) {
    // Of a range the fewest nodes that will do.
    const int fewest = fewest_nodes(shape, counts.ntasks);
    counts.nodes = std::clamp(fewest, counts.nodes, std::min(shape.max_nodes, counts.ntasks));
  }
  if (shape.tasks_per_node > 0) {
    const int needed = ceil_div(counts.ntasks, shape.tasks_per_node);
    if (counts.nodes == 0) counts.nodes = needed;
    if (counts.nodes < needed) return refuse_submission(k_impossible);
    if (shape.ntasks > 0 && ceil_div(counts.ntasks, counts.nodes) < shape.tasks_per_node)
      warnings.push_back(fmt::format("--ntasks-per-node: no node gets {} tasks: --ntasks={} counts",
                                     shape.tasks_per_node,
                                     shape.ntasks));
  }
  if (counts.ntasks == 1) counts.nodes = 1;
  return counts;
}

// Blocks: the first hosts get the tasks that are left over (Slurm's order).
std::vector<int> block_tasks(int ntasks, int nodes) {
  std::vector<int> tasks(static_cast<std::size_t>(nodes), ntasks / nodes);
  for (int i = 0; i < ntasks % nodes; ++i)
    ++tasks[static_cast<std::size_t>(i)];
  return tasks;
}

// -n without -N: the scheduler chooses the hosts. Whole tasks per host where the hosts' size is
// known, so that no task's CPUs straddle two of them.
void lay_out_freely(const Shape& shape, Geometry& g) {
  const int c = shape.cpus_per_task;
  g.layout = "any";
  g.slots = static_cast<long long>(g.ntasks) * c;
  if (shape.spread) {
    g.rule.kind = Kind::round_robin;
    return;
  }
  g.rule.kind = Kind::fill_up;
  if (c == 1) return;
  int per_host = 0;
  for (int m = 1; m <= g.ntasks && m <= shape.slots_per_node / c; ++m)
    if (g.ntasks % m == 0) per_host = m;
  if (per_host == 0) {
    g.warnings.push_back(fmt::format("--cpus-per-task: the {} CPUs of a task may lie on different "
                                     "hosts (partition without slots_per_node)",
                                     c));
    return;
  }
  g.layout = "exact";
  g.nodes = g.ntasks / per_host;
  g.tasks_per_node.assign(static_cast<std::size_t>(g.nodes), per_host);
  g.rule = {Kind::fixed, per_host * c, 0};
  if (g.nodes == 1) g.rule = {Kind::pe_slots, 0, 0};
}

void lay_out_on_nodes(const Shape& shape, Geometry& g) {
  const int c = shape.cpus_per_task;
  const int n = g.nodes;
  const int q = g.ntasks / n;
  const int r = g.ntasks % n;
  g.layout = "exact";
  g.tasks_per_node = block_tasks(g.ntasks, n);
  g.slots = static_cast<long long>(g.ntasks) * c;
  if (n == 1) {
    g.rule.kind = Kind::pe_slots;
  } else if (r == 0) {
    g.rule = {Kind::fixed, q * c, 0};
  } else if (shape.scoped_rules && r == 1) {
    g.rule = {Kind::scoped, q * c, (q + 1) * c};
  } else if (shape.scoped_rules && r == n - 1) {
    g.rule = {Kind::scoped, (q + 1) * c, q * c};
    g.tasks_per_node.assign(static_cast<std::size_t>(n), q + 1);
    g.tasks_per_node.front() = q;
  } else {
    const long long wanted = g.slots;
    g.layout = "ceil";
    g.slots = static_cast<long long>(n) * (q + 1) * c;
    g.rule = {Kind::fixed, (q + 1) * c, 0};
    g.warnings.push_back(fmt::format("{} tasks do not divide evenly over {} nodes: {} slots are "
                                     "allocated more than needed",
                                     g.ntasks,
                                     n,
                                     g.slots - wanted));
  }
}

// A partition of whole nodes: `per_node` slots each, whatever the tasks need.
Result<void> lay_out_whole_nodes(const Shape& shape, int per_node, Geometry& g) {
  const int fitting = shape.overcommit ? g.ntasks : per_node / shape.cpus_per_task;
  if (fitting == 0) return refuse_submission(k_impossible);
  if (g.nodes == 0) g.nodes = ceil_div(g.ntasks, fitting);
  if (ceil_div(g.ntasks, g.nodes) > fitting) return refuse_submission(k_impossible);
  g.whole_nodes = true;
  g.layout = "exact";
  g.slots = static_cast<long long>(g.nodes) * per_node;
  g.tasks_per_node = block_tasks(g.ntasks, g.nodes);
  g.rule = {Kind::fixed, per_node, 0};
  if (g.nodes == 1) g.rule = {Kind::pe_slots, 0, 0};
  return {};
}

// -O: room for one task on each host; the steps put all of them there.
void lay_out_overcommitted(const Shape& shape, Geometry& g) {
  if (g.nodes == 0) g.nodes = 1;
  g.layout = "exact";
  g.slots = static_cast<long long>(g.nodes) * shape.cpus_per_task;
  g.tasks_per_node = block_tasks(g.ntasks, g.nodes);
  g.rule = {Kind::fixed, shape.cpus_per_task, 0};
  if (g.nodes == 1) g.rule = {Kind::pe_slots, 0, 0};
}

// More slots than the tasks need, on each host the same number.
void raise_slots(int least, Geometry& g) {
  const auto hosts = slots_on_hosts(g);
  if (!hosts.known() && least > 1)
    g.warnings.push_back(fmt::format("--mincpus: the {} CPUs of each host are not asked for: the "
                                     "number of nodes is open (-N fixes it)",
                                     least));
  if (!hosts.known() || hosts.least >= least) return;
  const int each = std::max(hosts.most, least);
  g.slots = static_cast<long long>(g.nodes) * each;
  g.rule = {Kind::fixed, each, 0};
  if (g.nodes == 1) g.rule = {Kind::pe_slots, 0, 0};
}

// A partition with a fixed number of slots for every job.
void lay_out_fixed_total(int total, Geometry& g) {
  g.slots = total;
  if (g.nodes == 0) g.nodes = 1;
  g.layout = "exact";
  g.tasks_per_node = block_tasks(g.ntasks, g.nodes);
  if (g.nodes == 1) {
    g.rule.kind = Kind::pe_slots;
  } else if (total % g.nodes == 0) {
    g.rule = {Kind::fixed, total / g.nodes, 0};
  } else {
    g.layout = "any";
    g.warnings.push_back(fmt::format("the partition's {} slots do not divide over {} nodes: the "
                                     "layout is left to the parallel environment",
                                     total,
                                     g.nodes));
  }
}

Result<void> lay_out(const Shape& shape, Geometry& g) {
  constexpr std::string_view k_per_node_prefix = "per-node:";
  if (shape.slots_rule.starts_with(k_per_node_prefix)) {
    const auto k =
        parse_int<int>(std::string_view(shape.slots_rule).substr(k_per_node_prefix.size()));
    if (k && *k > 0) return lay_out_whole_nodes(shape, *k, g);
  } else if (const auto total = parse_int<int>(shape.slots_rule); total && *total > 0) {
    lay_out_fixed_total(*total, g);
    return {};
  }
  if (!shape.slots_rule.empty() && shape.slots_rule != "per-task")
    return refuse("config: partition's slots rule \"" + shape.slots_rule +
                  "\" is none of per-task, per-node:<k>, a positive number");
  if (shape.whole_nodes && shape.slots_per_node > 0)
    return lay_out_whole_nodes(shape, shape.slots_per_node, g);
  if (shape.overcommit && !shape.exclusive)
    lay_out_overcommitted(shape, g);
  else if (g.nodes == 0)
    lay_out_freely(shape, g);
  else
    lay_out_on_nodes(shape, g);
  raise_slots(shape.least_slots, g);
  return {};
}

} // namespace

HostSlots slots_on_hosts(const Geometry& geometry) {
  const auto& rule = geometry.rule;
  switch (rule.kind) {
  case Kind::pe_slots: return {static_cast<int>(geometry.slots), static_cast<int>(geometry.slots)};
  case Kind::fixed: return {rule.count, rule.count};
  case Kind::scoped: return {std::min(rule.count, rule.master), std::max(rule.count, rule.master)};
  default: return {};
  }
}

Result<Geometry> plan_geometry(const Shape& shape) {
  Geometry g;
  TRY_ASSIGN(const auto counts, count_tasks(shape, g.slurm_warnings, g.warnings));
  g.nodes = counts.nodes;
  g.ntasks = counts.ntasks;
  if (shape.max_nodes > shape.nodes && shape.nodes > 0)
    g.warnings.push_back(
        fmt::format("--nodes: a range cannot be asked for; {} of {} to {} nodes are requested",
                    g.nodes,
                    shape.nodes,
                    shape.max_nodes));
  if (!shape.overcommit && shape.cpus_per_task > k_max_slots / g.ntasks)
    return refuse_submission(k_impossible);
  // No host has room for one task. A single task is on one host anyway: the engine's check decides.
  if (g.ntasks > 1 && shape.slots_per_node > 0 && shape.cpus_per_task > shape.slots_per_node)
    return refuse_submission(k_impossible);
  TRY(lay_out(shape, g));
  if (g.slots > k_max_slots) return refuse_submission(k_impossible);
  return g;
}

namespace {

std::string rule_text(const Rule& rule) {
  switch (rule.kind) {
  case Kind::none: return "";
  case Kind::pe_slots: return "$pe_slots";
  case Kind::fill_up: return "$fill_up";
  case Kind::round_robin: return "$round_robin";
  case Kind::fixed:
  case Kind::scoped: return std::to_string(rule.count);
  }
  return "";
}

std::string pe_for(const Rule& rule, const config::PeByLayout& by_layout) {
  switch (rule.kind) {
  case Kind::pe_slots: return by_layout.pe_slots;
  case Kind::fill_up: return by_layout.fill_up;
  case Kind::round_robin: return by_layout.round_robin;
  case Kind::fixed: {
    const auto it = by_layout.fixed.find(rule.count);
    return it == by_layout.fixed.end() ? "" : it->second;
  }
  case Kind::none:
  case Kind::scoped: return "";
  }
  return "";
}

// The smallest rule of at least `count` slots that a PE has; 0 = none.
int next_rule(const config::PeByLayout& by_layout, int count, int slots_per_node) {
  const auto it = by_layout.fixed.lower_bound(count);
  if (it == by_layout.fixed.end() || it->second.empty()) return 0;
  return slots_per_node > 0 && it->first > slots_per_node ? 0 : it->first;
}

} // namespace

void round_up_to_pes(Geometry& geometry, const config::PeByLayout& by_layout, int slots_per_node) {
  const auto kind = geometry.rule.kind;
  if (kind != Kind::fixed && kind != Kind::pe_slots) return;
  if (geometry.slots == 1 || !pe_for(geometry.rule, by_layout).empty()) return;
  const int needed = slots_on_hosts(geometry).most;
  const int each = next_rule(by_layout, needed, slots_per_node);
  if (each == 0) return;
  const auto hosts = geometry.slots / needed;
  geometry.rule = {Kind::fixed, each, 0};
  geometry.slots = hosts * each;
  if (each > needed)
    geometry.warnings.push_back(
        fmt::format("no parallel environment with allocation_rule {} is configured: {} takes {} "
                    "slots on each host, {} more than needed",
                    needed,
                    by_layout.fixed.at(each),
                    each,
                    each - needed));
}

Result<Pinned> pin_layout(const Geometry& geometry,
                          bool has_par,
                          const std::string& partition,
                          const std::string& default_pe,
                          const config::PeByLayout& by_layout) {
  const Rule& rule = geometry.rule;
  Pinned pinned;
  pinned.pe = default_pe;
  if (rule.kind == Kind::none) return pinned;
  if (has_par) {
    if (rule.kind == Kind::scoped) {
      pinned.master_par = std::to_string(rule.master);
      pinned.slave_par = std::to_string(rule.count);
    } else {
      pinned.par = rule_text(rule);
    }
    return pinned;
  }
  if (auto pe = pe_for(rule, by_layout); !pe.empty()) {
    pinned.pe = std::move(pe);
    return pinned;
  }
  if (geometry.slots == 1) return pinned;
  if (rule.kind == Kind::fixed || rule.kind == Kind::pe_slots) {
    const auto suffix = rule.kind == Kind::fixed ? std::to_string(rule.count) : std::string("smp");
    return refuse(fmt::format(
        "partition \"{0}\" has no parallel environment with allocation_rule {1}, and this Grid "
        "Engine has no qsub -par: create the PE {2}-{3} with allocation_rule {1} and name it under "
        "pe_by_layout (slurm-shim install --pe-family does both)\n"
        "Batch job submission failed: {4}",
        partition,
        rule_text(rule),
        default_pe,
        suffix,
        k_impossible));
  }
  pinned.warnings.push_back(fmt::format("no parallel environment with allocation_rule {} is "
                                        "configured: {} decides about the layout",
                                        rule_text(rule),
                                        default_pe));
  return pinned;
}

} // namespace shim::submit
