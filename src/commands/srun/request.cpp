#include "request.h"

#include "request_devices.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/numbers.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/slurm/words.h"

#include <algorithm>

namespace shim::commands::srun {

namespace {

bool is_no(std::string_view text) {
  return text == "0" || equals_ignore_case(text, "no") || equals_ignore_case(text, "false");
}

Result<void> read_number(const Input& input, std::string_view option, int& out) {
  const auto text = input.value(option);
  if (!text || text->empty()) return {};
  TRY_ASSIGN(out, slurm::parse_positive(*text, "--" + std::string(option)));
  return {};
}

Result<void> read_nodes(const Input& input, plan::StepRequest& out) {
  const auto text = input.value("nodes");
  if (!text || text->empty()) return {};
  TRY_ASSIGN(const auto count, slurm::parse_node_count(*text));
  out.nodes_min = count.min;
  out.nodes_max = count.max;
  out.nodes_implied = !input.on_command_line("nodes");
  return {};
}

Result<void>
read_hosts(const Input& input, std::string_view option, std::vector<std::string>& out) {
  const auto text = input.value(option);
  if (!text || text->empty()) return {};
  auto hosts = slurm::expand_hostlist(*text);
  if (!hosts)
    return tl::unexpected<Error>(
        std::move(hosts).error().context("invalid --" + std::string(option)));
  out = std::move(*hosts);
  return {};
}

// SLURM_DISTRIBUTION=plane leaves the size to a variable of its own.
Result<void> read_distribution(const Input& input, const EnvList& env, plan::StepRequest& out) {
  auto text = input.value("distribution").value_or("");
  if (text.empty()) return {};
  if (!input.on_command_line("distribution") && text == "plane")
    text += "=" + env.get_or("SLURM_DIST_PLANESIZE", "");
  TRY_ASSIGN(out.distribution, slurm::parse_distribution(text));
  return {};
}

// A path instead of names is a file of hosts.
Result<void> read_nodelist(const Input& input, Request& request) {
  const auto text = input.value("nodelist").value_or("");
  request.node_file = input.value("nodefile").value_or("");
  if (text.find('/') == std::string::npos)
    return read_hosts(input, "nodelist", request.placement.nodelist);
  request.nodelist_file = text;
  return {};
}

Result<void> read_placement(const Input& input,
                            const EnvList& env,
                            const config::Config& config,
                            Request& request,
                            std::vector<std::string>& warnings) {
  auto& place = request.placement;
  TRY(read_nodes(input, place));
  TRY(read_number(input, "ntasks", place.ntasks));
  TRY(read_number(input, "ntasks-per-node", place.ntasks_per_node));
  TRY(read_number(input, "cpus-per-task", place.cpus_per_task));
  TRY(read_nodelist(input, request));
  TRY(read_hosts(input, "exclude", place.exclude));
  TRY(read_distribution(input, env, place));
  request.host_file = env.get_or("SLURM_HOSTFILE", "");
  if (const auto text = input.value("relative"); text && !text->empty()) {
    TRY_ASSIGN(place.relative, slurm::parse_non_negative(*text, "--relative"));
  }
  place.overcommit = input.flag("overcommit");
  request.cpu_bind_text = input.value("cpu-bind").value_or("");
  return read_devices(input, config, request, warnings);
}

// -I without a value, or with it in a variable: do not wait.
Result<void> read_sharing(const Input& input, Request& request) {
  request.placement.overlap = input.flag("overlap");
  // Slots are never shared but by --overlap: --exclusive and --exact say what is so anyway.
  if (const auto kind = input.value("exclusive").value_or("");
      !kind.empty() && input.on_command_line("exclusive")) {
    TRY(slurm::parse_exclusive(kind));
  }
  const auto text = input.value("immediate");
  if (!text) return {};
  request.immediate_s = 0;
  if (text->empty()) return {};
  TRY_ASSIGN(request.immediate_s, slurm::parse_non_negative(*text, "--immediate"));
  return {};
}

Result<void> read_times(const Input& input, Request& request, std::vector<std::string>& warnings) {
  if (const auto text = input.value("wait"); text && !text->empty()) {
    TRY_ASSIGN(request.wait_s, slurm::parse_non_negative(*text, "--wait"));
  }
  if (const auto text = input.value("time"); text && !text->empty()) {
    TRY_ASSIGN(const auto minutes, slurm::parse_time_limit(*text));
    if (minutes != slurm::k_unlimited_minutes) request.time_limit_min = minutes;
  }
  if (const auto text = input.value("signal"); text && !text->empty()) {
    TRY_ASSIGN(const auto signal, slurm::parse_signal_spec(*text));
    if (signal.batch_only)
      warnings.push_back("--signal=" + *text + ": a step has no batch script, no signal is sent");
    else
      request.signal = signal;
  }
  return {};
}

Result<void> read_io(const Input& input, Request& request) {
  request.output = input.value("output").value_or("");
  request.error = input.value("error").value_or("");
  request.input = input.value("input").value_or("");
  request.pty = input.flag("pty");
  if (request.pty)
    for (const auto* option : {"input", "output", "error"})
      if (const auto word = input.value(option); word && !word->empty())
        return fail(ErrorKind::usage,
                    "--" + std::string(option) + "=" + *word + " cannot be combined with --pty");
  if (const auto mode = input.value("open-mode"); mode && !mode->empty()) {
    TRY_ASSIGN(const auto parsed, slurm::parse_open_mode(*mode));
    request.open_append = parsed == slurm::OpenMode::append;
  }
  request.label = input.flag("label");
  request.unbuffered = input.flag("unbuffered");
  return {};
}

} // namespace

std::optional<std::string> Input::from_environment(std::string_view option) const {
  const auto row = std::find_if(
      m_table.begin(), m_table.end(), [&](const cli::Option& o) { return o.name == option; });
  if (row == m_table.end() || row->env.empty()) return std::nullopt;
  for (const auto name : split(row->env, ','))
    if (const auto value = m_env.get(name)) return std::string(*value);
  return std::nullopt;
}

std::optional<std::string> Input::value(std::string_view option) const {
  if (const auto* given = m_parsed.last(option)) return given->value.value_or("");
  return from_environment(option);
}

bool Input::flag(std::string_view option) const {
  if (m_parsed.has(option)) return true;
  const auto value = from_environment(option);
  return value && !is_no(*value);
}

int Input::count(std::string_view option) const {
  const auto given = std::count_if(m_parsed.given.begin(),
                                   m_parsed.given.end(),
                                   [&](const cli::Given& g) { return g.option->name == option; });
  if (given > 0) return static_cast<int>(given);
  return parse_int<int>(from_environment(option).value_or("")).value_or(0);
}

bool kill_on_bad_exit(const std::optional<std::string>& flag,
                      const std::optional<std::string>& variable,
                      bool configured) {
  if (flag) return *flag != "0";
  if (variable && !variable->empty()) return *variable != "0";
  return configured;
}

Result<Request> make_request(const cli::Parsed& parsed,
                             cli::OptionTable table,
                             const EnvList& env,
                             const config::Config& config,
                             std::vector<std::string>& warnings) {
  const Input input(parsed, table, env);
  Request request;
  request.command = parsed.rest;
  request.multi_prog = input.flag("multi-prog");
  request.test_only = input.flag("test-only");
  if (const auto* id = parsed.last("jobid")) request.job_id = id->value.value_or("");
  request.propagate = input.value("propagate").value_or("");
  if (!request.propagate.empty()) TRY(slurm::check_propagate(request.propagate));
  // A profile's SLURM_MPI_TYPE comes along with every job: it must not end its steps.
  if (const auto* mpi = parsed.last("mpi"))
    request.mpi = mpi->value.value_or("");
  else if (const auto kind = input.value("mpi").value_or("none"); !kind.empty() && kind != "none")
    warnings.push_back("SLURM_MPI_TYPE=" + kind + " is ignored: only none is supported");
  request.quiet = input.flag("quiet");
  request.verbose = input.count("verbose");
  request.quit_on_interrupt = input.flag("quit-on-interrupt");
  TRY(read_placement(input, env, config, request, warnings));
  TRY(read_sharing(input, request));
  TRY(read_times(input, request, warnings));
  TRY(read_io(input, request));
  std::optional<std::string> flag;
  if (const auto* given = parsed.last("kill-on-bad-exit")) flag = given->value.value_or("");
  request.kill_on_bad_exit =
      kill_on_bad_exit(flag, input.value("kill-on-bad-exit"), config.kill_on_bad_exit);
  request.chdir = input.value("chdir").value_or("");
  request.prolog = input.value("prolog").value_or("");
  request.epilog = input.value("epilog").value_or("");
  request.task_prolog = input.value("task-prolog").value_or("");
  request.task_epilog = input.value("task-epilog").value_or("");
  if (const auto text = input.value("export"); text && !text->empty()) {
    TRY_ASSIGN(request.export_spec, slurm::parse_export(*text));
  }
  // The job's own name in SLURM_JOB_NAME is not this step's.
  if (const auto* name = parsed.last("job-name")) request.job_name = name->value.value_or("");
  return request;
}

} // namespace shim::commands::srun
