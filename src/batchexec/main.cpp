#include "login_env.h"
#include "outputs.h"
#include "script_env.h"
#include "supervisor.h"
#include "terminal.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/batchexec/batch_exec.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/posix/process_tree.h"
#include "slurm_shim/posix/runner.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/records/env_file.h"
#include "slurm_shim/records/interactive.h"
#include "slurm_shim/records/steps.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/rle.h"

#include <fmt/core.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <numeric>

#include <sys/stat.h>
#include <unistd.h>

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
  bool begun = false;       // the record has its start line
  bool on_terminal = false; // an interactive command that gets one
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
Result<void> take_outputs(Batch& batch, bool append) {
  if (batch.job.interactive()) return {};
  // The script itself comes on stdin in this mode of the queue's.
  const bool keep_stdin = batch.own.get("SGE_STARTER_SHELL_START_MODE") == "script_from_stdin" &&
                          !batch.own.get_or("SGE_STARTER_SHELL_PATH", "").empty();
  TRY_ASSIGN(const auto files, open_outputs(batch.paths, append, keep_stdin));
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
  if (!batch.job.interactive()) {
    event.out = batch.paths.out;
    event.err = batch.paths.err;
  }
  return event;
}

// Once for each run: readers take an end without a start for a torn file.
void begin_record(Batch& batch) {
  if (batch.begun) return;
  batch.begun = true;
  // A record that cannot be written is never the job's failure.
  [[maybe_unused]] const auto written = batch.record.start(start_event(batch));
}

// The end line and what the job no longer needs. Files of an array serve its other tasks too.
void finish(Batch& batch, const ScriptEnd& end, std::string_view reason) {
  begin_record(batch);
  records::EndEvent event;
  event.t_ms = posix::SystemClock().unix_ms();
  event.code = end.code;
  event.sig = end.sig;
  event.reason = reason;
  [[maybe_unused]] const auto written = batch.record.end(event);
  if (reason == "requeue") return;
  batch.mailbox.remove();
  if (batch.job.task) return;
  ::unlink(batch.state.env_file(batch.job.tok).c_str());
  ::unlink(batch.state.req_file(batch.job.tok).c_str());
}

// Ends a job that may not or cannot run: tells it in the log of the submission and in the file
// where the user looks. What an earlier job wrote there stays.
int give_up(Batch& batch, const std::string& text, std::string_view reason) {
  say_error(text);
  if (!batch.job.interactive() && take_outputs(batch, true)) say_error(text);
  finish(batch, {slurm::k_exit_failure, 0}, reason);
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
  if (::chdir(batch.job.wd.c_str()) != 0) { // as Slurm, whose words these are
    constexpr const char* k_instead = "/tmp";
    say_error(fmt::format("couldn't chdir to `{}': {}: going to {} instead",
                          batch.job.wd,
                          std::strerror(errno),
                          k_instead));
    if (::chdir(k_instead) != 0) return fail_errno(k_instead, errno);
    input.working_directory = k_instead;
  }
  return compose_script_env(input);
}

// Variables that the user's own environment does not have come from a login shell.
void add_login_environment(const Batch& batch, std::optional<std::vector<std::string>>& user) {
  if (!batch.job.login_timeout_s || !user) return;
  posix::ProcessRunner runner;
  auto login =
      login_environment(runner, batch.own, std::chrono::seconds(*batch.job.login_timeout_s));
  if (!login) return say_error("login environment: " + login.error().message);
  login->insert(login->end(), user->begin(), user->end());
  user = EnvList(std::move(*login)).entries();
}

int run_script(Batch& batch, const std::vector<std::string>& env) {
  begin_record(batch);
  // Whoever waits for it at the other end of qrsh may send the command's input from now on.
  if (batch.job.interactive()) [[maybe_unused]]
    const int error = posix::write_all(STDOUT_FILENO, records::k_begun_mark);
  std::optional<Terminal> terminal;
  if (batch.on_terminal) {
    auto opened = Terminal::open();
    if (!opened) return give_up(batch, opened.error().message, "terminal");
    terminal.emplace(std::move(*opened));
  }
  const auto script = start_script(batch.words, env, terminal ? terminal->fd() : -1);
  if (terminal) terminal->handed_over();
  if (!script) {
    const ScriptEnd end{script.error().exit_code, 0};
    say_error(script.error().message);
    finish(batch, end, "exit");
    return engine_exit_code(end, false);
  }
  Supervisor supervisor(batch.job, batch.folder, batch.record, batch.mailbox, batch.signals.get());
  const auto outcome = supervisor.run(*script);
  if (terminal) terminal->wait();
  if (!outcome.warning.empty()) say_error(outcome.warning);
  finish(batch, outcome.script, outcome.reason());
  return engine_exit_code(outcome.script, outcome.requeue);
}

Result<Batch> prepare(std::span<char* const> args) {
  // qrsh's command, and no starter_method came in between.
  if (args.empty() || std::string_view(args[0]) == records::k_terminal_word)
    return fail(ErrorKind::usage, "the queue has no starter_method (slurm-shim install sets it)");
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
  auto words =
      job.interactive() ? job.command : std::vector<std::string>(args.begin() + 1, args.end());
  Batch batch{job,
              folder,
              state,
              records::JobRecordWriter(job),
              records::MailboxReader(state.mailbox(job.key())),
              std::move(own),
              std::move(words),
              expand_paths(job),
              std::move(signals),
              {},
              false,
              job.interactive() && std::string_view(args.back()) == records::k_terminal_word};
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
  if (batch->job.umask) ::umask(static_cast<mode_t>(*batch->job.umask));
  if (const auto& never = batch->job.never)
    return give_up(*batch,
                   fmt::format("job {} cannot start: {}", batch->job.slurm_id, never->text),
                   never->reason);
  auto user = load_environment(*batch);
  if (!user) return give_up(*batch, user.error().message, "environment");
  if (const auto taken = take_outputs(*batch, batch->job.open_append); !taken) {
    say_error(taken.error().message);
    finish(*batch, {slurm::k_exit_failure, 0}, "output");
    return slurm::k_exit_failure;
  }
  add_login_environment(*batch, *user); // after the outputs: a warning is for the user
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
