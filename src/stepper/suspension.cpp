#include "suspension.h"

#include "slurm_shim/posix/signals.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/records/mailbox.h"

#include <csignal>
#include <ctime>

#include <sys/prctl.h>
#include <unistd.h>

namespace shim::stepper {

namespace {

constexpr timespec k_period{1, 500'000'000}; // network file systems cache what they know for 1 s

// The last word of those that came counts: who was resumed before we looked was never suspended.
char last_word(records::MailboxReader& mailbox) {
  char word = 0;
  for (const auto& received : mailbox.poll()) {
    if (!received.request) continue;
    if (received.request->verb == "suspend") word = k_suspended;
    if (received.request->verb == "resume") word = k_resumed;
  }
  return word;
}

[[noreturn]] void listen(const std::string& path) {
  records::MailboxReader mailbox(path);
  mailbox.skip_existing();
  for (;;) {
    ::nanosleep(&k_period, nullptr);
    const char word = last_word(mailbox);
    if (word != 0 && ::write(0, &word, 1) != 1) ::_exit(0); // nobody listens to us
  }
}

void end_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
}

} // namespace

Result<Listener> start_listener(const std::string& mailbox) {
  TRY_ASSIGN(auto pipe, posix::make_pipe());
  TRY(posix::set_nonblocking(pipe.read.get()));
  const auto parent = ::getpid();
  TRY_ASSIGN(const auto pid, posix::fork_process());
  if (pid == 0) {
    end_with(parent);
    ::dup2(pipe.write.get(), 0);
    posix::close_descriptors_from(1);
    posix::ignore_signals({SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGPIPE});
    listen(mailbox);
  }
  return Listener{pid, std::move(pipe.read)};
}

void tell_mailbox(const std::string& mailbox, bool suspended) {
  const auto parent = ::getpid();
  const auto pid = posix::fork_process();
  if (!pid || *pid != 0) return; // without a process nobody is told; the next word may get through
  end_with(parent);
  posix::close_descriptors_from(0);
  const auto told = records::append_request(
      mailbox, suspended ? "suspend" : "resume", {std::string(records::k_from_engine)});
  ::_exit(told ? 0 : 1);
}

} // namespace shim::stepper
