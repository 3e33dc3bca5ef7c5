#include "slurm_shim/submit/deliver.h"

#include "carried.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/env_file.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/records/sweep.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/submit/predecessors.h"
#include "slurm_shim/submit/refusal.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include <unistd.h>

namespace shim::submit {

namespace {

// A busy qmaster may take its time, and a submission that was cut short may have succeeded.
constexpr std::chrono::milliseconds k_patience{60000};

constexpr std::string_view k_no_controller = "Unable to contact slurm controller (connect failure)";

// The text of a script that is no file of its own, until qsub has read it.
class Spooled {
public:
  explicit Spooled(std::string path) : m_path(std::move(path)) {}
  Spooled(const Spooled&) = delete;
  Spooled& operator=(const Spooled&) = delete;
  ~Spooled() {
    if (m_written) ::unlink(m_path.c_str());
  }
  Result<std::string> write(std::string_view text) {
    TRY(posix::write_file_atomic(m_path, text));
    m_written = true;
    return m_path;
  }

private:
  std::string m_path;
  bool m_written = false;
};

class Deliverer {
public:
  Deliverer(const Delivery& d, Submission& submission)
      : m_d(d), m_submission(submission),
        m_spooled(d.state.submit_dir() + "/" + d.situation.token + ".sh") {}

  // Environment, long record, spooled script.
  Result<void> write_files() {
    TRY(write_carried());
    return write_script();
  }

  Result<void> write_carried() {
    TRY(records::make_state_folders(m_d.state));
    m_entries = carried_environment(m_d.ctx.env, m_d.request.exports);
    const auto& token = m_d.situation.token;
    if (by_file()) {
      TRY(records::check_environment(m_entries));
      TRY(records::write_environment(m_d.state.env_file(token), m_entries));
    }
    return write_record();
  }

  Result<void> write_script() {
    auto& path = m_submission.qsub.script;
    path = m_d.script.path;
    if (!path.empty()) return {};
    TRY_ASSIGN(path, m_spooled.write(m_d.script.text));
    return {};
  }

  // A variable is cut at 9,995 bytes: what is longer goes by file (decision 17).
  Result<void> write_record() {
    m_full_record = m_submission.record.encode();
    m_variable = m_full_record;
    if (m_full_record.size() <= records::k_max_variable_bytes) return {};
    records::SubmitRecord pointer;
    pointer.set("tok", m_d.situation.token);
    pointer.set("dir", m_d.situation.state);
    pointer.set_int("file", 1);
    m_variable = pointer.encode();
    return posix::write_file_atomic(m_d.state.req_file(m_d.situation.token), m_full_record + "\n");
  }

  // qrsh's arguments and its whole environment.
  Result<std::vector<std::string>> interactive_call(const ge::InteractiveRequest& request,
                                                    EnvList& env) {
    TRY(check_variables());
    env = qsub_environment();
    for (const auto* name : {"QRSH_WRAPPER", "SGE_RSH_COMMAND"})
      env.unset(name);
    env.set("SLURM_SHIM_REQ", m_variable);
    if (by_file()) env.set("LC_ALL", "C"); // its words are read
    m_args = ge::build_interactive_args(m_submission.qsub, request);
    if (m_d.request.verbose >= 2)
      m_d.ctx.say(m_d.ctx.command + ": debug: qrsh " + join(m_args, " ") + "\n");
    return m_args;
  }

  Result<ge::Submitted> call() {
    TRY(check_variables());
    const EnvList env = qsub_environment();
    std::vector<std::string> extra{"SLURM_SHIM_REQ=" + m_variable};
    if (!by_file()) // undo what the tools are given: it would travel with -V
      extra.push_back("LC_ALL=" + m_d.ctx.env.get_or("LC_ALL", ""));
    const ge::Tools tools(m_d.ctx.runner, env, m_d.ctx.config.qstat_timeout);
    m_args = ge::build_qsub_args(m_submission.qsub);
    if (m_d.request.verbose >= 2) m_d.ctx.say("sbatch: debug: qsub " + join(m_args, " ") + "\n");
    const auto patience = std::max(k_patience, m_d.ctx.config.qstat_timeout);
    auto submitted = ge::submit(tools, m_args, extra, patience);
    if (!submitted)
      return refuse(submitted.error().message +
                    "\nBatch job submission failed: " + std::string(k_no_controller));
    return submitted;
  }

