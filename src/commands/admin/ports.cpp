// slurm-shim ports: asks Grid Engine and getent, prints rules, changes nothing.
#include "ports_options.h"
#include "ports_rules.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/admin.h"
#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/slurm/exit_codes.h"

namespace shim::commands {

namespace {

using namespace admin;

// `$NAME`, else the number that `getent services` has, else Grid Engine's usual one.
std::string service_port(context::Context& ctx,
                         const std::string& variable,
                         const std::string& service,
                         const std::string& usual) {
  if (const auto set = ctx.env.get(variable); set && !set->empty()) return std::string(*set);
  posix::RunRequest request;
  request.argv = {"getent", "services", service};
  const auto answer = ctx.runner.run(request);
  if (!answer || answer->status != 0) return usual + " (unless set otherwise)";
  const auto words = split_words(answer->out); // "sge_qmaster  6444/tcp"
  return words.size() < 2 ? usual : std::string(words[1].substr(0, words[1].find('/')));
}

// Addresses for names; names without one, or with a loopback one only, are warned of and left out.
std::vector<std::string> addresses_of(context::Context& ctx,
                                      const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const auto& name : names) {
    if (is_address_or_network(name))
      out.push_back(name);
    else if (auto address = posix::resolve_ipv4(ctx.runner, name))
      out.push_back(*address);
    else
      ctx.warning("ports: host " + name + " has no address that others could reach: left out");
  }
  return out;
}

struct Cluster {
  std::vector<std::string> hosts;
  std::optional<config::PortRange> qrsh;
};
Result<Cluster> ask_cluster(context::Context& ctx) {
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  const ge::Qconf qconf(tools);
  Cluster out;
  TRY_ASSIGN(out.hosts, qconf.list("-sel"));
  TRY_ASSIGN(const auto configuration, qconf.configuration());
  if (const auto ports = configuration.get("port_range"); ports && to_lower(*ports) != "none") {
    out.qrsh = config::parse_port_range(*ports);
    if (!out.qrsh || out.qrsh->first == 0) {
      ctx.warning("ports: Grid Engine's port_range \"" + std::string(*ports) +
                  "\" is not understood: left out");
      out.qrsh.reset();
    }
  }
  return out;
}

} // namespace

int run_ports(context::Context& ctx, const std::vector<std::string>& words) {
  auto options = parse_ports_options(words);
  if (!options) return ctx.fail(std::move(options).error().context("ports"));
  if (options->help) {
    ctx.out.write(*options->help);
    return slurm::k_exit_ok;
  }
  if (auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  PortsFacts facts;
  facts.control = options->range.value_or(ctx.config.control_port);
  facts.network = options->network;
  facts.zone = options->zone;
  if (facts.control.first == 0) {
    ctx.error("ports: control_port is 0 (any free port) in " + ctx.config.source +
              ": no rule can be made for it; give a range there or with --range");
    return slurm::k_exit_failure;
  }
  auto cluster = ask_cluster(ctx);
  if (!cluster) ctx.warning("ports: " + cluster.error().message);
  if (cluster) facts.qrsh = cluster->qrsh;
  auto names = options->sources;
  if (names.empty() && cluster) names = cluster->hosts;
  auto addresses = addresses_of(ctx, names);
  if (addresses.empty()) {
    if (!options->sources.empty()) {
      return ctx.refuse("ports: --source: no entry of it has an address");
    }
    facts.placeholder = true;
    addresses = {"10.0.0.0/8"};
  }
  auto sources = aggregate(addresses);
  if (!sources) return ctx.fail(std::move(sources).error().context("ports"));
  facts.sources = std::move(*sources);
  facts.qmaster_port = service_port(ctx, "SGE_QMASTER_PORT", "sge_qmaster", "6444");
  facts.execd_port = service_port(ctx, "SGE_EXECD_PORT", "sge_execd", "6445");
  ctx.out.write(ports_text(facts, options->format));
  return slurm::k_exit_ok;
}

} // namespace shim::commands
