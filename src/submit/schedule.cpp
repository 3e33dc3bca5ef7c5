#include "slurm_shim/submit/schedule.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/submit/refusal.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::submit {

namespace {

using slurm::Dependency;
using Type = slurm::DependencyType;

constexpr int k_last_signal = 64;

// What the engine takes for a pattern or a list in -hold_jid.
bool is_plain_name(std::string_view name) {
  constexpr std::string_view k_special = ",*?[]!|&()\\";
  return name.find_first_of(k_special) == std::string_view::npos;
}

class SchedulePlanner {
public:
  SchedulePlanner(const Request& request,
                  const config::Config& config,
                  const config::Partition& partition,
                  const EngineFacts& facts,
                  const std::string& name,
                  std::time_t now)
      : m_request(request), m_config(config), m_partition(partition), m_facts(facts), m_name(name),
        m_now(now) {}

  Result<Schedule> run() {
    TRY(limit());
    if (m_request.begin && *m_request.begin > m_now) m_out.begin = *m_request.begin;
    signal();
    TRY(alternatives());
    for (const auto& item : m_request.dependency.items)
      depend(item);
    if (m_request.kill_on_invalid_dep == false && !m_request.dependency.items.empty())
      warn("--kill-on-invalid-dep=no: a job whose dependency can never hold is ended all the same");
    return std::move(m_out);
  }

private:
  void warn(std::string text) { m_out.warnings.push_back(std::move(text)); }

  Result<void> limit() {
    const auto top = m_partition.max_time_min;
    if (m_request.minutes) {
      if (*m_request.minutes != slurm::k_unlimited_minutes) m_out.minutes = *m_request.minutes;
    } else if (m_partition.default_time_min) {
      m_out.minutes = static_cast<std::uint32_t>(*m_partition.default_time_min);
    } else if (top) { // Slurm, too: who asks for nothing gets what there is
      m_out.minutes = static_cast<std::uint32_t>(*top);
    }
    const bool too_long =
        top && (!m_out.minutes || *m_out.minutes > static_cast<std::uint32_t>(*top));
    if (!too_long) return {};
    // In Slurm it would wait for ever (PartitionTimeLimit). A held job may still be changed.
    if (m_config.submit_check && !m_request.hold)
      return refuse(fmt::format("--time: longer than the {} minutes of partition {}\n"
                                "Batch job submission failed: Requested time limit is invalid "
                                "(missing or exceeds some limit)",
                                *top,
                                m_partition.name));
    warn(fmt::format("--time: longer than the {} minutes of partition {}", *top, m_partition.name));
    return {};
  }

  void signal() {
    if (!m_request.signal) return;
    const auto& signal = *m_request.signal;
    if (signal.reservation) warn("--signal: R: has no meaning here");
    if (signal.signal > k_last_signal)
      warn(fmt::format("--signal: there is no signal {}: none is sent", signal.signal));
    else if (!m_out.minutes)
      warn("--signal: the job has no time limit, so that it gets no signal");
    else if (signal.seconds_before > 0 && static_cast<std::uint64_t>(signal.seconds_before) >=
                                              std::uint64_t{*m_out.minutes} * 60)
      warn(fmt::format("--signal: {} seconds before the end is before the start: the signal is "
                       "sent at once",
                       signal.seconds_before));
  }

  // Of jobs joined by '?' one is enough, but the engine waits for all. That is the same thing
  // where only one job is waited for: what it must have come to is judged at the start.
  Result<void> alternatives() {
    const auto& list = m_request.dependency;
    if (!list.any) return {};
    const auto same = [&](const Dependency& item) {
      return item.job == list.items.front().job && item.type != Type::after &&
             item.type != Type::singleton;
    };
    if (list.items.size() < 2 || std::ranges::all_of(list.items, same)) return {};
    return refuse("--dependency: jobs joined by '?' are not supported: Grid Engine lets a job wait "
                  "for all of them (',')\nBatch job submission failed: Job dependency problem");
  }

  static void hold(std::vector<std::string>& list, const std::string& job) {
    if (std::ranges::count(list, job) == 0) list.push_back(job);
  }

