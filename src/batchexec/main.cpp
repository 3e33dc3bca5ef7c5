#include "outputs.h"
#include "script_env.h"
#include "supervisor.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/batchexec/batch_exec.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/posix/process_tree.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/records/env_file.h"
#include "slurm_shim/records/steps.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/rle.h"

#include <csignal>
#include <exception>
#include <numeric>

#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

namespace shim::batchexec {

namespace {

void say_error(std::string_view text) {
  const auto line = "slurm-shim: error: " + std::string(text) + "\n";
  // Nowhere is left to tell that stderr cannot be written.
  [[maybe_unused]] const int error = posix::write_all(STDERR_FILENO, line);
}

struct Batch {
  records::BatchJob job;
  records::JobFolder folder;
  records::StatePaths state;
  records::JobRecordWriter record;
  records::MailboxReader mailbox;
  EnvList own;
  std::vector<std::string> words;
  OutputPaths paths;
  posix::Fd signals, lock;
};

// The user's environment, or what keeps the job from having one.
Result<std::optional<std::vector<std::string>>> load_environment(const Batch& batch) {
  if (posix::exists(batch.folder.environment_failed())) {
    const auto text = posix::read_trusted(batch.folder.environment_failed()).value_or("");
    const auto line = text.substr(0, text.find('\n'));
    return fail(ErrorKind::unavailable, line.empty() ? "the PE hook failed" : line);
  }
  if (!batch.job.env) return std::optional<std::vector<std::string>>{};
  const auto path = batch.state.env_file(batch.job.tok);
  auto entries = records::read_environment(path);
  if (entries) return std::move(*entries);
  if (entries.error().kind != ErrorKind::not_found)
    return tl::unexpected<Error>(std::move(entries).error().context("environment file"));
  return fail(ErrorKind::not_found,
              "environment file " + path + " is not visible on " + posix::host_name() + ": is " +
                  batch.state.root() +
                  " on a file system all hosts share? (config env_transport: qsub)");
}

// From here on descriptors 0-2 are the user's files. The engine's log of the submission goes when
// nobody wrote to it.
Result<void> take_outputs(Batch& batch) {
  // The script itself comes on stdin in this mode of the queue's.
  const bool keep_stdin = batch.own.get("SGE_STARTER_SHELL_START_MODE") == "script_from_stdin" &&
                          !batch.own.get_or("SGE_STARTER_SHELL_PATH", "").empty();
  TRY_ASSIGN(const auto files, open_outputs(batch.paths, batch.job.open_append, keep_stdin));
  if ((files.in && ::dup2(files.in.get(), STDIN_FILENO) < 0) ||
      ::dup2(files.out.get(), STDOUT_FILENO) < 0 || ::dup2(files.err.get(), STDERR_FILENO) < 0)
    return fail_errno("dup2", errno);
  const auto log = batch.state.log_file(batch.job.tok);
  struct stat info {};
  if (::lstat(log.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0)
    ::unlink(log.c_str());
  return {};
}

int sum_of_counts(const EnvList& env, std::string_view name) {
  const auto counts = slurm::expand_counts(env.get_or(name, ""));
  return counts ? std::accumulate(counts->begin(), counts->end(), 0) : 0;
}

records::StartEvent start_event(const Batch& batch) {
  records::StartEvent event;
  event.t_ms = posix::SystemClock().unix_ms();
  event.job = batch.job.job;
  event.task = batch.job.task;
  event.slurm_id = batch.job.slurm_id;
  event.host = batch.job.host;
  event.hosts = batch.own.get_or("SLURM_JOB_NODELIST", batch.job.host);
  event.nodes = parse_int<int>(batch.own.get_or("SLURM_JOB_NUM_NODES", "")).value_or(0);
  event.ntasks = parse_int<int>(batch.own.get_or("SLURM_NTASKS", ""))
                     .value_or(sum_of_counts(batch.own, "SLURM_TASKS_PER_NODE"));
  event.cpus = sum_of_counts(batch.own, "SLURM_JOB_CPUS_PER_NODE");
  event.pid = ::getpid();
  event.out = batch.paths.out;
  event.err = batch.paths.err;
  return event;
}

// The end line and what the job no longer needs. Files of an array serve its other tasks too.
void finish(Batch& batch, const ScriptEnd& end, std::string_view reason) {
  records::EndEvent event;
  event.t_ms = posix::SystemClock().unix_ms();
  event.code = end.code;
  event.sig = end.sig;
  event.reason = reason;
  // A record that cannot be written is never the job's failure.
  [[maybe_unused]] const auto written = batch.record.end(event);
  if (reason == "requeue") return;
  batch.mailbox.remove();
  if (batch.job.task) return;
  ::unlink(batch.state.env_file(batch.job.tok).c_str());
  ::unlink(batch.state.req_file(batch.job.tok).c_str());
}

// Tells it in the log of the submission and in the file where the user looks.
int no_environment(Batch& batch, const Error& error) {
  say_error(error.message);
  if (take_outputs(batch)) say_error(error.message);
  finish(batch, {slurm::k_exit_failure, 0}, "environment");
  return slurm::k_exit_failure;
}

Result<std::vector<std::string>> script_environment(Batch& batch,
                                                    std::optional<std::vector<std::string>> user) {
  TRY_ASSIGN(const auto self, posix::self_path());
  ScriptEnvInput input;
  input.own = batch.own;
  input.user = std::move(user);
  input.shim_folder = posix::dir_name(self);
  input.job_folder = batch.folder.root();
  input.working_directory = batch.job.wd;
  if (::chdir(batch.job.wd.c_str()) != 0) {
    const auto error = fail_errno(batch.job.wd, errno);
    TRY_ASSIGN(input.working_directory, posix::current_directory());
    say_error("cannot change to " + error.value().message + ": staying in " +
              input.working_directory);
  }
  return compose_script_env(input);
}

int run_script(Batch& batch, const std::vector<std::string>& env) {
  [[maybe_unused]] const auto written = batch.record.start(start_event(batch));
  const auto script = start_script(batch.words, env);
  if (!script) {
    const ScriptEnd end{script.error().exit_code, 0};
    const auto line = "slurm-shim: " + script.error().message + "\n";
    [[maybe_unused]] const int error = posix::write_all(STDERR_FILENO, line);
    finish(batch, end, "exit");
    return engine_exit_code(end, false);
  }
  Supervisor supervisor(batch.job, batch.folder, batch.record, batch.mailbox, batch.signals.get());
  const auto outcome = supervisor.run(*script);
  if (!outcome.warning.empty()) say_error(outcome.warning);
  finish(batch, outcome.script, outcome.requeue ? "requeue" : "exit");
  return engine_exit_code(outcome.script, outcome.requeue);
}

Result<Batch> prepare(std::span<char* const> args) {
  if (args.size() < 2 || std::string_view(args[0]) != "--")
    return fail(ErrorKind::usage, "usage: slurm-shim batch-exec -- WORD...");
  // Blocked, not ignored: the script must not inherit an ignored signal. Its own reach it directly.
  TRY_ASSIGN(auto signals,
             posix::block_into_signalfd({SIGTERM,
                                         SIGINT,
                                         SIGHUP,
                                         SIGQUIT,
                                         SIGTSTP,
                                         SIGUSR1,
                                         SIGUSR2,
                                         SIGXCPU,
                                         SIGPIPE,
                                         SIGCHLD}));
  auto own = EnvList::from_envp(environ);
  const auto folder = records::JobFolder::from_env(own);
  TRY_ASSIGN(auto job, records::read_batch_json(folder));
  const records::StatePaths state(job.dir);
  Batch batch{job,
              folder,
              state,
              records::JobRecordWriter(job),
              records::MailboxReader(state.mailbox(job.key())),
              std::move(own),
              std::vector<std::string>(args.begin() + 1, args.end()),
              expand_paths(job),
              std::move(signals),
              {}};
  TRY_ASSIGN(batch.lock, records::take_supervisor_lock(folder));
  return batch;
}

int run(std::span<char* const> args) {
  auto batch = prepare(args);
  if (!batch) {
    say_error(batch.error().message);
    return slurm::k_exit_failure;
  }
  // Without it left-behind qrsh clients go to the engine's starter: only a requeue is at risk.
  [[maybe_unused]] const bool adopts = posix::become_subreaper();
  // Without a mailbox the job runs all the same; requests are refused at their sender.
  [[maybe_unused]] const auto made = batch->mailbox.create();
  auto user = load_environment(*batch);
  if (!user) return no_environment(*batch, user.error());
  if (const auto taken = take_outputs(*batch); !taken) {
    say_error(taken.error().message);
    finish(*batch, {slurm::k_exit_failure, 0}, "output");
    return slurm::k_exit_failure;
  }
  const auto env = script_environment(*batch, std::move(*user));
  if (!env) {
    say_error(env.error().message);
    finish(*batch, {slurm::k_exit_failure, 0}, "environment");
    return slurm::k_exit_failure;
  }
  return run_script(*batch, *env);
}

} // namespace

int batch_exec_main(std::span<char* const> args) {
  try {
    return run(args);
  } catch (const std::exception& e) {
    say_error(e.what());
    return slurm::k_exit_failure;
  }
}

} // namespace shim::batchexec
