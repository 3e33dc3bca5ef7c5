#include "request.h"

#include "columns.h"
#include "order.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/squeue.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>

namespace shim::commands::squeue {

namespace {

std::string value_of(const cli::Parsed& parsed, const EnvList& env, std::string_view option) {
  return cli::value_of(parsed, squeue_options(), env, option);
}

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> words;
  for (const auto word : split(text, ','))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

Result<std::vector<slurm::JobRef>> jobs_of(std::string_view text) {
  std::vector<slurm::JobRef> refs;
  if (text.empty()) return refs;
  for (const auto& word : queue::split_ids(text)) {
    auto ref = slurm::parse_job_id(word);
    if (!ref) return fail(ErrorKind::usage, "Invalid job id: " + word);
    refs.push_back(std::move(*ref));
  }
  return refs;
}

Result<std::vector<slurm::JobState>> states_of(std::string_view text) {
  std::vector<slurm::JobState> states;
  for (const auto& word : list_of(text)) {
    if (equals_ignore_case(word, "all")) return std::vector<slurm::JobState>{};
    const auto state = slurm::parse_job_state(word);
    if (!state)
      return fail(ErrorKind::usage,
                  "Invalid job state specified: " + word + "\nValid job states include: " +
                      "PENDING,RUNNING,SUSPENDED,COMPLETED,CANCELLED,FAILED,TIMEOUT,NODE_FAIL,"
                      "PREEMPTED,BOOT_FAIL,DEADLINE,OUT_OF_MEMORY,COMPLETING,CONFIGURING,RESIZING,"
                      "RESV_DEL_HOLD,REQUEUED,REQUEUE_FED,REQUEUE_HOLD,REVOKED,SIGNALING,"
                      "SPECIAL_EXIT,STAGE_OUT,STOPPED\n");
    states.push_back(*state);
  }
  return states;
}

template <class Value> bool allows(const std::vector<Value>& list, const auto& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

bool on_host(const std::vector<std::string>& wanted, const queue::Job& job) {
  return wanted.empty() || std::ranges::any_of(job.hosts, [&](const std::string& host) {
           return std::ranges::any_of(wanted, [&](const std::string& name) {
             return name == host || name == host.substr(0, host.find('.'));
           });
         });
}

} // namespace

Result<Request> make_request(const cli::Parsed& parsed, const EnvList& env) {
  Request request;
  TRY_ASSIGN(request.jobs, jobs_of(value_of(parsed, env, "jobs")));
  TRY_ASSIGN(request.states, states_of(value_of(parsed, env, "states")));
  request.users = list_of(value_of(parsed, env, "user"));
  request.names = list_of(value_of(parsed, env, "name"));
  request.partitions = list_of(value_of(parsed, env, "partition"));
  request.accounts = list_of(value_of(parsed, env, "account"));
  if (const auto* given = parsed.last("nodelist")) {
    auto hosts = slurm::slurm_expand_hostlist(given->value.value_or(""));
    if (!hosts) return fail(ErrorKind::usage, hosts.error().message);
    request.hosts = std::move(*hosts);
  }
  request.me = parsed.has("me");
  request.header = !parsed.has("noheader");
  request.long_form = parsed.has("long");
  request.split_arrays = parsed.has("array") || env.has("SQUEUE_ARRAY");
  request.format = std::string(request.long_form ? k_long_format : k_default_format);
  if (parsed.has("format") || (!request.long_form && env.has("SQUEUE_FORMAT")))
    request.format = value_of(parsed, env, "format");
  request.sort = value_of(parsed, env, "sort");
  if (request.sort.empty()) request.sort = k_default_sort;
  return request;
}

bool keeps(const Request& request, const queue::Job& job) {
  if (!request.jobs.empty() &&
      std::ranges::none_of(request.jobs, [&](const auto& ref) { return queue::matches(ref, job); }))
    return false;
  return allows(request.states, job.state) && allows(request.names, job.name) &&
         allows(request.partitions, job.partition) && allows(request.accounts, job.account) &&
         on_host(request.hosts, job);
}

} // namespace shim::commands::squeue
