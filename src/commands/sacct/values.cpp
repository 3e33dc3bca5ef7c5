#include "values.h"

#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/time_limit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace shim::commands::sacct {

namespace {

using slurm::JobState;

std::string moment(const Row& row, std::int64_t when) {
  if (when <= 0) return "Unknown";
  return slurm::format_date_time(static_cast<std::time_t>(when),
                                 row.setting.time_format,
                                 static_cast<std::time_t>(row.setting.now));
}

// Start and end as shown: --truncate cuts them to the window.
std::int64_t shown_start(const Row& row) {
  const auto start = row.step != nullptr ? row.step->start : row.job.start;
  return start != 0 ? std::max(start, row.setting.from) : 0;
}

std::int64_t shown_end(const Row& row) {
  const auto end = row.step != nullptr ? row.step->end : row.job.end;
  const auto to = row.setting.to;
  return end != 0 && to != 0 ? std::min(end, to) : end;
}

std::int64_t seconds(const Row& row) {
  const auto start = shown_start(row);
  if (start == 0) return 0;
  const auto end = shown_end(row);
  return std::max<std::int64_t>(0, (end != 0 ? end : row.setting.now) - start);
}

int cpus_of(const Row& row) {
  return row.step != nullptr ? row.step->cpus : row.job.cpus;
}

std::int64_t waited(const Row& row) {
  const auto from = row.job.eligible;
  if (from == 0) return 0;
  const auto until = row.job.start != 0 ? row.job.start
                     : row.job.end != 0 ? row.job.end
                                        : row.setting.now;
  return std::max<std::int64_t>(0, until - from);
}

// "01:02.345" below an hour, else "1-02:03:04"; nothing used is 00:00:00.
std::string cpu_text(double used) {
  constexpr std::int64_t k_hour_ms = 3'600'000;
  const auto ms = std::llround(used * 1000);
  if (ms <= 0) return "00:00:00";
  if (ms >= k_hour_ms) return slurm::format_duration(ms / 1000);
  return fmt::format("{:02}:{:02}.{:03}", ms / 60'000, ms / 1000 % 60, ms % 1000);
}

// A size that is `number` of the unit with this letter, as Slurm prints it: converted up while it
// stays whole, or into the unit that was asked for.
std::string size_text(const Row& row, double number, char unit) {
  constexpr std::string_view k_units = "KMGTP";
  auto at = k_units.find(unit);
  if (row.setting.unit != 0) {
    const auto wanted = k_units.find(row.setting.unit);
    for (; at < wanted; ++at)
      number /= 1024;
    for (; at > wanted; --at)
      number *= 1024;
  } else if (row.setting.convert) {
    while (at + 1 < k_units.size() && number >= 1024 && std::fmod(number, 1024) == 0) {
      number /= 1024;
      ++at;
    }
  }
  if (number == 0) return "0";
  const char letter = k_units[at];
  return number == std::floor(number) ? fmt::format("{:.0f}{}", number, letter)
                                      : fmt::format("{:.2f}{}", number, letter);
}

// Usage of the whole job is the batch script's where there is one, as in Slurm.
bool has_usage(const Row& row) {
  if (row.step != nullptr) return row.step->id == "batch";
  return row.job.steps.empty();
}

std::string bytes(const Row& row, double value) {
  if (!has_usage(row) || value <= 0) return "";
  return size_text(row, std::floor(value / 1024), 'K');
}

std::uint64_t whole_memory(const history::Entry& job) {
  if (job.memory_per == "cpu") return job.memory_mib * static_cast<std::uint64_t>(job.cpus);
  if (job.memory_per == "gpu") return job.memory_mib * static_cast<std::uint64_t>(job.gpus);
  return job.memory_mib * static_cast<std::uint64_t>(std::max(1, job.nodes));
}

// In the order of names, as Slurm has it.
std::string tres(const Row& row) {
  const auto& job = row.job;
  std::string text = fmt::format("billing={},cpu={}", job.cpus, job.cpus);
  if (job.gpus > 0) text += fmt::format(",gres/gpu={}", job.gpus);
  if (const auto memory = whole_memory(job); memory > 0)
    text += ",mem=" + size_text(row, static_cast<double>(memory), 'M');
  return text + fmt::format(",node={}", std::max(1, job.nodes));
}

bool started(const Row& row) {
  return row.job.start != 0;
}

std::string count(int number) {
  return number > 0 ? std::to_string(number) : std::string();
}

} // namespace

std::string exit_text(const history::ExitCode& exit) {
  return fmt::format("{}:{}", exit.code, exit.signal);
}

// A suspended job is running for those who would take another word for its end.
std::string state_text(const Row& row) {
  const auto named = [&](JobState state, const std::string& user) {
    std::string text(slurm::long_name(state));
    if (state == JobState::cancelled && !user.empty())
      if (const auto ids = row.setting.ids(user)) text += " by " + std::to_string(ids->uid);
    return text;
  };
  if (row.step != nullptr) return named(row.step->state, row.step->cancelled_by);
  const auto& ending = row.job.ending;
  if (row.job.live && ending.state == JobState::suspended)
    return std::string(slurm::long_name(JobState::running));
  return named(ending.state, ending.cancelled_by);
}

namespace values {

std::string nothing(const Row&) {
  return {};
}
std::string zero(const Row&) {
  return "0";
}
std::string unknown_frequency(const Row& row) {
  return row.step != nullptr && row.step->id == "batch" ? "0" : "Unknown";
}
std::string account(const Row& row) {
  return row.job.account;
}
std::string alloc_cpus(const Row& row) {
  return std::to_string(cpus_of(row));
}
std::string alloc_nodes(const Row& row) {
  if (row.step != nullptr) return std::to_string(row.step->nodes);
  return started(row) ? count(row.job.nodes) : "0";
}
std::string alloc_tres(const Row& row) {
  if (row.step != nullptr)
    return fmt::format("cpu={},mem=0,node={}", row.step->cpus, row.step->nodes);
  return started(row) ? tres(row) : std::string();
}
std::string cluster(const Row& row) {
  return row.setting.cluster;
}
std::string comment(const Row& row) {
  return row.step != nullptr ? std::string() : row.job.comment;
}
std::string cpu_time(const Row& row) {
  return slurm::format_duration(seconds(row) * cpus_of(row));
}
std::string cpu_time_raw(const Row& row) {
  return std::to_string(seconds(row) * cpus_of(row));
}
std::string db_index(const Row& row) {
  return std::to_string(row.job.id);
}
std::string derived_exit(const Row& row) {
  return row.step != nullptr ? std::string() : exit_text(row.job.derived);
}
std::string elapsed(const Row& row) {
  return slurm::format_duration(seconds(row));
}
std::string elapsed_raw(const Row& row) {
  return std::to_string(seconds(row));
}
std::string eligible(const Row& row) {
  return moment(row, row.step != nullptr ? row.step->start : row.job.eligible);
}
std::string end(const Row& row) {
  return moment(row, shown_end(row));
}
std::string exit_code(const Row& row) {
  if (row.step == nullptr) return exit_text(row.job.ending.exit);
  return row.step->exit ? exit_text(*row.step->exit) : std::string();
}
std::string gid(const Row& row) {
  if (row.step != nullptr) return {};
  const auto ids = row.setting.ids(row.job.user);
  return ids ? std::to_string(ids->gid) : std::string();
}
std::string group(const Row& row) {
  return row.step != nullptr ? std::string() : row.job.group;
}
std::string job_id(const Row& row) {
  return row.step != nullptr ? row.job.shown_id + "." + row.step->id : row.job.shown_id;
}
std::string job_id_raw(const Row& row) {
  auto text = std::to_string(row.job.id);
  return row.step != nullptr ? text + "." + row.step->id : text;
}
std::string job_name(const Row& row) {
  return row.step != nullptr ? row.step->name : row.job.name;
}
std::string max_rss(const Row& row) {
  return bytes(row, row.job.max_rss);
}
std::string max_vm_size(const Row& row) {
  return bytes(row, row.job.max_vmem);
}
std::string nnodes(const Row& row) {
  return row.step != nullptr ? std::to_string(row.step->nodes) : count(row.job.nodes);
}
std::string node_list(const Row& row) {
  if (row.step != nullptr) return row.step->hosts;
  return row.job.hosts.empty() ? "None assigned" : row.job.hosts;
}
std::string ntasks(const Row& row) {
  return row.step != nullptr ? std::to_string(row.step->ntasks) : std::string();
}
std::string partition(const Row& row) {
  return row.step != nullptr ? std::string() : row.job.partition;
}
std::string planned(const Row& row) {
  return row.step != nullptr ? std::string() : slurm::format_duration(waited(row));
}
std::string planned_cpu(const Row& row) {
  return row.step != nullptr ? std::string() : slurm::format_duration(waited(row) * row.job.cpus);
}
std::string planned_cpu_raw(const Row& row) {
  return row.step != nullptr ? std::string() : std::to_string(waited(row) * row.job.cpus);
}
std::string qos(const Row& row) {
  if (row.step != nullptr) return {};
  return row.job.qos.empty() ? "normal" : row.job.qos;
}
std::string reason(const Row& row) {
  if (row.step != nullptr) return {};
  const auto& ending = row.job.ending;
  // Slurm's accounting keeps the last reason for waiting; what went wrong at the start is worth it.
  const bool told = !row.job.live && ending.state != JobState::failed;
  if (told || ending.reason == "NonZeroExitCode" || ending.reason == "JobLaunchFailure")
    return "None";
  return ending.reason;
}
std::string req_cpus(const Row& row) {
  return std::to_string(cpus_of(row));
}
std::string req_mem(const Row& row) {
  if (row.step != nullptr) return {};
  const auto memory = whole_memory(row.job);
  return memory > 0 ? size_text(row, static_cast<double>(memory), 'M') : std::string();
}
std::string req_nodes(const Row& row) {
  return row.step != nullptr ? std::string() : count(row.job.nodes);
}
std::string req_tres(const Row& row) {
  return row.step != nullptr ? std::string() : tres(row);
}
std::string restarts(const Row& row) {
  return row.step != nullptr ? std::string() : std::to_string(row.job.restarts);
}
std::string start(const Row& row) {
  return moment(row, shown_start(row));
}
std::string state(const Row& row) {
  return state_text(row);
}
std::string std_err(const Row& row) {
  return row.step != nullptr ? std::string() : row.job.error;
}
std::string std_in(const Row& row) {
  return row.step != nullptr ? std::string() : row.job.input;
}
std::string std_out(const Row& row) {
  return row.step != nullptr ? std::string() : row.job.output;
}
std::string submit(const Row& row) {
  return moment(row, row.step != nullptr ? row.step->start : row.job.submit);
}
std::string submit_line(const Row& row) {
  return row.step != nullptr ? std::string() : row.job.submit_line;
}
std::string suspended(const Row&) {
  return "00:00:00";
}
std::string system_cpu(const Row& row) {
  return cpu_text(row.step == nullptr || has_usage(row) ? row.job.system_cpu : 0);
}
std::string time_limit(const Row& row) {
  if (row.step != nullptr) return {};
  if (row.job.limit_min != slurm::k_unlimited_minutes)
    return slurm::format_time_limit(row.job.limit_min);
  return started(row) ? "UNLIMITED" : "Partition_Limit";
}
std::string time_limit_raw(const Row& row) {
  if (row.step != nullptr) return {};
  if (row.job.limit_min != slurm::k_unlimited_minutes) return std::to_string(row.job.limit_min);
  return started(row) ? "UNLIMITED" : "Partition_Limit";
}
std::string total_cpu(const Row& row) {
  return cpu_text(row.step == nullptr || has_usage(row) ? row.job.total_cpu : 0);
}
std::string uid(const Row& row) {
  if (row.step != nullptr) return {};
  const auto ids = row.setting.ids(row.job.user);
  return ids ? std::to_string(ids->uid) : std::string();
}
std::string user(const Row& row) {
  return row.step != nullptr ? std::string() : row.job.user;
}
std::string user_cpu(const Row& row) {
  return cpu_text(row.step == nullptr || has_usage(row) ? row.job.user_cpu : 0);
}
std::string work_dir(const Row& row) {
  return row.step != nullptr ? std::string() : row.job.work_dir;
}

} // namespace values

} // namespace shim::commands::sacct
