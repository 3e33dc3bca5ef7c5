#include "request.h"

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

// Any of the names in a list of names.
bool allows_any(const std::vector<std::string>& wanted, std::string_view names) {
  if (wanted.empty()) return true;
  const auto parts = split(names, ',');
  return std::ranges::any_of(parts, [&](std::string_view name) {
    return std::ranges::find(wanted, name) != wanted.end();
  });
}

// Licenses are written "matlab:2,ansys".
bool uses_license(const std::vector<std::string>& wanted, const queue::Job& job) {
  if (wanted.empty()) return true;
  const auto asked = job.asked("lic");
  const auto parts = split(asked, ',');
  return std::ranges::any_of(parts, [&](std::string_view license) {
    return std::ranges::find(wanted, license.substr(0, license.find(':'))) != wanted.end();
  });
}

bool on_host(const std::vector<std::string>& wanted, const queue::Job& job) {
  return wanted.empty() || std::ranges::any_of(job.hosts, [&](const std::string& host) {
           return std::ranges::any_of(wanted, [&](const std::string& name) {
             return name == host || name == host.substr(0, host.find('.'));
           });
         });
}

// What the words on the command line ask for, else the variables: -O wins over -o as it does in
// Slurm, and -l over the variables.
void choose_format(const cli::Parsed& parsed, const EnvList& env, Request& request) {
  const auto rows = request.steps ? Rows::steps : Rows::jobs;
  if (const auto* given = parsed.last("Format"))
    request.format = parse_long_format(given->value.value_or(""), rows);
  else if (const auto* letters = parsed.last("format"))
    request.format = parse_format(letters->value.value_or(""), rows);
  else if (request.steps)
    request.format = parse_format(k_step_format, rows);
  else if (request.start)
    request.format = parse_format(k_start_format);
  else if (request.long_form)
    request.format = parse_format(k_long_format);
  else if (env.has("SQUEUE_FORMAT"))
    request.format = parse_format(env.get_or("SQUEUE_FORMAT", ""));
  else if (env.has("SQUEUE_FORMAT2"))
    request.format = parse_long_format(env.get_or("SQUEUE_FORMAT2", ""));
  else
    request.format = parse_format(k_default_format);
}

Result<int> seconds_of(const cli::Parsed& parsed) {
  const auto* given = parsed.last("iterate");
  if (given == nullptr) return 0;
  const auto text = given->value.value_or("");
  const auto seconds = parse_int<int>(text);
  if (!seconds || *seconds <= 0) return fail(ErrorKind::usage, "--iterate=" + text + "\n");
  return *seconds;
}

// "7.0", "7_3.batch", "7".
Result<std::vector<slurm::JobRef>> steps_of(std::string_view text) {
  std::vector<slurm::JobRef> refs;
  if (text.empty()) return refs;
  for (const auto& word : queue::split_ids(text)) {
    auto ref = slurm::parse_job_id(word);
    if (!ref) return fail(ErrorKind::usage, "Invalid job_step id: " + word);
    refs.push_back(std::move(*ref));
  }
  return refs;
}

Result<void> read_filters(const cli::Parsed& parsed, const EnvList& env, Request& request) {
  TRY_ASSIGN(request.jobs, jobs_of(value_of(parsed, env, "jobs")));
  const auto states = value_of(parsed, env, "states");
  TRY_ASSIGN(request.states, states_of(states));
  request.every_state = !states.empty() && request.states.empty();
  request.users = list_of(value_of(parsed, env, "user"));
  request.names = list_of(value_of(parsed, env, "name"));
  request.partitions = list_of(value_of(parsed, env, "partition"));
  request.accounts = list_of(value_of(parsed, env, "account"));
  request.qos = list_of(value_of(parsed, env, "qos"));
  request.licenses = list_of(value_of(parsed, env, "licenses"));
  request.reservations = list_of(value_of(parsed, env, "reservation"));
  if (const auto* given = parsed.last("nodelist")) {
    auto hosts = slurm::slurm_expand_hostlist(given->value.value_or(""));
    if (!hosts) return fail(ErrorKind::usage, hosts.error().message);
    request.hosts = std::move(*hosts);
  }
  request.me = parsed.has("me");
  return {};
}

} // namespace

bool Request::wants_ended() const {
  return every_state || std::ranges::any_of(states, [](auto state) { return !is_live(state); });
}

Result<Request> make_request(const cli::Parsed& parsed, const EnvList& env) {
  Request request;
  TRY_ASSIGN(request.iterate_s, seconds_of(parsed));
  TRY(read_filters(parsed, env, request));
  if (const auto* given = parsed.last("steps")) {
    request.steps = true;
    TRY_ASSIGN(request.step_refs, steps_of(given->value.value_or("")));
  }
  request.header = !parsed.has("noheader");
  request.long_form = parsed.has("long");
  request.start = parsed.has("start");
  request.split_arrays = parsed.has("array") || env.has("SQUEUE_ARRAY");
  request.split_partitions = parsed.has("priority") || env.has("SQUEUE_PRIORITY");
  if (parsed.has("json")) request.output = Output::json;
  if (parsed.has("yaml")) request.output = Output::yaml;
  request.time_format = env.get_or("SLURM_TIME_FORMAT", "");
  choose_format(parsed, env, request);
  request.sort = value_of(parsed, env, "sort");
  if (request.sort.empty())
    request.sort = request.steps   ? k_default_step_sort
                   : request.start ? k_start_sort
                                   : k_default_sort;
  return request;
}

bool keeps(const Request& request, const queue::Job& job) {
  if (!request.jobs.empty() &&
      std::ranges::none_of(request.jobs, [&](const auto& ref) { return queue::matches(ref, job); }))
    return false;
  if (request.start && !job.pending()) return false;
  const bool state_fits = request.states.empty() ? request.every_state || slurm::is_live(job.state)
                                                 : allows(request.states, job.state);
  const auto qos = job.asked("qos");
  return state_fits && allows(request.names, job.name) &&
         allows_any(request.partitions, job.partition) && allows(request.accounts, job.account) &&
         allows(request.qos, qos.empty() ? "normal" : qos) && uses_license(request.licenses, job) &&
         allows(request.reservations, job.asked("resv")) && on_host(request.hosts, job);
}

bool keeps(const Request& request, const queue::Step& step) {
  return request.step_refs.empty() ||
         std::ranges::any_of(request.step_refs, [&](const slurm::JobRef& ref) {
           if (ref.job != step.job || (!ref.step.empty() && ref.step != step.step)) return false;
           if (ref.element) return step.id == slurm::element_job_id(step.job, *ref.element);
           return ref.indices.empty() || std::ranges::any_of(ref.indices, [&](auto index) {
                    return step.job_id == std::to_string(step.job) + "_" + std::to_string(index);
                  });
         });
}

} // namespace shim::commands::squeue
