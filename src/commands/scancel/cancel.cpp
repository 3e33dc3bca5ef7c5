#include "cancel.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <csignal>

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

int end_jobs(const Engine& engine, const Request& request, const std::vector<std::string>& names) {
  int code = slurm::k_exit_ok;
  for (std::size_t at = 0; at < names.size(); at += k_batch) {
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end =
        names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), at + k_batch));
    const auto output = engine.tools.run({.tool = "qdel", .args = {begin, end}});
    if (!output) return engine.ctx.fail(output.error());
    bool is_explained = output->status == 0;
    const auto said = output->out + output->err;
    for (const auto line : split(said, '\n')) {
      if (trim(line).empty()) continue;
      const auto answer = classify_qdel(line);
      if (answer == Answer::denied) code = tell_denied(engine, request, quoted_id(line));
      // A job that ended in the meantime is what was asked for.
      if (answer != Answer::other) is_explained = true;
      if (answer == Answer::other && output->status != 0) {
        code = tell(engine, request, "qdel: " + std::string(trim(line)), slurm::k_exit_failure);
        is_explained = true;
      }
    }
    if (!is_explained)
      code = tell(engine,
                  request,
                  "qdel ended with " + std::to_string(output->status) + " and said nothing",
                  slurm::k_exit_failure);
  }
  return code;
}

int signal_job(const Engine& engine,
               const Request& request,
               const queue::Job& job,
               const std::string& step) {
  const auto id = queue::display_id(job);
  if (job.pending())
    return tell(engine,
                request,
                "Kill job error on job id " + id + ": Job is pending execution",
                slurm::k_exit_failure);
  const int number = request.signal.value_or(SIGKILL);
  if (!engine.state) return signal_by_engine(engine, request, job);
  const bool ends_step = !step.empty() && request.ends_job();
  std::vector<std::string> args;
  if (ends_step)
    args = {step};
  else
    args = {std::to_string(number),
            !step.empty()   ? "step:" + step
            : request.batch ? "batch"
            : request.full  ? "full"
                            : "steps"};
  const auto asked = queue::ask_supervisor(*engine.state,
                                           queue::record_key(job),
                                           ends_step ? "end-step" : "signal",
                                           args,
                                           engine.ctx.clock);
  if (asked) return slurm::k_exit_ok;
  if (asked.error().kind == ErrorKind::not_found) {
    if (step.empty()) return signal_by_engine(engine, request, job);
    return tell(engine, request, asked.error().message, slurm::k_exit_failure);
  }
  if (!step.empty()) { // Slurm tells it twice: for the step, and for the job it looked in
    const auto text = "Kill job error on job step id " + id + ": Invalid job id specified";
    tell(engine, request, text, 0);
    return tell(engine, request, text, k_exit_unknown_step);
  }
  return tell(engine,
              request,
              "Kill job error on job id " + id + ": " + asked.error().message,
              slurm::k_exit_failure);
}

} // namespace shim::commands::scancel
