#include "fields.h"

#include "field_table.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/memory.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/slurm/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace shim::commands::squeue {

namespace {

using queue::Job;

std::string or_na(std::string text) {
  return text.empty() ? "N/A" : std::move(text);
}

std::string number_or_na(std::optional<std::uint32_t> number) {
  return number ? std::to_string(*number) : "N/A";
}

std::string time_or_na(std::int64_t when, const Setting& at) {
  return when > 0 ? slurm::format_date_time(when, at.time_format, at.now) : "N/A";
}

std::string time_left(const Job& job, std::int64_t now) {
  if (job.limit_min == slurm::k_unlimited_minutes) return "UNLIMITED";
  const auto left = std::int64_t{job.limit_min} * 60 - seconds_used(job, now);
  return left < 0 ? "INVALID" : slurm::format_duration_short(left);
}

// When the job may be looked at by the scheduler; 0 while it is held.
std::int64_t eligible(const Job& job) {
  return job.held() ? 0 : std::max(job.begin, job.submit);
}

std::string pending_seconds(const Job& job, std::int64_t now) {
  if (job.submit == 0) return "0";
  const auto until = job.start > 0 ? job.start : now;
  return std::to_string(std::max<std::int64_t>(0, until - job.submit));
}

// Where the reason says more than the hosts.
bool shows_reason(const Job& job) {
  using slurm::JobState;
  switch (job.state) {
  case JobState::pending:
  case JobState::timeout:
  case JobState::out_of_memory:
  case JobState::deadline:
  case JobState::failed: return true;
  default: return false;
  }
}

std::string value_of(Value value, const Job& job, const Setting& at) {
  switch (value) {
  case Value::constant: return "";
  case Value::account: return slurm::or_null(job.account);
  case Value::accrue_time:
  case Value::eligible_time: return time_or_na(eligible(job), at);
  case Value::alloc_node: return slurm::or_null(job.submit_host);
  case Value::array_job_id: return std::to_string(job.job);
  case Value::array_task_id: return queue::display_index(job, at.array_width);
  case Value::batch_host: return job.hosts.empty() ? "n/a" : job.hosts.front();
  case Value::cluster: return at.cluster;
  case Value::command: return slurm::or_null(job.command);
  case Value::comment: return slurm::or_null(job.comment);
  case Value::cpus: return std::to_string(job.cpus);
  case Value::cpus_per_task: return std::to_string(job.cpus_per_task);
  case Value::dependency: return slurm::or_null(job.dependency);
  case Value::end_time: return time_or_na(end_of(job), at);
  case Value::excluded_nodes: return job.excluded_hosts;
  case Value::exit_status: return std::to_string(job.exit_code * 256 + job.exit_signal);
  case Value::features: return slurm::or_null(job.asked("feat"));
  case Value::group_id: return number_or_na(job.gid);
  case Value::group_name: return slurm::or_null(job.group);
  case Value::job_array_id: return queue::display_id(job, at.array_width);
  case Value::job_id: return std::to_string(job.id);
  case Value::last_evaluation: return time_or_na(job.start > 0 ? job.start : job.submit, at);
  case Value::licenses: return slurm::or_null(job.asked("lic"));
  case Value::memory: return memory_of(job);
  case Value::name: return job.name;
  case Value::nice: return job.asked("nice").empty() ? "0" : job.asked("nice");
  case Value::node_list: return slurm::compress_hostlist(job.hosts);
  case Value::nodes: return std::to_string(job.nodes);
  case Value::over_subscribe: return job.asked("excl") == "1" ? "NO" : "OK";
  case Value::partition: return job.partition;
  case Value::pending_time: return pending_seconds(job, at.now);
  case Value::priority: return fmt::format("{:.14f}", job.priority);
  case Value::priority_long: return std::to_string(priority_number(job));
  case Value::qos: return job.asked("qos").empty() ? "normal" : job.asked("qos");
  case Value::reason: return job.reason;
  case Value::reason_list:
    return shows_reason(job) ? "(" + job.reason + ")" : slurm::compress_hostlist(job.hosts);
  case Value::requeue: return job.requeue ? "1" : "0";
  case Value::required_nodes: return job.requested_hosts;
  case Value::reservation: return slurm::or_null(job.asked("resv"));
  case Value::restarts: return std::to_string(job.restarts);
  case Value::start_time: return time_or_na(start_of(job, at.now), at);
  case Value::state: return std::string(slurm::long_name(job.state));
  case Value::state_compact: return std::string(slurm::short_name(job.state));
  case Value::std_err: return file_of(job, job.error);
  case Value::std_in: return job.input;
  case Value::std_out: return file_of(job, job.output);
  case Value::submit_time: return time_or_na(job.submit, at);
  case Value::tasks: return std::to_string(job.ntasks);
  case Value::tasks_per_node: return std::to_string(job.tasks_per_node);
  case Value::time_left: return time_left(job, at.now);
  case Value::time_limit: return slurm::format_time_limit_short(job.limit_min);
  case Value::time_used: return slurm::format_duration_short(seconds_used(job, at.now));
  case Value::tres_alloc: return tres_of(job);
  case Value::tres_per_job: return or_na(gpus_asked(job, "gpus"));
  case Value::tres_per_node: return or_na(gres_per_node(job));
  case Value::tres_per_task: return or_na(gpus_asked(job, "gpt"));
  case Value::user_id: return number_or_na(job.uid);
  case Value::user_name: return job.user;
  case Value::work_dir: return slurm::or_null(job.work_dir);
  }
  return "";
}

} // namespace

const Field* find_field(char letter) {
  if (letter == 0) return nullptr;
  const auto* it = std::ranges::find(k_fields, letter, &Field::letter);
  return it == std::end(k_fields) ? nullptr : it;
}

const Field* find_field(std::string_view name) {
  if (name.empty()) return nullptr;
  const auto* it = std::ranges::find_if(
      k_fields, [&](const Field& field) { return equals_ignore_case(field.name, name); });
  return it == std::end(k_fields) ? nullptr : it;
}

void append_value(const Field& field, const Job& job, const Setting& setting, std::string& out) {
  if (field.value == Value::constant)
    out += field.text;
  else
    out += value_of(field.value, job, setting);
}

bool needs_facts(const Field& field) {
  switch (field.value) {
  case Value::account:
  case Value::command:
  case Value::comment:
  case Value::cpus_per_task:
  case Value::dependency:
  case Value::excluded_nodes:
  case Value::features:
  case Value::group_id:
  case Value::group_name:
  case Value::licenses:
  case Value::nice:
  case Value::over_subscribe:
  case Value::qos:
  case Value::requeue:
  case Value::required_nodes:
  case Value::reservation:
  case Value::std_err:
  case Value::std_in:
  case Value::std_out:
  case Value::submit_time:
  case Value::accrue_time:
  case Value::eligible_time:
  case Value::pending_time:
  case Value::tasks:
  case Value::tasks_per_node:
  case Value::tres_per_job:
  case Value::tres_per_task:
  case Value::user_id:
  case Value::work_dir: return true;
  default: return false;
  }
}

bool keeps_whole_value(const Field& field) {
  return field.value == Value::time_left || field.value == Value::time_used ||
         field.value == Value::time_limit || keeps_whole_header(field);
}

bool keeps_whole_header(const Field& field) {
  return field.value == Value::node_list || field.value == Value::reason_list;
}

} // namespace shim::commands::squeue
