#include "update.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/date_time.h"
#include "slurm_shim/ge/qsub.h"
#include "slurm_shim/slurm/array_spec.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/numbers.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/submit/schedule.h"

#include <algorithm>
#include <array>
#include <ctime>

namespace shim::commands::scontrol {

namespace {

using slurm::DependencyType;

constexpr std::string_view k_context_safe = "._:;+-"; // what -ac takes as it is
constexpr int k_nice_offset = 200; // less is noise beside the engine's other weights
constexpr int k_lowest_priority = -1023;

struct Work {
  const Subject& subject;
  JobChange change{};

  void arg(std::string option, std::string value) {
    change.args.push_back(std::move(option));
    change.args.push_back(std::move(value));
  }
};

tl::unexpected<Error> refuse(std::string text) {
  return fail(ErrorKind::refused, std::move(text));
}

std::int64_t seconds_of(std::string_view text) {
  std::int64_t seconds = 0;
  for (const auto part : split(text, ':'))
    seconds = seconds * 60 + parse_int<std::int64_t>(part).value_or(0);
  return seconds;
}

// -l replaces the whole list: what the job had asked for otherwise is repeated.
Result<void> set_limit(Work& work, const std::string& value) {
  std::int64_t present = 0;
  std::vector<std::string> requests;
  for (const auto& [name, request] : work.subject.job.requests) {
    if (name == "h_rt")
      present = seconds_of(request);
    else
      requests.push_back(name + "=" + request);
  }
  const bool relative = value.starts_with('+') || value.starts_with('-');
  const auto minutes = slurm::parse_time_limit(relative ? value.substr(1) : value);
  if (!minutes) return refuse("Invalid TimeLimit value");
  const auto unlimited = *minutes == slurm::k_unlimited_minutes;
  auto seconds = unlimited ? 0 : std::int64_t{*minutes} * 60;
  if (relative) seconds = value.front() == '+' ? present + seconds : present - seconds;
  if (relative && (unlimited || seconds <= 0)) return refuse("Invalid TimeLimit value");
  if (seconds > 0) requests.push_back("h_rt=" + std::to_string(seconds));
  work.arg("-l", join(requests, ","));
  work.change.record["time"] = seconds > 0 ? std::to_string((seconds + 59) / 60) : "";
  return {};
}

Result<void> set_name(Work& work, const std::string& value) {
  const auto name = ge::sanitize_job_name(value);
  work.arg("-N", name);
  if (name != value) work.arg("-ac", "SLURM_NAME=" + percent_encode(value, k_context_safe));
  work.change.record["name"] = value;
  return {};
}

Result<void> set_partition(Work& work, const std::string& value) {
  const auto* partition = work.subject.config.find_partition(value);
  if (partition == nullptr) return refuse("Invalid partition name specified");
  if (!partition->queue.empty()) work.arg("-q", partition->queue);
  work.change.record["part"] = value;
  return {};
}

bool is_judged(const slurm::Dependency& item) {
  return item.type == DependencyType::after_ok || item.type == DependencyType::after_not_ok ||
         item.type == DependencyType::after_corr;
}

std::optional<slurm::ArraySpec> array_of(const std::optional<records::SubmitRecord>& record) {
  const auto text = record ? record->get_or("array", "") : std::string();
  if (text.empty()) return std::nullopt;
  auto spec = slurm::parse_array_spec(text, UINT32_MAX);
  return spec ? std::move(*spec) : std::nullopt;
}

// The user's jobs of the same name that were there before.
std::vector<std::string> elder_namesakes(const Subject& subject) {
  std::vector<std::string> jobs;
  for (const auto& [job, name] : subject.engine.own_jobs)
    if (name == subject.job.name && job < subject.job.job) jobs.push_back(std::to_string(job));
  return jobs;
}

// The engine's hold waits for ends; how they must have ended is judged where the job starts, from
// the record.
Result<void> set_dependency(Work& work, const std::string& value) {
  auto list = slurm::parse_dependency(value);
  if (!list) return refuse("Job dependency problem");
  const auto& subject = work.subject;
  const auto own = [&](const slurm::Dependency& item) {
    return item.type != DependencyType::singleton &&
           slurm::decode_job_id(item.job).job == subject.job.job;
  };
  if (std::ranges::any_of(list->items, own)) return refuse("Job dependency problem");
  if (list->any && list->items.size() > 1)
    return refuse("Dependency=" + value +
                  ": jobs joined by '?' cannot be waited for, not supported by slurm-shim");
  if (std::ranges::any_of(list->items, is_judged) && !subject.record)
    return refuse("Dependency=" + value +
                  ": only the ends of jobs can be waited for by a job that you did not submit by "
                  "sbatch, not supported by slurm-shim");
  work.change.record["dep"] = slurm::dependency_text(*list);
  submit::Request request;
  request.array = array_of(subject.record);
  std::vector<std::string> jobs;
  for (const auto& item : list->items)
    if (item.type == DependencyType::singleton)
      jobs = elder_namesakes(subject);
    else
      request.dependency.items.push_back(item);
  const auto plan = submit::plan_schedule(request,
                                          subject.config,
                                          config::Partition{},
                                          subject.engine,
                                          subject.job.name,
                                          static_cast<std::time_t>(subject.now));
  if (!plan) return refuse("Job dependency problem");
  jobs.insert(jobs.end(), plan->hold_jobs.begin(), plan->hold_jobs.end());
  constexpr std::string_view k_none = " "; // an empty word is refused by 8.1.9
  work.arg("-hold_jid", jobs.empty() ? std::string(k_none) : join(jobs, ","));
  if (!plan->hold_array_jobs.empty())
    work.arg("-hold_jid_ad", join(plan->hold_array_jobs, ","));
  else if (subject.job.array)
    work.arg("-hold_jid_ad", std::string(k_none));
  if (plan->begin) work.arg("-a", ge::date_time_argument(*plan->begin));
  work.change.record["depgone"] = join(plan->unknown, ",");
  work.change.warnings.insert(
      work.change.warnings.end(), plan->warnings.begin(), plan->warnings.end());
  return {};
}

Result<void> set_nice(Work& work, const std::string& value) {
  const auto nice = parse_int<int>(value);
  if (!nice) return refuse("Invalid nice value, must be between -2147483645 and 2147483645");
  if (*nice < 0) return refuse("Access/permission denied");
  work.arg("-p",
           std::to_string(*nice == 0
                              ? 0
                              : std::max(-k_nice_offset - std::min(*nice, -k_lowest_priority),
                                         k_lowest_priority)));
  work.change.record["nice"] = value;
  return {};
}

Result<void> set_priority(Work& work, const std::string& value) {
  if (value != "0") {
    const bool held = work.subject.job.user_hold || work.subject.job.system_hold ||
                      work.subject.job.operator_hold;
    return refuse(held ? "Job is in held state, pending scheduler release"
                       : "Priority=" + value + ": not supported by slurm-shim (use Nice)");
  }
  work.change.hold = true;
  return {};
}

Result<void> set_throttle(Work& work, const std::string& value) {
  const auto count = parse_int<std::uint32_t>(value);
  if (!count) return refuse("Invalid ArrayTaskThrottle value");
  const auto array = array_of(work.subject.record);
  if (!work.subject.job.array && !array)
    return refuse("Requested operation not supported on this system");
  work.arg("-tc", value);
  if (array) work.change.record["array"] = slurm::format_array_indices(array->indices, *count);
  return {};
}

Result<void> set_comment(Work& work, const std::string& value) {
  work.arg("-ac", "SLURM_COMMENT=" + percent_encode(value, k_context_safe));
  work.change.record["comment"] = value;
  return {};
}

Result<void> set_start(Work& work, const std::string& value) {
  const auto when = slurm::parse_date_time(value, static_cast<std::time_t>(work.subject.now));
  if (!when) return refuse(when.error().message);
  work.arg("-a", ge::date_time_argument(*when));
  work.change.record["begin"] = std::to_string(*when);
  return {};
}

Result<void> set_requeue(Work& work, const std::string& value) {
  if (value != "0" && value != "1") return refuse("Invalid Requeue value");
  work.arg("-r", value == "1" ? "y" : "n");
  work.change.record["requeue"] = value;
  return {};
}

Result<void> set_account(Work& work, const std::string& value) {
  work.arg("-A", ge::sanitize_account(value));
  work.change.record["acct"] = value;
  return {};
}

struct Setter {
  std::string_view name;
  Result<void> (*set)(Work&, const std::string&);
};
constexpr std::array k_setters{
    Setter{"account", set_account},
    Setter{"arraytaskthrottle", set_throttle},
    Setter{"comment", set_comment},
    Setter{"dependency", set_dependency},
    Setter{"jobname", set_name},
    Setter{"name", set_name},
    Setter{"nice", set_nice},
    Setter{"partition", set_partition},
    Setter{"priority", set_priority},
    Setter{"requeue", set_requeue},
    Setter{"starttime", set_start},
    Setter{"timelimit", set_limit},
};

} // namespace

std::vector<Key> parse_keys(std::span<const std::string> words) {
  std::vector<Key> keys;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    const auto equals = word.find('=');
    Key key{to_lower(word.substr(0, equals)),
            equals == std::string::npos ? "" : word.substr(equals + 1),
            word};
    if (keys.empty() && equals == std::string::npos && i + 1 < words.size()) {
      key.value = words[++i];
      key.written += "=" + key.value;
    }
    // Quotes that a shell has not taken away.
    if (key.value.size() >= 2 && key.value.front() == '"' && key.value.back() == '"')
      key.value = key.value.substr(1, key.value.size() - 2);
    keys.push_back(std::move(key));
  }
  return keys;
}

bool is_known(std::string_view name) {
  return std::ranges::find(k_setters, name, &Setter::name) != k_setters.end();
}

Result<slurm::DependencyList> asked_dependency(Keys keys) {
  const auto it = std::ranges::find(keys, std::string_view("dependency"), &Key::name);
  if (it == keys.end()) return slurm::DependencyList{};
  auto list = slurm::parse_dependency(it->value);
  if (!list) return refuse("Job dependency problem");
  return list;
}

Result<JobChange> translate(const Subject& subject, Keys keys) {
  Work work{subject};
  for (const auto& key : keys) {
    const auto it = std::ranges::find(k_setters, std::string_view(key.name), &Setter::name);
    if (it == k_setters.end())
      return refuse("Update of this parameter is not supported: " + key.written);
    TRY(it->set(work, key.value));
  }
  return std::move(work.change);
}

} // namespace shim::commands::scontrol
