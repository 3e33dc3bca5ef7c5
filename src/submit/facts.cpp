#include "slurm_shim/submit/facts.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/qsub.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/submit/refusal.h"

#include <algorithm>

namespace shim::submit {

namespace {

bool wants_resources(const Request& r) {
  return r.memory || r.tmp_mebibytes || (r.licenses && !r.licenses->empty()) || !r.gres.empty() ||
         !r.gpus.empty() || !r.gpus_per_node.empty() || !r.gpus_per_task.empty() ||
         !r.gpus_per_socket.empty() || r.tasks_per_gpu || r.prefer;
}

// Whether a layout may have to be found among the parallel environments' names.
bool needs_pes(const config::Config& config) {
  if (config.partitions.empty()) return true;
  return std::ranges::any_of(config.partitions,
                             [](const auto& p) { return p.pe_by_layout.empty(); });
}

// Hosts have to be found beside those that are named; one alone is the master host.
bool needs_more_hosts(const Request& r) {
  if (!r.nodelist || !r.nodes) return false;
  const auto named = slurm::expand_hostlist(*r.nodelist);
  return named && named->size() > 1 && r.nodes->max > static_cast<int>(named->size());
}

template <class T> std::optional<T> if_answered(Result<T> answer) {
  if (!answer) return std::nullopt;
  return std::move(*answer);
}

void ask_queue_pes(const ge::Qconf& qconf, const Request& request, EngineFacts& facts) {
  for (const auto name : split(*request.partition, ',')) {
    for (const auto& queue : {std::string(name), std::string(name) + ".q"}) {
      if (facts.queues && std::ranges::count(*facts.queues, queue) == 0) continue;
      const auto shown = qconf.show("-sq", queue);
      if (!shown || !*shown) continue;
      const auto pes = ge::parse_host_value((*shown)->get_or("pe_list", "NONE"));
      auto names = ge::parse_name_list(pes.fallback);
      for (const auto& [host, value] : pes.overrides)
        for (auto& more : ge::parse_name_list(value))
          names.push_back(std::move(more));
      facts.queue_pes.emplace(queue, std::move(names));
      break;
    }
  }
}

} // namespace

Result<EngineFacts> ask_engine(const context::Context& ctx, const Request& request) {
  EngineFacts facts;
  const auto& config = ctx.config;
  const ge::Tools tools(ctx.runner, ctx.env, config.qstat_timeout);
  const auto abilities = ge::probe_qsub(tools);
  if (!abilities) return refuse(abilities.error().message);
  facts.has_par = abilities->par;
  const ge::Qconf qconf(tools);
  if (config.partitions.empty() && request.partition) {
    facts.queues = if_answered(qconf.list("-sql"));
    ask_queue_pes(qconf, request, facts);
  }
  if (request.nodelist || request.exclude) facts.hosts = if_answered(qconf.list("-sel"));
  if (needs_more_hosts(request)) facts.host_list = if_answered(ge::list_hosts(tools));
  if (wants_resources(request)) facts.complexes = if_answered(qconf.complexes());
  if (!facts.has_par && needs_pes(config)) facts.pes = if_answered(qconf.list("-spl"));
  if (request.reservation && !request.reservation->empty() && !is_digits(*request.reservation))
    facts.reservations = if_answered(ge::list_reservations(tools));
  return facts;
}

} // namespace shim::submit
