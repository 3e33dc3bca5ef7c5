#include "slurm_shim/base/strings.h"
#include "slurm_shim/history/history.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>

namespace shim::history {

namespace {

using slurm::JobState;

constexpr int k_signal_base = 128;

// Grid Engine's "failed" numbers that stand for a start that went wrong (spec commands 1.2).
struct Failure {
  int number;
  std::string_view text;
};
constexpr std::array k_failures{
    Failure{1, "before job"},
    Failure{3, "before writing config"},
    Failure{4, "before writing PID"},
    Failure{5, "reading config"},
    Failure{6, "setting processor set"},
    Failure{7, "before prolog"},
    Failure{8, "in prolog"},
    Failure{9, "before pestart"},
    Failure{10, "in pestart"},
    Failure{11, "before job"},
    Failure{12, "before pestop"},
    Failure{13, "in pestop"},
    Failure{14, "before epilog"},
    Failure{15, "in epilog"},
    Failure{16, "releasing processor set"},
    Failure{17, "died through signal"},
    Failure{18, "shepherd error"},
    Failure{19, "no exit status"},
    Failure{20, "error file"},
    Failure{21, "recognising job"},
    Failure{23, "PTF"},
    Failure{26, "opening input/output file"},
    Failure{27, "searching requested shell"},
    Failure{28, "changing into working directory"},
    Failure{29, "AFS setup"},
    Failure{36, "checking configured daemons"},
    Failure{38, "adding supplementary group"},
};

constexpr int k_node_lost = 22;
constexpr int k_asked_for_error = 30;
constexpr int k_limit_enforced = 37;
constexpr int k_after_job = 100;

Ending cancelled(std::string by) {
  return {JobState::cancelled, std::move(by), {}, "None"};
}

Ending ended_by_script(int code, int signal) {
  if (signal != 0) return {JobState::failed, "", {0, signal}, "JobLaunchFailure"};
  if (code != 0) return {JobState::failed, "", {code, 0}, "NonZeroExitCode"};
  return {JobState::completed, "", {}, "None"};
}

// A shell's 128 + n means a signal where nothing better is known.
Ending ended_with_status(int status) {
  return status > k_signal_base ? ended_by_script(0, status - k_signal_base)
                                : ended_by_script(status, 0);
}

// A limit of the engine: of time, else of memory where one was asked for.
Ending
over_limit(const ge::AccountingRecord& accounting, std::int64_t limit_s, std::uint64_t memory_mib) {
  constexpr double k_near = 0.9; // usage is sampled: the peak itself is rarely seen
  const auto wall =
      std::max(accounting.wallclock, static_cast<double>(accounting.end - accounting.start));
  if (limit_s != 0 && wall >= static_cast<double>(limit_s) - 1)
    return {JobState::timeout, "", {}, "TimeLimit"};
  const auto used = std::max(accounting.max_vmem, accounting.max_rss);
  const auto asked = std::ldexp(static_cast<double>(memory_mib), 20);
  if (memory_mib != 0 && (limit_s == 0 || used >= asked * k_near))
    return {JobState::out_of_memory, "", {0, SIGKILL}, "OutOfMemory"};
  return {JobState::timeout, "", {}, "TimeLimit"};
}

// `owner`: the only one whom the job's supervisor obeys.
Ending ended_by_record(const records::EndEvent& end, const std::string& owner) {
  if (end.reason == "cancel") return cancelled(owner);
  if (end.reason == "requeue") return {JobState::requeued, "", {}, "None"};
  if (end.reason == "dependency") return {JobState::cancelled, "", {}, "DependencyNeverSatisfied"};
  if (end.reason == "deadline") return {JobState::deadline, "", {}, "DeadLine"};
  if (end.reason == "timeout") return {JobState::timeout, "", {}, "TimeLimit"};
  // Slurm's own number for files that cannot be opened (vectors/05).
  if (end.reason == "output") return {JobState::failed, "", {0, 53}, "JobLaunchFailure"};
  if (end.reason == "environment") return {JobState::failed, "", {1, 0}, "JobLaunchFailure"};
  return ended_by_script(end.code, end.sig);
}

// Killed from outside without a word about who did it: what versions before OCS 9.1.2 tell.
Ending
killed(const ge::AccountingRecord& accounting, std::int64_t limit_s, std::uint64_t memory_mib) {
  if (limit_s != 0 && accounting.end - accounting.start >= limit_s)
    return over_limit(accounting, limit_s, memory_mib);
  // It was on its way to its host: there is no start and no status, not even a bad one.
  if (accounting.start == 0) return cancelled(accounting.owner);
  const int signal = accounting.exit_status - k_signal_base;
  if (signal == SIGKILL || signal == SIGTERM) return cancelled(accounting.owner);
  return ended_with_status(accounting.exit_status);
}

} // namespace

Ending ending_of(const ge::AccountingRecord& accounting,
                 const std::optional<records::JobRecord>& record,
                 std::int64_t limit_s,
                 std::uint64_t memory_mib) {
  if (ge::is_requeue(accounting)) return {JobState::requeued, "", {}, "None"};
  const bool told = record && record->end;
  const auto at = accounting.deleted_by.find('@');
  if (at != std::string::npos) {
    const auto who = accounting.deleted_by.substr(0, at);
    if (who == "execd" || who == "qmaster") return over_limit(accounting, limit_s, memory_mib);
    // A script that had ended by itself before was not cancelled by a late qdel.
    if (!told) return cancelled(who);
  }
  if (accounting.failed == k_node_lost) return {JobState::node_fail, "", {}, "NodeDown"};
  if (accounting.failed == k_limit_enforced) return over_limit(accounting, limit_s, memory_mib);
  if (told) return ended_by_record(*record->end, accounting.owner);
  if (accounting.failed == 0) return ended_with_status(accounting.exit_status);
  if (accounting.failed == k_after_job) return killed(accounting, limit_s, memory_mib);
  if (accounting.failed == k_asked_for_error)
    return {JobState::failed, "", {100, 0}, "NonZeroExitCode"};
  std::string reason = "JobLaunchFailure";
  for (const auto& failure : k_failures)
    if (failure.number == accounting.failed) reason = failure.text;
  return {JobState::failed, "", {1, 0}, std::move(reason)};
}

namespace {

// A step or script that the job took with it when it ended.
void end_with_job(const Ending& ending, std::int64_t end, Step& step) {
  step.end = end;
  step.state = JobState::cancelled;
  // At the limit the supervisor has asked first: without a word from it there was no way but KILL.
  const int signal = ending.state == JobState::timeout ? SIGKILL : SIGTERM;
  if (ending.state != JobState::node_fail) step.exit = ExitCode{0, signal};
}

Step batch_step(const records::JobRecord& record, const Ending& ending, std::int64_t end) {
  Step step;
  step.id = step.name = "batch";
  step.hosts = record.start.host;
  step.start = record.start.t_ms / 1000;
  step.cpus = record.start.nodes > 1 ? std::max(1, record.start.cpus / record.start.nodes)
                                     : std::max(1, record.start.cpus);
  if (record.end) {
    const auto& ended = *record.end; // a script that the limit ended still ended in its own way
    const bool from_outside = ended.reason == "timeout" || ended.reason == "cancel";
    const auto own = from_outside ? ended_by_script(ended.code, ended.sig)
                                  : ended_by_record(ended, ending.cancelled_by);
    step.end = record.end->t_ms / 1000;
    step.exit = own.exit;
    step.state = own.exit.signal != 0 ? JobState::cancelled : own.state;
  } else if (end != 0) {
    end_with_job(ending, end, step);
  } else {
    step.exit = ExitCode{};
  }
  return step;
}

Step srun_step(const records::StepRecord& record, const Ending& ending, std::int64_t end) {
  Step step;
  step.id = std::to_string(record.start.step);
  step.name = record.start.name;
  step.start = record.start.t_ms / 1000;
  step.hosts = record.start.hosts;
  step.nodes = std::max(1, record.start.nodes);
  step.ntasks = std::max(1, record.start.ntasks);
  step.cpus = std::max(1, record.start.cpus);
  if (!record.end) {
    if (end != 0)
      end_with_job(ending, end, step);
    else
      step.exit = ExitCode{};
    return step;
  }
  const auto& ended = *record.end;
  step.end = ended.t_ms / 1000;
  step.exit = ended.sig != 0 ? ExitCode{0, ended.sig} : ExitCode{ended.code, 0};
  if (ended.reason == "cancel" || ended.reason == "timeout" || ended.sig != 0) {
    step.state = JobState::cancelled;
    if (ended.sig == 0) step.exit = ExitCode{0, SIGTERM};
  } else {
    step.state = ended.code == 0 ? JobState::completed : JobState::failed;
  }
  return step;
}

// scancel of this step: the supervisor notes the request, not the step's number.
bool was_ended_alone(const records::JobRecord& record, const records::StepRecord& step) {
  if (!step.end || step.end->reason != "cancel") return false;
  return std::ranges::any_of(record.requests, [&](const records::RequestEvent& request) {
    return request.verb == "end-step" && request.rc == 0 && request.t_ms >= step.start.t_ms &&
           request.t_ms <= step.end->t_ms;
  });
}

} // namespace

std::vector<Step> steps_of(const records::JobRecord& record,
                           const Ending& ending,
                           std::int64_t end,
                           const std::string& owner) {
  std::vector<Step> steps{batch_step(record, ending, end)};
  for (const auto& step : record.steps) {
    steps.push_back(srun_step(step, ending, end));
    if (was_ended_alone(record, step)) steps.back().cancelled_by = owner;
  }
  return steps;
}

std::int64_t Entry::elapsed(std::int64_t now) const {
  if (start == 0) return 0;
  return std::max<std::int64_t>(0, (end != 0 ? end : now) - start);
}

} // namespace shim::history
