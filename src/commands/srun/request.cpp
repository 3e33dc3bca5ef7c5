#include "request.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/numbers.h"
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

Result<void> read_placement(const Input& input,
                            const config::Config& config,
                            Request& request,
                            std::vector<std::string>& warnings) {
  auto& place = request.placement;
  TRY(read_nodes(input, place));
  TRY(read_number(input, "ntasks", place.ntasks));
  TRY(read_number(input, "ntasks-per-node", place.ntasks_per_node));
  TRY(read_number(input, "cpus-per-task", place.cpus_per_task));
  TRY(read_number(input, "gpus-per-task", place.gpus_per_task));
  TRY(read_hosts(input, "nodelist", place.nodelist));
  TRY(read_hosts(input, "exclude", place.exclude));
  place.overcommit = input.flag("overcommit");
  place.divide_gpus = config.gpu.bind_per_task;
  if (const auto bind = input.value("gpu-bind"); bind && !bind->empty()) {
    const auto parsed = parse_gpu_bind(*bind);
    if (!parsed.understood)
      warnings.push_back("--gpu-bind=" + *bind +
                         " is not understood; all ranks of a host see its devices");
    request.gpu_bind_given = true;
    place.divide_gpus = parsed.divide;
    if (place.gpus_per_task == 0) place.gpus_per_task = parsed.per_task;
  }
  return {};
}

Result<void> read_wait(const Input& input, Request& request) {
  const auto text = input.value("wait");
  if (!text || text->empty()) return {};
  TRY_ASSIGN(request.wait_s, slurm::parse_non_negative(*text, "--wait"));
  return {};
}

Result<void> read_io(const Input& input, Request& request) {
  request.output = input.value("output").value_or("");
  request.error = input.value("error").value_or("");
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

GpuBind parse_gpu_bind(std::string_view text) {
  auto word = to_lower(trim(text));
  if (word.rfind("verbose,", 0) == 0) word.erase(0, 8);
  if (word == "none") return {};
  const auto colon = word.find(':');
  const auto kind = word.substr(0, colon);
  if (kind != "per_task" && kind != "per-task") return {false, 0, false};
  if (colon == std::string::npos) return {true, 0, true};
  const auto count = parse_int<int>(std::string_view(word).substr(colon + 1));
  if (!count || *count < 0) return {false, 0, false};
  return {true, *count, true};
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
  request.mpi = input.value("mpi").value_or("");
  request.quiet = input.flag("quiet");
  request.verbose = input.count("verbose");
  TRY(read_placement(input, config, request, warnings));
  TRY(read_wait(input, request));
  TRY(read_io(input, request));
  std::optional<std::string> flag;
  if (const auto* given = parsed.last("kill-on-bad-exit")) flag = given->value.value_or("");
  request.kill_on_bad_exit =
      kill_on_bad_exit(flag, input.value("kill-on-bad-exit"), config.kill_on_bad_exit);
  request.chdir = input.value("chdir").value_or("");
  if (const auto text = input.value("export"); text && !text->empty()) {
    TRY_ASSIGN(request.export_spec, slurm::parse_export(*text));
  }
  request.distribution = input.value("distribution").value_or("");
  // The job's own name in SLURM_JOB_NAME is not this step's.
  if (const auto* name = parsed.last("job-name")) request.job_name = name->value.value_or("");
  return request;
}

} // namespace shim::commands::srun
