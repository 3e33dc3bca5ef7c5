#include "slurm_shim/queue/targets.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/cell.h"
#include "slurm_shim/records/mailbox.h"

namespace shim::queue {

Result<void> check_clusters(std::string_view names, const EnvList& env) {
  const auto own = ge::cluster_name(env);
  for (const auto name : split(names, ','))
    if (!name.empty() && name != "all" && name != own)
      return fail(ErrorKind::not_found,
                  "'" + std::string(name) +
                      "' can't be reached now, or it is an invalid entry for --cluster.  Use "
                      "'sacctmgr list clusters' to see available clusters.");
  return {};
}

std::vector<std::string> split_ids(std::string_view word) {
  std::vector<std::string> ids{""};
  bool bracket = false;
  for (const char c : word) {
    if (c == '[') bracket = true;
    if (c == ']') bracket = false;
    if (c == ',' && !bracket)
      ids.emplace_back();
    else
      ids.back() += c;
  }
  return ids;
}

std::vector<std::string> engine_names(const Job& job) {
  const auto number = std::to_string(job.job);
  if (job.tasks.empty()) return {number};
  std::vector<std::string> names;
  for (const auto task : job.tasks)
    names.push_back(number + "." + std::to_string(task));
  return names;
}

records::JobKey record_key(const Job& job) {
  records::JobKey key{static_cast<std::int64_t>(job.job), std::nullopt};
  if (!job.tasks.empty()) key.task = job.tasks.front();
  return key;
}

Result<void> ask_supervisor(const records::StatePaths& state,
                            const records::JobKey& key,
                            std::string_view verb,
                            const std::vector<std::string>& args,
                            posix::Clock& clock) {
  TRY_ASSIGN(const auto id, records::post_request(state, key, verb, args));
  TRY_ASSIGN(const auto answer, records::await_answer(state, key, id, clock));
  if (answer.rc != 0) return fail(ErrorKind::refused, answer.text);
  return {};
}

} // namespace shim::queue
