#include "record.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/dependency.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace shim::commands::sbatch {

namespace {

using records::SubmitRecord;

void set_if(SubmitRecord& record, std::string_view key, const std::optional<std::string>& value) {
  if (value) record.set(key, *value);
}

std::string tasks_text(const std::vector<int>& tasks) {
  const bool even = std::ranges::adjacent_find(tasks, std::not_equal_to{}) == tasks.end();
  if (even) return std::to_string(tasks.front());
  std::vector<std::string> texts;
  for (const int n : tasks)
    texts.push_back(std::to_string(n));
  return join(texts, ",");
}

void add_geometry(SubmitRecord& record, const Request& request, const Geometry& geometry) {
  if (geometry.nodes > 0) {
    record.set_int("nodes", geometry.nodes);
    record.set("tpn", tasks_text(geometry.tasks_per_node));
  }
  if (tasks_were_given(request)) record.set_int("ntasks", geometry.ntasks);
  if (request.tasks_per_node) record.set_int("npn", *request.tasks_per_node);
  if (request.cpus_per_task) record.set_int("cpt", *request.cpus_per_task);
  record.set("layout", geometry.layout);
  set_if(record, "reqnodes", request.nodelist);
  set_if(record, "excnodes", request.exclude);
}

void add_gpus(SubmitRecord& record, const Request& request) {
  std::set<std::string> types;
  std::vector<std::string> tres;
  const auto add = [&](std::string_view key, const std::vector<slurm::Gres>& list) {
    if (list.empty()) return;
    record.set_int(key, static_cast<long long>(slurm::total_count(list)));
    for (const auto& gres : list)
      if (!gres.type.empty()) types.insert(gres.type);
  };
  std::vector<slurm::Gres> on_node;
  for (const auto& gres : request.gres)
    if (gres.name == "gpu") on_node.push_back(gres);
  if (!request.gpus_per_node.empty()) on_node = request.gpus_per_node;
  add("gpus", request.gpus);
  add("gpn", on_node);
  add("gpt", request.gpus_per_task);
  if (!types.empty()) record.set("gtype", join(types, ","));
  if (!request.gres.empty()) record.set("tres", slurm::format_tres(request.gres));
  set_if(record, "gbind", request.gpu_bind);
}

void add_policy(SubmitRecord& record, const Request& request, const Effective& effective) {
  record.set("name", effective.name);
  if (!effective.partition.empty()) record.set("part", effective.partition);
  set_if(record, "acct", request.account);
  set_if(record, "qos", request.qos);
  set_if(record, "comment", request.comment);
  set_if(record, "hint", request.hint);
  if (request.nice) record.set_int("nice", *request.nice);
  if (request.begin) record.set_int("begin", *request.begin);
  if (request.mail_types) record.set("mail", slurm::format_mail_types(*request.mail_types));
  if (request.distribution) record.set("dist", slurm::format_distribution(*request.distribution));
  if (request.exclusive) record.set_int("excl", 1);
  if (request.memory) {
    static constexpr std::string_view k_per[] = {"node", "cpu", "gpu"};
    record.set_int("mem", static_cast<long long>(request.memory->mebibytes));
    record.set("memper", k_per[static_cast<std::size_t>(request.memory->per)]);
  }
}

// "afterok:12,after:13+5", without the states that scontrol adds.
std::string dependency_text(const slurm::DependencyList& list) {
  constexpr std::string_view k_state = "(unfulfilled)";
  auto text = slurm::format_dependency(list);
  for (auto at = text.find(k_state); at != std::string::npos; at = text.find(k_state, at))
    text.erase(at, k_state.size());
  return text;
}

void add_run(SubmitRecord& record, const Request& request, const Effective& effective) {
  if (effective.minutes) record.set_int("time", *effective.minutes);
  if (request.signal)
    record.set("sig",
               fmt::format("{}@{}{}",
                           slurm::signal_name(request.signal->signal),
                           request.signal->seconds_before,
                           request.signal->batch_only ? "B" : ""));
  if (request.array)
    record.set("array",
               slurm::format_array_indices(request.array->indices, request.array->throttle));
  if (!request.dependency.items.empty()) record.set("dep", dependency_text(request.dependency));
  record.set("out", effective.output);
  set_if(record, "err", effective.error);
  record.set("in", effective.input);
  const bool append = request.open_mode == slurm::OpenMode::append;
  record.set("openmode", append ? "a" : "t");
  record.set("export", request.export_text.value_or("ALL"));
  record.set_int("requeue", effective.requeue ? 1 : 0);
}

} // namespace

bool tasks_were_given(const Request& request) {
  return request.ntasks || request.tasks_per_node || request.tasks_per_gpu;
}

SubmitRecord make_record(const Request& request,
                         const Script& script,
                         const config::Config& config,
                         const Geometry& geometry,
                         const Effective& effective,
                         const Situation& situation) {
  SubmitRecord record;
  record.set("tok", situation.token);
  record.set("dir", situation.state);
  if (config.env_transport == "file") record.set_int("env", 1);
  if (config.job_records == "off") record.set_int("rec", 0);
  record.set_int("kw", config.kill_wait.count());
  add_geometry(record, request, geometry);
  add_gpus(record, request);
  add_policy(record, request, effective);
  add_run(record, request, effective);
  record.set("sdir", situation.directory);
  record.set("shost", situation.host);
  if (!script.name.empty()) record.set("script", script.path.empty() ? script.name : script.path);
  if (!script.command.empty()) {
    auto words = situation.arguments;
    words.insert(words.begin(), script.command);
    record.set("cmd", join(words, " "));
  }
  return record;
}

} // namespace shim::commands::sbatch
