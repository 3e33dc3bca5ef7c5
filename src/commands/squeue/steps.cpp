#include "steps.h"

#include "fields.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/time_limit.h"

#include <algorithm>
#include <compare>
#include <tuple>

namespace shim::commands::squeue {

namespace {

using queue::Step;

constexpr StepField k_step_fields[] = {
    {'A', "NumTasks", "TASKS", StepValue::tasks, ""},
    {'b', "tres-per-node", "TRES_PER_NODE", StepValue::constant, "N/A"},
    {'i', "StepID", "STEPID", StepValue::id, ""},
    {'j', "StepName", "NAME", StepValue::name, ""},
    {'l', "TimeLimit", "TIME_LIMIT", StepValue::time_limit, ""},
    {'M', "TimeUsed", "TIME", StepValue::time_used, ""},
    {'N', "Nodes", "NODELIST", StepValue::node_list, ""},
    {'P', "Partition", "PARTITION", StepValue::partition, ""},
    {'S', "StartTime", "START_TIME", StepValue::start_time, ""},
    {'T', "StepState", "STATE", StepValue::state, ""},
    {'U', "UserID", "UID", StepValue::user_id, ""},
    {'u', "UserName", "USER", StepValue::user_name, ""},
    {0, "ArrayJobID", "ARRAY_JOB_ID", StepValue::array_job_id, ""},
    {0, "JobID", "JOBID", StepValue::job_id, ""},
    {0, "NumNodes", "NODES", StepValue::nodes, ""},
    {0, "ResvPort", "RESV_PORTS", StepValue::constant, "N/A"},
};

std::string value_of(StepValue value, const Step& step, const Setting& at) {
  switch (value) {
  case StepValue::constant: return "";
  case StepValue::array_job_id: return std::to_string(step.job);
  case StepValue::id: return step.display_id();
  case StepValue::job_id: return std::to_string(step.id);
  case StepValue::name: return step.name;
  case StepValue::node_list: return step.hosts;
  case StepValue::nodes: return std::to_string(step.nodes);
  case StepValue::partition: return step.partition;
  case StepValue::start_time:
    return step.start > 0 ? slurm::format_date_time(step.start, at.time_format, at.now) : "N/A";
  case StepValue::state: return std::string(slurm::long_name(step.state));
  case StepValue::tasks: return std::to_string(step.tasks);
  case StepValue::time_limit: return slurm::format_time_limit_short(step.limit_min);
  case StepValue::time_used:
    return slurm::format_duration_short(
        step.start > 0 ? std::max<std::int64_t>(0, at.now - step.start) : 0);
  case StepValue::user_id: return "N/A";
  case StepValue::user_name: return step.user;
  }
  return "";
}

// Numbered steps before the batch script.
auto place(const Step& step) {
  const auto number = parse_int<int>(step.step);
  return std::tuple(step.job, step.id, !number, number.value_or(0), std::string_view(step.step));
}

std::strong_ordering compare(char key, const Step& a, const Step& b) {
  switch (key) {
  case 'i': return place(a) <=> place(b);
  case 'j': return a.name <=> b.name;
  case 'M': return b.start <=> a.start;
  case 'N': return a.hosts <=> b.hosts;
  case 'P': return a.partition <=> b.partition;
  case 'S': return a.start <=> b.start;
  case 'A': return a.tasks <=> b.tasks;
  case 'u': return a.user <=> b.user;
  default: return std::strong_ordering::equal;
  }
}

} // namespace

const StepField* find_step_field(char letter) {
  if (letter == 0) return nullptr;
  const auto* it = std::ranges::find(k_step_fields, letter, &StepField::letter);
  return it == std::end(k_step_fields) ? nullptr : it;
}

const StepField* find_step_field(std::string_view name) {
  const auto* it = std::ranges::find_if(
      k_step_fields, [&](const StepField& field) { return equals_ignore_case(field.name, name); });
  return it == std::end(k_step_fields) ? nullptr : it;
}

void append_value(const StepField& field,
                  const Step& step,
                  const Setting& setting,
                  std::string& out) {
  if (field.value == StepValue::constant)
    out += field.text;
  else
    out += value_of(field.value, step, setting);
}

bool keeps_whole_value(const StepField& field) {
  return field.value == StepValue::time_used || field.value == StepValue::node_list ||
         field.value == StepValue::time_limit;
}

void sort_steps(std::vector<Step>& steps, std::string_view keys) {
  const auto parts = split(keys, ',');
  std::ranges::stable_sort(steps, [&](const Step& a, const Step& b) {
    for (auto part : parts) {
      const bool descending = part.starts_with('-');
      if (descending || part.starts_with('+')) part.remove_prefix(1);
      if (part.empty()) continue;
      const auto order = compare(part.front(), a, b);
      if (std::is_neq(order)) return descending ? std::is_gt(order) : std::is_lt(order);
    }
    return place(a) < place(b);
  });
}

} // namespace shim::commands::squeue
