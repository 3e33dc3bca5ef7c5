#include "record.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/dependency.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace shim::submit {

namespace {

using records::SubmitRecord;

void set_if(SubmitRecord& record, std::string_view key, const std::optional<std::string>& value) {
  if (value) record.set(key, *value);
}

std::string tasks_text(const std::vector<int>& tasks) {
  const bool even = std::ranges::adjacent_find(tasks, std::not_equal_to{}) == tasks.end();
  if (even) return std::to_string(tasks.front());
  std::vector<std::string> texts;
  texts.reserve(tasks.size());
  for (const int n : tasks)
    texts.push_back(std::to_string(n));
  return join(texts, ",");
}

// Hints that leave a core's other threads alone are this number too (vectors 01, 03).
std::optional<int> threads_of_a_core(const Request& request) {
  if (request.threads_per_core) return request.threads_per_core;
  const auto hint = to_lower(request.hint.value_or(""));
  for (const auto word : split(hint, ','))
    if (word == "nomultithread" || word == "compute_bound") return 1;
  return std::nullopt;
}

void add_geometry(SubmitRecord& record, const Request& request, const Geometry& geometry) {
  if (geometry.nodes > 0) {
    record.set_int("nodes", geometry.nodes);
    record.set("tpn", tasks_text(geometry.tasks_per_node));
  }
  if (tasks_were_given(request)) record.set_int("ntasks", geometry.ntasks);
  if (request.tasks_per_node) record.set_int("npn", *request.tasks_per_node);
  if (request.cpus_per_task) record.set_int("cpt", *request.cpus_per_task);
  if (request.overcommit) record.set_int("over", 1);
  if (request.tasks_per_core) record.set_int("npcore", *request.tasks_per_core);
  if (request.tasks_per_socket) record.set_int("npsocket", *request.tasks_per_socket);
  if (const auto threads = threads_of_a_core(request)) record.set_int("tpcore", *threads);
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
  if (request.cpus_per_gpu) record.set_int("cpg", *request.cpus_per_gpu);
  if (request.tasks_per_gpu) record.set_int("tpg", *request.tasks_per_gpu);
}

void add_policy(SubmitRecord& record, const Request& request, const Effective& effective) {
  record.set("name", effective.name);
  if (!effective.partition.empty()) record.set("part", effective.partition);
  set_if(record, "acct", request.account);
  set_if(record, "qos", request.qos);
  set_if(record, "comment", request.comment);
  set_if(record, "hint", request.hint);
  set_if(record, "resv", request.reservation);
  set_if(record, "feat", request.constraint);
  set_if(record, "prefer", request.prefer);
  set_if(record, "lic", request.licenses);
  if (request.nice) record.set_int("nice", *request.nice);
  if (request.begin) record.set_int("begin", *request.begin);
  if (request.mail_types) record.set("mail", slurm::format_mail_types(*request.mail_types));
  if (const auto& dist = request.distribution) {
    const auto size = dist->plane_size > 0 ? "=" + std::to_string(dist->plane_size) : std::string();
    record.set("dist", slurm::format_distribution(*dist) + size);
  }
  if (request.exclusive) record.set_int("excl", 1);
  if (request.memory) {
    static constexpr std::string_view k_per[] = {"node", "cpu", "gpu"};
    record.set_int("mem", static_cast<long long>(request.memory->mebibytes));
    record.set("memper", k_per[static_cast<std::size_t>(request.memory->per)]);
  }
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
  if (!request.dependency.items.empty())
    record.set("dep", slurm::dependency_text(request.dependency));
  if (!effective.unknown_predecessors.empty())
    record.set("depgone", join(effective.unknown_predecessors, ","));
  if (request.deadline) record.set_int("deadline", *request.deadline);
  if (request.minutes_min) record.set_int("timemin", *request.minutes_min);
  record.set("out", effective.output);
  set_if(record, "err", effective.error);
  record.set("in", effective.input);
  const bool append = request.open_mode == slurm::OpenMode::append;
  record.set("openmode", append ? "a" : "t");
  record.set("export", request.export_text.value_or("ALL"));
  record.set_int("requeue", effective.requeue ? 1 : 0);
}

} // namespace

// --get-user-env, also implied by --export without ALL, but not by NIL. Slurm waits two minutes.
std::optional<int> login_timeout(const Request& request) {
  constexpr int k_default_s = 120;
  const bool nil = request.export_text && equals_ignore_case(*request.export_text, "NIL");
  if (request.login_timeout_s && *request.login_timeout_s > 0) return request.login_timeout_s;
  if (request.login_timeout_s || ((!request.exports.all || request.exports.none) && !nil))
    return k_default_s;
  return std::nullopt;
}

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
  record.set("umask", fmt::format("{:o}", situation.umask));
  if (const auto seconds = login_timeout(request)) record.set_int("login", *seconds);
  record.set("sdir", situation.directory);
  if (situation.chdir_is_missing) record.set("wd", effective.directory);
  record.set("shost", situation.host);
  if (!script.name.empty()) record.set("script", script.path.empty() ? script.name : script.path);
  if (!script.command.empty()) {
    auto words = situation.arguments;
    words.insert(words.begin(), script.command);
    record.set("cmd", join(words, " "));
  }
  return record;
}

} // namespace shim::submit
