#include "cancel.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/records/cancel_note.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>
#include <set>

namespace shim::commands::scancel {

namespace {

constexpr std::size_t k_batch = 100;     // ids of one qdel
constexpr int k_exit_unknown_step = 225; // vectors/11 scl.step_bad

int tell(const Engine& engine, const Request& request, const std::string& text, int code) {
  if (!request.quiet) engine.ctx.error(text);
  return code;
}

int tell_denied(const Engine& engine, const Request& request, std::string_view id) {
  return tell(engine,
              request,
              "Kill job error on job id " + std::string(id) + ": Access/permission denied",
              slurm::k_exit_access);
}

// The id between the quotes of `... the job "254"`; "" when there is none.
std::string_view quoted_id(std::string_view line) {
  const auto begin = line.find('"');
  if (begin == std::string_view::npos) return {};
  const auto end = line.find('"', begin + 1);
  return end == std::string_view::npos ? std::string_view{}
                                       : line.substr(begin + 1, end - begin - 1);
}

// "7", "7.3" or "7.5-8" of the names that were given to qdel.
void keep_note(const Engine& engine, const std::vector<std::string>& ended) {
  if (!engine.state) return;
  std::map<std::int64_t, records::CancelNote> notes;
  std::set<std::int64_t> whole;
  for (const auto& name : ended) {
    const auto dot = name.find('.');
    const auto job = parse_int<std::int64_t>(std::string_view(name).substr(0, dot));
    if (!job) continue;
    auto& note = notes[*job];
    const auto ranges = dot == std::string::npos ? Result<std::vector<ge::TaskRange>>{}
                                                 : ge::parse_task_ranges(name.substr(dot + 1));
    if (!ranges || ranges->empty()) {
      whole.insert(*job);
      continue;
    }
    const auto tasks = ge::expand_task_ranges(*ranges);
    note.tasks.insert(note.tasks.end(), tasks.begin(), tasks.end());
  }
  for (auto& [job, note] : notes) {
    if (!posix::exists(engine.state->submit_file(job))) continue; // not from this folder
    note.t = engine.ctx.clock.unix_ms() / 1000;
    note.user = engine.self;
    if (whole.contains(job)) note.tasks.clear();
    records::note_cancel(*engine.state, job, note);
  }
}

// Who no supervisor serves (a job from plain qsub) can still be stopped and continued.
int signal_by_engine(const Engine& engine, const Request& request, const queue::Job& job) {
  const int number = request.signal.value_or(SIGKILL);
  if ((number != SIGSTOP && number != SIGCONT) || request.batch)
    return tell(engine,
                request,
                "Kill job error on job id " + queue::display_id(job) +
                    ": the job has no supervisor to deliver the signal (not submitted by sbatch)",
                slurm::k_exit_failure);
  const auto answer = engine.tools.run(
      {.tool = "qmod",
       .args = {number == SIGSTOP ? "-sj" : "-usj", join(queue::engine_names(job), ",")}});
  if (!answer) return engine.ctx.fail(answer.error());
  if (to_lower(answer->out + answer->err).find("privileges") != std::string::npos)
    return tell_denied(engine, request, queue::display_id(job));
  return slurm::k_exit_ok;
}

} // namespace

Answer classify_qdel(std::string_view line) {
  const auto text = to_lower(line);
  const auto has = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  if (has("privileges") || has("permission")) return Answer::denied;
  if (has("does not exist")) return Answer::gone;
  if (has("has registered") || has("has deleted") || has("already in deletion"))
    return Answer::done;
  return Answer::other;
}

std::string named_in(std::string_view line) {
  // "alice has deleted job 7", "... has registered the job-array task 7.3 for deletion"
  for (const std::string_view word : {"job-array task ", "job "}) {
    const auto at = line.find(word);
    if (at == std::string_view::npos) continue;
    const auto rest = line.substr(at + word.size());
    return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
  }
  return "";
}

std::vector<std::string> engine_targets(std::uint64_t job, const std::set<std::uint32_t>& tasks) {
  const auto number = std::to_string(job);
  if (tasks.empty()) return {number};
  std::vector<std::string> names;
  for (auto first = tasks.begin(); first != tasks.end();) {
    auto last = first;
    for (auto next = std::next(last); next != tasks.end() && *next == *last + 1; ++next)
      last = next;
    names.push_back(number + "." + std::to_string(*first));
    if (last != first) names.back() += "-" + std::to_string(*last);
    first = std::next(last);
  }
  return names;
}

namespace {

// The calls of qdel: a run of tasks is a call of its own, "7 -t 5-8".
std::vector<std::vector<std::string>> qdel_calls(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> calls, runs;
  for (const auto& name : names) {
    if (name.find('-') != std::string::npos) {
      const auto dot = name.find('.');
      runs.push_back({name.substr(0, dot), "-t", name.substr(dot + 1)});
      continue;
    }
    if (calls.empty() || calls.back().size() == k_batch) calls.emplace_back();
    calls.back().push_back(name);
  }
  calls.insert(calls.end(), runs.begin(), runs.end());
  return calls;
}

} // namespace

int end_jobs(const Engine& engine, const Request& request, const std::vector<std::string>& names) {
  int code = slurm::k_exit_ok;
  for (const auto& words : qdel_calls(names)) {
    const auto output = engine.tools.run({.tool = "qdel", .args = words});
    if (!output) return engine.ctx.fail(output.error());
    bool is_explained = output->status == 0;
    const auto said = output->out + output->err;
    std::vector<std::string> ended;
    for (const auto line : split(said, '\n')) {
      if (trim(line).empty()) continue;
      const auto answer = classify_qdel(line);
      if (answer == Answer::denied) code = tell_denied(engine, request, quoted_id(line));
      if (answer == Answer::done) ended.push_back(named_in(line));
      // A job that ended in the meantime is what was asked for.
      if (answer != Answer::other) is_explained = true;
      if (answer == Answer::other && output->status != 0) {
        code = tell(engine, request, "qdel: " + std::string(trim(line)), slurm::k_exit_failure);
        is_explained = true;
      }
    }
    keep_note(engine, ended);
    if (!is_explained)
      code = tell(engine,
                  request,
                  "qdel ended with " + std::to_string(output->status) + " and said nothing",
                  slurm::k_exit_failure);
  }
  return code;
}

namespace {

// Words for the supervisor: what is done to a running job or one of its steps.
struct Verb {
  std::string name;
  std::vector<std::string> args;
};

Verb verb_of(const Engine& engine, const Request& request, const std::string& step) {
  const auto number = std::to_string(request.signal.value_or(SIGKILL));
  if (!step.empty() && request.ends_job()) return {"end-step", {step}};
  if (!step.empty()) return {"signal", {number, "step:" + step}};
  const bool stops = request.signal == SIGSTOP || request.signal == SIGCONT;
  if (engine.ctx.config.scancel_signal == "requeue" && !stops && !request.batch && !request.full)
    return {"requeue", {}};
  return {"signal", {number, request.batch ? "batch" : request.full ? "full" : "steps"}};
}

// Slurm tells it twice: for the step, and for the job it looked in.
int tell_unknown_step(const Engine& engine, const Request& request, const std::string& id) {
  const auto text = "Kill job error on job step id " + id + ": Invalid job id specified";
  tell(engine, request, text, 0);
  return tell(engine, request, text, k_exit_unknown_step);
}

} // namespace

int signal_job(const Engine& engine,
               const Request& request,
               const queue::Job& job,
               const std::string& step) {
  const auto id = queue::display_id(job);
  const auto refuse = [&](std::string_view why) {
    return tell(engine,
                request,
                "Kill job error on job id " + id + ": " + std::string(why),
                slurm::k_exit_failure);
  };
  if (!engine.self.empty() && job.user != engine.self) return tell_denied(engine, request, id);
  if (job.pending() && !step.empty()) return tell_unknown_step(engine, request, id);
  if (job.pending()) return refuse("Job is pending execution");
  // The engine has stopped the supervisor as well: it goes on before it can be asked.
  if (job.state == slurm::JobState::suspended && request.signal == SIGCONT)
    if (const int code = signal_by_engine(engine, request, job); code != slurm::k_exit_ok)
      return code;
  if (!engine.state) return signal_by_engine(engine, request, job);
  const auto verb = verb_of(engine, request, step);
  const auto asked = queue::ask_supervisor(
      *engine.state, queue::record_key(job), verb.name, verb.args, engine.ctx.clock);
  if (asked) return slurm::k_exit_ok;
  if (asked.error().kind == ErrorKind::not_found) {
    if (step.empty()) return signal_by_engine(engine, request, job);
    return tell(engine, request, asked.error().message, slurm::k_exit_failure);
  }
  if (!step.empty() && asked.error().kind == ErrorKind::refused)
    return tell_unknown_step(engine, request, id);
  return refuse(asked.error().message);
}

} // namespace shim::commands::scancel
