#include "dry_run.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/rankenv/rankenv.h"
#include "slurm_shim/slurm/hostlist.h"

#include <fmt/core.h>

#include <unordered_map>

namespace shim::commands::srun {

namespace {

std::string join_words(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words)
    out += (out.empty() ? "" : " ") + printable(word);
  return out;
}

// Lines for what `now` has and `before` has not, or has with another value.
std::string differences(const EnvList& before, const EnvList& now, std::string_view indent) {
  std::unordered_map<std::string_view, std::string_view> known;
  for (const auto& entry : before.entries())
    known[EnvList::name_of(entry)] = EnvList::value_of(entry);
  std::string out;
  for (const auto& entry : now.entries()) {
    const auto found = known.find(EnvList::name_of(entry));
    if (found == known.end() || found->second != EnvList::value_of(entry))
      out += fmt::format("{}{}\n", indent, printable(entry));
  }
  return out;
}

std::string removed(const EnvList& before, const EnvList& now) {
  std::string names;
  for (const auto& entry : before.entries())
    if (const auto name = EnvList::name_of(entry); !now.has(name))
      names += (names.empty() ? "" : " ") + printable(name);
  return names;
}

std::string output_of(const Route& route) {
  switch (route.kind) {
  case Route::Kind::stream: return route.on_stdout ? "srun's stdout" : "srun's stderr";
  case Route::Kind::discard: return "nowhere";
  case Route::Kind::file:
  case Route::Kind::shared: break;
  }
  return printable(route.path);
}

std::string head(const StepPlan& plan, const proto::StepSpec& spec) {
  std::vector<std::string> names;
  for (const auto& host : plan.hosts)
    names.push_back(host.name);
  auto out = fmt::format(
      "job {}: a step of {} tasks on {} hosts ({}), {} CPUs each; nothing was started\n",
      plan.ground.slurm_job_id,
      plan.placement.ranks.size(),
      names.size(),
      slurm::compress_hostlist(names),
      plan.placement.cpus_per_task);
  if (plan.programs.empty()) out += "program: " + join_words(spec.command) + "\n";
  out += "directory: " + printable(spec.chdir) + "\n";
  return out;
}

std::string rank_lines(const StepPlan& plan,
                       const proto::StepSpec& spec,
                       const proto::RankSpec& rank,
                       const std::string& host) {
  auto out = fmt::format("task {} on {}:\n", rank.rank, host);
  if (!rank.command.empty()) out += "  program: " + join_words(rank.command) + "\n";
  const auto& routes = plan.routes[static_cast<std::size_t>(rank.rank)];
  out += fmt::format("  output: {}, errors: {}\n", output_of(routes[0]), output_of(routes[1]));
  if (!rank.cpuset.empty()) out += "  bound to CPUs: " + rank.cpuset + "\n";
  const EnvList step_env(spec.env);
  const auto env =
      rankenv::rank_environment(step_env, rank.env_delta, {host, spec.gpu_env_var, &rank.gpus});
  return out + differences(step_env, env, "  ");
}

} // namespace

std::string printable(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto value = static_cast<unsigned char>(c);
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (value < 0x20 || value == 0x7f)
      out += fmt::format("\\x{:02x}", value);
    else
      out += c;
  }
  return out;
}

std::string dry_run_report(const context::Context& ctx, const StepPlan& plan) {
  // There is no listener: the variables that name its address are left out.
  auto spec = make_step_spec(ctx, plan, {});
  auto out = head(plan, spec);
  const EnvList step_env(spec.env);
  if (const auto names = removed(ctx.env, step_env); !names.empty())
    out += "variables that the tasks do not get: " + names + "\n";
  out += "variables of the step:\n" + differences(ctx.env, step_env, "  ");
  std::vector<std::string> ranks(plan.placement.ranks.size());
  for (std::size_t host = 0; host < plan.hosts.size(); ++host)
    for (const auto& rank : make_rank_specs(ctx, plan, host))
      ranks[static_cast<std::size_t>(rank.rank)] =
          rank_lines(plan, spec, rank, plan.hosts[host].name);
  for (const auto& rank : ranks)
    out += rank;
  return out;
}

} // namespace shim::commands::srun