  tl::unexpected<Error> refused(const ge::Refusal& refusal, std::string_view tool = "qsub") {
    using Kind = ge::RefusalKind;
    const auto& asked = m_submission.record.get_or("part", "");
    const bool configured = !m_d.ctx.config.partitions.empty();
    if (refusal.kind == Kind::unknown_queue && !configured) return refuse_partition(asked);
    std::string text;
    if (!refusal.plain() || (refusal.kind == Kind::unknown_queue && configured))
      text = std::string(tool) + ": " + refusal.detail + "\n";
    if (refusal.kind == Kind::impossible && m_d.request.verbose > 0 && tool == "qsub")
      text += reasons();
    return refuse(text + "Batch job submission failed: " + refusal.reason);
  }

  // The engine's check takes a host in exclusive use for one that never has room: the job has to
  // wait for it, and is submitted without the check.
  Result<ge::Submitted> call_past_exclusive_hosts(ge::Submitted refused) {
    if (refused.refusal->kind != ge::RefusalKind::impossible) return refused;
    if (reasons().find("exclusive resource") == std::string::npos) return refused;
    m_submission.qsub.verify = ge::Verify::none;
    m_submission.warnings.emplace_back(
        "hosts are in exclusive use: whether the request can ever be "
        "met was not checked");
    return call();
  }

  // -w e gives no reasons; -w v does.
  std::string reasons() {
    m_submission.qsub.verify = ge::Verify::dry_run;
    const auto answer = call();
    if (!answer || !answer->refusal) return "";
    return "qsub: " + answer->refusal->detail + "\n";
  }

  void write_submit_file(std::int64_t job,
                         std::string_view command = "sbatch",
                         std::string_view tool = "qsub") {
    records::SubmitFile file;
    file.tok = m_d.situation.token;
    file.job = job;
    if (m_d.request.array) {
      file.tasks = slurm::format_array_indices(m_d.request.array->indices);
      file.native = slurm::native_range(*m_d.request.array).has_value();
    }
    file.sub = m_d.situation.now;
    file.host = m_d.situation.host;
    file.cmd = m_d.words;
    file.cmd.insert(file.cmd.begin(), std::string(command));
    file.qsub = m_args;
    file.qsub.insert(file.qsub.begin(), std::string(tool));
    file.req = m_full_record;
    if (const auto written = records::write_submit_file(m_d.state, file); !written)
      m_submission.warnings.push_back(written.error().message);
  }

  void keep_script(std::int64_t job) {
    const auto& script = m_d.script;
    const auto text = script.path.empty() ? std::optional<std::string_view>(script.text)
                                          : std::optional<std::string_view>();
    if (const auto kept = records::keep_script(m_d.state, job, text); !kept)
      m_submission.warnings.push_back(kept.error().message);
  }

private:
  [[nodiscard]] bool by_file() const { return m_d.ctx.config.env_transport == "file"; }

  // Grid Engine turns backslash-n into a line feed on the way.
  [[nodiscard]] Result<void> check_variables() const {
    for (const auto& name : m_d.situation.passed_variables)
      if (m_d.ctx.env.get_or(name, "").find('\\') != std::string::npos)
        return refuse(name + ": a backslash in its value does not reach the job");
    return {};
  }

  // Where the engine carries the environment, qsub's own is what the job gets.
  EnvList qsub_environment() {
    if (by_file()) return m_d.ctx.env;
    EnvList env = m_d.ctx.env;
    env.unset_if([&](std::string_view name) {
      return !records::is_engine_name(name) && !name.starts_with("SLURM_SHIM_");
    });
    for (const auto& entry : m_entries)
      env.set_entry(entry);
    if (!env.has("PATH")) env.set("PATH", m_d.ctx.env.get_or("PATH", ""));
    auto& variables = m_submission.qsub.variables;
    if (!m_submission.qsub.whole_environment)
      for (const auto& entry : m_entries)
        variables.emplace_back(EnvList::name_of(entry));
    for (auto& text : losses_of_qsub(m_entries))
      m_submission.warnings.push_back(std::move(text));
    return env;
  }

