#include "request.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/scancel.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/signals.h"

#include <algorithm>
#include <csignal>

namespace shim::commands::scancel {

namespace {

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> words;
  for (const auto word : split(text, ','))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

Result<std::vector<slurm::JobRef>> jobs_of(const std::vector<std::string>& words) {
  std::vector<slurm::JobRef> refs;
  for (const auto& word : words)
    for (const auto& id : queue::split_ids(word)) {
      TRY_ASSIGN(auto ref, slurm::parse_job_id(id));
      // Steps go by number: the script is reached by --batch.
      if (!ref.step.empty() && !is_digits(ref.step))
        return fail(ErrorKind::usage, "Invalid job id " + id, slurm::k_exit_failure);
      refs.push_back(std::move(ref));
    }
  return refs;
}

bool allows(const std::vector<std::string>& list, const std::string& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

} // namespace

bool Request::ends_job() const {
  // --full overrides --batch, which chooses among the receivers of a signal that was named.
  return !signal || (*signal == SIGKILL && (full || !batch));
}

Result<Request> make_request(const cli::Parsed& parsed, const EnvList& env) {
  const auto value = [&](std::string_view name) {
    return cli::value_of(parsed, scancel_options(), env, name);
  };
  const auto is_set = [&](std::string_view name) {
    return parsed.has(name) || !value(name).empty();
  };
  Request request;
  if (const auto text = value("signal"); !text.empty() || parsed.has("signal")) {
    request.signal = slurm::signal_number(text);
    if (!request.signal) return fail(ErrorKind::malformed, "Unknown job signal: " + text);
  }
  TRY_ASSIGN(request.jobs, jobs_of(parsed.rest));
  for (const auto& word : list_of(value("state"))) {
    const auto state = slurm::parse_job_state(word);
    if (!state) return fail(ErrorKind::usage, "Invalid job state: " + word);
    request.states.push_back(*state);
  }
  if (const auto text = value("nodelist"); !text.empty()) {
    TRY_ASSIGN(request.hosts, slurm::slurm_expand_hostlist(text));
  }
  request.users = list_of(value("user"));
  request.names = list_of(value("jobname"));
  request.partitions = list_of(value("partition"));
  request.accounts = list_of(value("account"));
  request.qos = list_of(value("qos"));
  request.reservations = list_of(value("reservation"));
  request.wckeys = list_of(value("wckey"));
  request.me = parsed.has("me");
  request.full = is_set("full");
  request.batch = !request.full && is_set("batch");
  request.interactive = is_set("interactive");
  request.quiet = parsed.has("quiet");
  request.verbose = is_set("verbose");
  if (request.jobs.empty() && !request.has_filter())
    return fail(ErrorKind::usage, "No job identification provided");
  return request;
}

bool keeps(const Request& request, const queue::Job& job) {
  const bool on_host =
      request.hosts.empty() || std::ranges::any_of(job.hosts, [&](const std::string& host) {
        return allows(request.hosts, host) || allows(request.hosts, host.substr(0, host.find('.')));
      });
  const auto qos = job.asked("qos");
  const auto partitions = split(job.partition, ',');
  const bool in_partition = std::ranges::any_of(partitions, [&](std::string_view name) {
    return allows(request.partitions, std::string(name));
  });
  // No job has a wckey.
  return on_host && in_partition && request.wckeys.empty() && allows(request.users, job.user) &&
         allows(request.names, job.name) && allows(request.accounts, job.account) &&
         allows(request.qos, qos.empty() ? "normal" : qos) &&
         allows(request.reservations, job.asked("resv")) &&
         (request.states.empty() ||
          std::ranges::find(request.states, job.state) != request.states.end());
}

} // namespace shim::commands::scancel
