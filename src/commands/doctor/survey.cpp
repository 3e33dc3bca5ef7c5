#include "survey.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>
#include <array>

namespace shim::commands::doctor {

namespace {

constexpr std::chrono::milliseconds k_call_limit{10000};

// Clients that ask the qmaster.
bool asks_engine(const posix::RunRequest& request) {
  constexpr std::array<std::string_view, 7> k_clients{
      "qconf", "qstat", "qhost", "qsub", "qrsh", "qselect", "qmod"};
  const auto tool = posix::base_name(request.argv.at(0));
  if (request.argv.size() > 1 && request.argv[1] == "-help") return false;
  return std::find(k_clients.begin(), k_clients.end(), tool) != k_clients.end();
}

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
    names.push_back(name);
}

} // namespace

void Recorder::begin(std::chrono::milliseconds limit) {
  m_evidence.clear();
  m_deadline = m_clock.unix_ms() + limit.count();
}

Result<posix::Output> Recorder::run_in_time(posix::RunRequest request) {
  if (m_engine_is_down && asks_engine(request))
    return fail(ErrorKind::unavailable, "Grid Engine does not answer (C03)");
  const std::chrono::milliseconds left(m_deadline - m_clock.unix_ms());
  if (left.count() <= 0) return fail(ErrorKind::unavailable, "the time limit of the check is over");
  if (request.timeout.count() <= 0 || request.timeout > left) request.timeout = left;
  return m_runner.run(request);
}

void Recorder::record(const posix::RunRequest& request, const Result<posix::Output>& answer) {
  auto argv = request.argv;
  argv[0] = posix::base_name(argv[0]);
  Evidence evidence{masked(join(argv, " ")), -1, ""};
  if (answer) {
    evidence.status = answer->status;
    evidence.output = masked(answer->out + answer->err);
  } else {
    evidence.output = masked(answer.error().message);
  }
  m_evidence.push_back(std::move(evidence));
}

Result<posix::Output> Recorder::run(const posix::RunRequest& request) {
  if (!asks_engine(request)) {
    auto answer = run_in_time(request);
    record(request, answer);
    return answer;
  }
  const auto key = join(request.argv, "\n");
  auto known = m_answers.find(key);
  if (known == m_answers.end()) known = m_answers.emplace(key, run_in_time(request)).first;
  record(request, known->second);
  return known->second;
}

Survey::Survey(context::Context& context, const Options& given, std::vector<std::string> names)
    : ctx(context), options(given), links(std::move(names)),
      recorder(context.runner, context.clock), tools(recorder, context.env, k_call_limit),
      qconf(tools) {
  recorder.begin(k_call_limit);
}

std::vector<std::string> Survey::pes_of(const config::Partition& partition) const {
  std::vector<std::string> names;
  add_name(names, partition.pe.empty() ? config().pe_name : partition.pe);
  const auto& layout = partition.pe_by_layout;
  for (const auto& name : {layout.pe_slots, layout.fill_up, layout.round_robin})
    add_name(names, name);
  for (const auto& [slots, name] : layout.fixed)
    add_name(names, name);
  return names;
}

std::vector<std::string> Survey::used_pes() const {
  std::vector<std::string> names;
  if (config().partitions.empty()) names.push_back(config().pe_name);
  for (const auto& partition : config().partitions)
    for (const auto& name : pes_of(partition))
      add_name(names, name);
  return names;
}

Result<std::vector<std::string>> Survey::used_queues() const {
  std::vector<std::string> names;
  for (const auto& partition : config().partitions)
    add_name(names, partition.queue);
  if (!names.empty()) return names;
  TRY_ASSIGN(const auto all, qconf.list("-sql"));
  for (const auto& name : all) {
    TRY_ASSIGN(const auto object, queue(name));
    if (!object) continue;
    const auto pes =
        ge::parse_name_list(ge::parse_host_value(object->get_or("pe_list", "")).fallback);
    if (std::find(pes.begin(), pes.end(), config().pe_name) != pes.end()) names.push_back(name);
  }
  return names;
}

Result<std::optional<ge::Attributes>> Survey::pe(const std::string& name) const {
  return qconf.show("-sp", name);
}
Result<std::optional<ge::Attributes>> Survey::queue(const std::string& name) const {
  return qconf.show("-sq", name);
}

Result<ge::Attributes> Survey::engine_config(const std::string& host) const {
  TRY_ASSIGN(auto values, qconf.configuration());
  if (host.empty()) return values;
  // A host without a configuration of its own is the usual case.
  TRY_ASSIGN(const auto own, tools.run({"qconf", {"-sconf", host}}));
  if (own.status != 0) return values;
  const auto attributes = ge::parse_attributes(own.out);
  for (const auto& [key, value] : attributes.entries())
    if (!key.ends_with(':')) values.set(key, value);
  return values;
}

std::string Survey::installed_bin() const {
  for (const auto& name : used_pes()) {
    const auto object = pe(name);
    if (!object || !*object) continue;
    const auto value = (*object)->get_or("start_proc_args", "");
    const auto words = split_words(value);
    if (words.empty()) continue;
    auto path = std::string(words.front());
    if (const auto at = path.find('@'); at != std::string::npos) path.erase(0, at + 1);
    if (posix::base_name(path) == "slurm-shim-env") return posix::dir_name(path);
  }
  auto usual = ctx.env.get_or("SGE_ROOT", "") + "/slurm-shim/bin";
  if (posix::is_executable_file(usual + "/slurm-shim")) return usual;
  return posix::dir_name(posix::self_path().value_or(""));
}

} // namespace shim::commands::doctor