  const Delivery& m_d;
  Submission& m_submission;
  Spooled m_spooled;
  std::vector<std::string> m_entries;
  std::string m_full_record, m_variable;
  std::vector<std::string> m_args;
};

} // namespace

Result<std::int64_t> deliver(const Delivery& delivery, Submission& submission) {
  Deliverer deliverer(delivery, submission);
  const auto give_up = [&](tl::unexpected<Error> error) {
    records::remove_submission(delivery.state, delivery.situation.token);
    return error;
  };
  if (const auto written = deliverer.write_files(); !written)
    return give_up(refuse(written.error().message));
  auto answer = deliverer.call();
  if (answer && answer->refusal) answer = deliverer.call_past_exclusive_hosts(std::move(*answer));
  if (!answer) return give_up(tl::unexpected<Error>(std::move(answer).error()));
  if (answer->refusal) return give_up(deliverer.refused(*answer->refusal));
  if (!answer->job)
    return give_up(refuse("qsub printed no job number: \"" + std::string(trim(answer->said)) +
                          "\"\nBatch job submission failed: Unspecified error"));
  for (auto& text : answer->warnings)
    submission.warnings.push_back("qsub: " + std::move(text));
  deliverer.write_submit_file(*answer->job);
  deliverer.keep_script(*answer->job);
  if (!submission.wait_for_starts.empty()) {
    const auto& ctx = delivery.ctx;
    const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
    for (auto& text :
         wait_for_starts(tools, delivery.state, *answer->job, submission.wait_for_starts))
      submission.warnings.push_back(std::move(text));
  }
  return *answer->job;
}

Result<std::string> try_only(const Delivery& delivery, Submission& submission) {
  Deliverer deliverer(delivery, submission);
  if (const auto made = records::make_state_folders(delivery.state); !made)
    return refuse(made.error().message);
  if (const auto written = deliverer.write_script(); !written)
    return refuse(written.error().message);
  submission.qsub.verify = ge::Verify::dry_run;
  TRY_ASSIGN(const auto answer, deliverer.call());
  if (answer.refusal) return deliverer.refused(*answer.refusal);
  return fmt::format("sbatch: Job 0 to start at {} using {} processors on nodes (null) in "
                     "partition {}\n",
                     slurm::format_date_time(delivery.situation.now),
                     submission.qsub.slots,
                     submission.record.get_or("part", "(null)"));
}

struct InteractiveJob::State {
  State(const Delivery& d, Submission& s) : delivery(d), deliverer(d, s) {}
  const Delivery& delivery;
  Deliverer deliverer;
  std::vector<std::string> args;
  EnvList env;
  bool is_accepted = false;
};

InteractiveJob::InteractiveJob(std::unique_ptr<State> state) : m_state(std::move(state)) {}
InteractiveJob::InteractiveJob(InteractiveJob&& other) noexcept = default;

InteractiveJob::~InteractiveJob() {
  if (m_state && !m_state->is_accepted) withdraw();
}

Result<InteractiveJob> InteractiveJob::prepare(const Delivery& delivery,
                                               Submission& submission,
                                               const ge::InteractiveRequest& request) {
  InteractiveJob job(std::make_unique<State>(delivery, submission));
  if (const auto written = job.m_state->deliverer.write_carried(); !written)
    return refuse(written.error().message);
  TRY_ASSIGN(job.m_state->args, job.m_state->deliverer.interactive_call(request, job.m_state->env));
  return job;
}

const std::vector<std::string>& InteractiveJob::args() const {
  return m_state->args;
}

std::vector<std::string> InteractiveJob::environment() const {
  return m_state->env.entries();
}

void InteractiveJob::accepted(std::int64_t job) {
  m_state->is_accepted = true;
  m_state->deliverer.write_submit_file(job, m_state->delivery.ctx.command, "qrsh");
}

void InteractiveJob::withdraw() {
  records::remove_submission(m_state->delivery.state, m_state->delivery.situation.token);
}

tl::unexpected<Error> InteractiveJob::refused(std::string_view said) const {
  return m_state->deliverer.refused(ge::classify_refusal(said), "qrsh");
}

} // namespace shim::submit
