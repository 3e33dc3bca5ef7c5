#include "geometry.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/plan/task_policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace shim::fabricate {
namespace {

constexpr std::string_view k_requested = "sbatch";

plan::TaskPolicy to_plan(config::TaskPolicy policy) {
  switch (policy) {
  case config::TaskPolicy::slot: return plan::TaskPolicy::slot;
  case config::TaskPolicy::node: return plan::TaskPolicy::node;
  case config::TaskPolicy::gpu: return plan::TaskPolicy::gpu;
  }
  return plan::TaskPolicy::node;
}

Result<plan::TaskPolicy> policy_of(const JobFacts& facts) {
  if (const auto word = facts.env.get_or("SLURM_SHIM_TASK_POLICY", ""); !word.empty())
    return plan::parse_task_policy(word);
  const auto& by_pe = facts.config.pe_task_policy;
  const auto it = by_pe.find(facts.env.get_or("PE", ""));
  return to_plan(it != by_pe.end() ? it->second : facts.config.default_task_policy);
}

// A positive number of the record; nothing when the key is absent, 0 when it is nonsense.
std::optional<int> count_of(const records::SubmitRecord& record, std::string_view key) {
  if (!record.has(key)) return std::nullopt;
  const auto value = record.get_int(key).value_or(0);
  return value > 0 && value <= std::numeric_limits<int>::max() ? static_cast<int>(value) : 0;
}

// "2" on all hosts, or "2,2,1".
std::vector<int> parse_counts(const std::string& text, std::size_t hosts) {
  std::vector<int> out;
  for (const auto word : split(text, ','))
    out.push_back(parse_int<int>(word).value_or(-1));
  if (out.size() == 1) out.resize(hosts, out.front());
  return out;
}

bool fits(const std::vector<int>& counts, const std::vector<ge::GrantedHost>& hosts, int cpus) {
  if (counts.size() != hosts.size()) return false;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (counts[i] < 1 || counts[i] > hosts[i].slots / cpus) return false;
  return true;
}

// -O: every host has room for one task at least.
bool fits_overcommitted(const std::vector<int>& counts,
                        const std::vector<ge::GrantedHost>& hosts,
                        int cpus) {
  return counts.size() == hosts.size() &&
         std::ranges::all_of(counts, [](int count) { return count > 0; }) &&
         std::ranges::all_of(hosts, [&](const auto& host) { return host.slots >= cpus; });
}

// The larger numbers of tasks to the hosts with more slots: an uneven request need not lie on the
// hosts in the order in which they are listed.
std::vector<int> match_to_slots(std::vector<int> counts,
                                const std::vector<ge::GrantedHost>& hosts) {
  std::vector<std::size_t> order(hosts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return hosts[a].slots > hosts[b].slots;
  });
  std::sort(counts.begin(), counts.end(), std::greater<>());
  std::vector<int> out(counts.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    out[order[i]] = counts[i];
  return out;
}

// Tasks over hosts that the scheduler chose freely: one each, then blocks.
std::vector<int> spread(int ntasks, const std::vector<ge::GrantedHost>& hosts, int cpus) {
  std::vector<int> out(hosts.size(), 1);
  int left = ntasks - static_cast<int>(hosts.size());
  for (std::size_t i = 0; i < hosts.size() && left > 0; ++i) {
    const int more = std::clamp(hosts[i].slots / cpus - 1, 0, left);
    out[i] += more;
    left -= more;
  }
  return left == 0 ? out : std::vector<int>{};
}

// Nothing when the record does not fit the grant.
std::optional<JobGeometry> from_record(const records::SubmitRecord& record,
                                       const std::vector<ge::GrantedHost>& hosts) {
  const auto cpus_asked = count_of(record, "cpt");
  const auto ntasks = count_of(record, "ntasks");
  const auto nodes = count_of(record, "nodes");
  if (cpus_asked == 0 || ntasks == 0 || nodes == 0) return std::nullopt;
  const int cpus = cpus_asked.value_or(1);
  const bool over = record.get_int("over") == 1;
  std::vector<int> counts;
  if (nodes) {
    if (static_cast<std::size_t>(*nodes) != hosts.size()) return std::nullopt;
    counts = parse_counts(record.get_or("tpn", "1"), hosts.size());
    if (!over && counts.size() == hosts.size() && !fits(counts, hosts, cpus))
      counts = match_to_slots(std::move(counts), hosts);
  } else {
    counts = spread(ntasks.value_or(static_cast<int>(hosts.size())), hosts, cpus);
  }
  if (over ? !fits_overcommitted(counts, hosts, cpus) : !fits(counts, hosts, cpus))
    return std::nullopt;
  JobGeometry out;
  out.ntasks = std::accumulate(counts.begin(), counts.end(), 0);
  out.per_node = std::move(counts);
  out.cpus_per_task = cpus_asked.value_or(0);
  out.requested = true;
  out.policy = k_requested;
  return out;
}

} // namespace

Result<JobGeometry> decide_geometry(const JobFacts& facts,
                                    const std::vector<std::vector<std::string>>& gpus,
                                    std::vector<std::string>& warnings) {
  if (facts.record) {
    if (auto requested = from_record(*facts.record, facts.hosts)) return std::move(*requested);
    warnings.emplace_back("the submit record does not fit the granted hosts and slots; using the "
                          "task policy");
  }
  TRY_ASSIGN(const auto policy, policy_of(facts));
  std::vector<plan::HostGrant> grants;
  for (std::size_t i = 0; i < facts.hosts.size(); ++i)
    grants.push_back({facts.hosts[i].slots, static_cast<int>(gpus[i].size())});
  TRY_ASSIGN(auto counts, plan::apply_task_policy(policy, grants));
  warnings.insert(warnings.end(), counts.warnings.begin(), counts.warnings.end());
  JobGeometry out;
  out.per_node = std::move(counts.per_node);
  out.ntasks = counts.ntasks;
  out.cpus_per_task = counts.cpus_per_task;
  out.policy = plan::to_text(policy);
  return out;
}

} // namespace shim::fabricate