  void depend(const Dependency& item) {
    if (item.type == Type::singleton) return only_one();
    const auto number = slurm::decode_job_id(item.job).job;
    const auto job = std::to_string(number);
    const auto* known = find(number);
    if (known != nullptr && known->state == Predecessor::State::unknown) {
      m_out.unknown.push_back(job);
      warn(fmt::format("--dependency: nothing is known of job {}: it counts as fulfilled", job));
    }
    if (item.delay_minutes > 0 && item.type != Type::after)
      warn(fmt::format("--dependency: the delay of {} minutes has no effect with {}",
                       item.delay_minutes,
                       slurm::dependency_name(item.type)));
    if (item.type == Type::after) return after(item, job, known);
    if (item.type == Type::after_corr && m_request.array) return by_element(job, known);
    if (waits(known)) hold(m_out.hold_jobs, job);
    if (item.array_index && waits(known))
      warn(fmt::format("--dependency: the job waits for all elements of {}", job));
    if (item.type == Type::after_burst_buffer)
      warn("--dependency: there are no burst buffers: the job waits for the end of " + job);
    const bool judged = item.type == Type::after_ok || item.type == Type::after_not_ok;
    if (judged && !m_config.afterok_check)
      warn(fmt::format("--dependency: {}:{} waits for the end of the job whatever its exit status "
                       "(config afterok_check)",
                       slurm::dependency_name(item.type),
                       job));
  }

  // What is not known for sure is waited for.
  static bool waits(const Predecessor* known) {
    return known == nullptr || known->state != Predecessor::State::ended;
  }

  // The engine knows only the end of a job. One that has started already needs no waiting; a job of
  // our own ends the wait when it starts.
  void after(const Dependency& item, const std::string& job, const Predecessor* known) {
    using Known = Predecessor::State;
    const bool started =
        known != nullptr && (known->state == Known::started || known->state == Known::ended);
    if (!started) {
      hold(m_out.hold_jobs, job);
      if (known != nullptr && known->state == Known::unknown) return;
      if (known != nullptr && known->tells_start) {
        m_out.wait_for_starts.push_back({known->job, item.delay_minutes});
        return;
      }
      warn(fmt::format("--dependency: after:{} waits for the end of the job, not for its start",
                       job));
      if (item.delay_minutes > 0)
        warn(fmt::format("--dependency: the delay of {} minutes after job {} is dropped",
                         item.delay_minutes,
                         job));
      return;
    }
    if (item.delay_minutes == 0) return;
    const auto from = known->start > 0 ? static_cast<std::time_t>(known->start) : m_now;
    const auto when = from + static_cast<std::time_t>(item.delay_minutes) * 60;
    if (when > m_now) m_out.begin = std::max(m_out.begin.value_or(when), when);
  }

  // Element by element where the engine numbers both arrays alike; else the whole array is waited
  // for. Which element must have succeeded is known at the start in both cases.
  void by_element(const std::string& job, const Predecessor* known) {
    const auto native = slurm::native_range(*m_request.array);
    const auto tasks = native ? native->text() : fmt::format("1-{}:1", m_request.array->count());
    if (known == nullptr || (known->state != Predecessor::State::ended && known->tasks == tasks))
      return hold(m_out.hold_array_jobs, job);
    if (known->state == Predecessor::State::ended) return;
    hold(m_out.hold_jobs, job);
    if (known->state != Predecessor::State::unknown)
      warn(fmt::format("--dependency: the indices differ from those of {}: each element waits for "
                       "all of its elements",
                       job));
  }

  // The engine resolves a name to the user's own jobs of that name.
  void only_one() {
    if (is_plain_name(m_name)) return hold(m_out.hold_jobs, m_name);
    for (const auto& [job, name] : m_facts.own_jobs)
      if (name == m_name) hold(m_out.hold_jobs, std::to_string(job));
  }

  [[nodiscard]] const Predecessor* find(std::uint64_t job) const {
    const auto it = std::ranges::find(m_facts.predecessors, job, &Predecessor::job);
    return it == m_facts.predecessors.end() ? nullptr : &*it;
  }

  const Request& m_request;
  const config::Config& m_config;
  const config::Partition& m_partition;
  const EngineFacts& m_facts;
  const std::string& m_name;
  std::time_t m_now;
  Schedule m_out;
};

} // namespace

Result<Schedule> plan_schedule(const Request& request,
                               const config::Config& config,
                               const config::Partition& partition,
                               const EngineFacts& facts,
                               const std::string& name,
                               std::time_t now) {
  return SchedulePlanner(request, config, partition, facts, name, now).run();
}

} // namespace shim::submit
