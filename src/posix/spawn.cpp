#include "slurm_shim/posix/spawn.h"

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/signals.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The child runs on the caller's memory: sanitizers must not keep books about its frames.
#define SHIM_CHILD_SIDE __attribute__((no_sanitize("address", "undefined", "thread")))

namespace shim::posix {

namespace {

constexpr std::size_t k_stack_bytes = 32768;
constexpr std::size_t k_pid_digits = 11;

// Everything the child needs, prepared by the parent: between clone and exec nothing allocates,
// locks or looks at the locale.
struct ChildPlan {
  const SpawnRequest* request = nullptr;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::vector<const char*> candidates;
  std::string pid_entry; // "NAME=" and room for the digits
  char* pid_slot = nullptr;
  cpu_set_t cpus{};
  int affinity_error = 0; // known before the child exists (a CPU number that no mask can hold)
  pid_t parent = -1;
  // Written by the child, read by the parent after it was resumed.
  volatile int failed_stage = -1;
  volatile int error_number = 0;
};

SHIM_CHILD_SIDE void write_text(const char* text, std::size_t length) {
  [[maybe_unused]] const auto written = ::write(2, text, length);
}

SHIM_CHILD_SIDE void write_affinity_warning(const ChildPlan& plan, int error) {
  const std::string& head = plan.request->affinity_warning;
  if (head.empty()) return;
  const char* reason = ::strerrordesc_np(error); // no locale, no buffer
  write_text(head.data(), head.size());
  if (reason != nullptr) write_text(reason, std::strlen(reason));
  write_text("\n", 1);
}

SHIM_CHILD_SIDE void fill_pid_slot(char* slot) {
  char digits[k_pid_digits];
  std::size_t count = 0;
  for (auto pid = ::getpid(); pid > 0; pid /= 10)
    digits[count++] = static_cast<char>('0' + pid % 10);
  while (count > 0)
    *slot++ = digits[--count];
  *slot = '\0';
}

// A source below 3 that is wanted elsewhere is moved out of the way before any dup2 hits it.
SHIM_CHILD_SIDE bool place_descriptors(const SpawnRequest& request) {
  int sources[3] = {request.stdin_fd, request.stdout_fd, request.stderr_fd};
  for (int target = 0; target < 3; ++target) {
    int& source = sources[target];
    if (source == k_null_fd) {
      source = ::open("/dev/null", O_RDWR | O_CLOEXEC);
      if (source < 0) return false;
    }
    if (source < 0 || source > 2 || source == target) continue;
    source = ::fcntl(source, F_DUPFD_CLOEXEC, 3);
    if (source < 0) return false;
  }
  for (int target = 0; target < 3; ++target) {
    const int source = sources[target];
    if (source == target && ::fcntl(target, F_SETFD, 0) != 0) return false;
    if (source >= 0 && source != target && ::dup2(source, target) < 0) return false;
  }
  return true;
}

// As execvp does: the next candidate after "not there" and "may not", and "may not" wins at the
// end.
SHIM_CHILD_SIDE int execute(const ChildPlan& plan) {
  bool denied = false;
  int error = ENOENT;
  for (const char* candidate : plan.candidates) {
    ::execve(candidate, plan.argv.data(), plan.envp.data());
    error = errno;
    if (error == EACCES)
      denied = true;
    else if (error != ENOENT && error != ENOTDIR && error != ESTALE && error != ENODEV &&
             error != ETIMEDOUT)
      return error;
  }
  return denied ? EACCES : error;
}

using Stage = SpawnError::Stage;

[[noreturn]] SHIM_CHILD_SIDE void give_up(ChildPlan& plan, Stage stage, int error) {
  plan.error_number = error;
  plan.failed_stage = static_cast<int>(stage);
  ::_exit(127);
}

SHIM_CHILD_SIDE int child_main(void* argument) {
  auto& plan = *static_cast<ChildPlan*>(argument);
  const SpawnRequest& request = *plan.request;
  if (request.group == ProcessGroup::own) ::setpgid(0, 0);
  if (request.group == ProcessGroup::session) ::setsid();
  if (request.parent_death_signal != 0) {
    ::prctl(PR_SET_PDEATHSIG, request.parent_death_signal);
    // The parent may have died before the call above could see it.
    if (::getppid() != plan.parent) give_up(plan, Stage::orphaned, ESRCH);
  }
  if (!place_descriptors(request)) give_up(plan, Stage::descriptors, errno);
  if (request.controlling_terminal && ::ioctl(0, TIOCSCTTY, 0) != 0)
    give_up(plan, Stage::descriptors, errno);
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  if (request.open_files) {
    const rlimit limit{request.open_files->soft, request.open_files->hard};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (!request.cpus.empty()) {
    int error = plan.affinity_error;
    if (error == 0 && ::sched_setaffinity(0, sizeof plan.cpus, &plan.cpus) != 0) error = errno;
    if (error != 0) write_affinity_warning(plan, error);
  }
  if (!request.chdir.empty() && ::chdir(request.chdir.c_str()) != 0)
    give_up(plan, Stage::chdir, errno);
  if (plan.pid_slot != nullptr) fill_pid_slot(plan.pid_slot);
  reset_signals();
  give_up(plan, Stage::exec, execute(plan));
}

char* writable(const std::string& text) {
  return const_cast<char*>(text.c_str()); // NOLINT: the C interface, not written to
}

void prepare_environment(ChildPlan& plan) {
  const SpawnRequest& request = *plan.request;
  plan.envp.reserve(request.env.size() + 2);
  for (const auto& entry : request.env)
    if (request.pid_variable.empty() || EnvList::name_of(entry) != request.pid_variable)
      plan.envp.push_back(writable(entry));
  if (!request.pid_variable.empty()) {
    plan.pid_entry = request.pid_variable + "=";
    const auto head = plan.pid_entry.size();
    plan.pid_entry.resize(head + k_pid_digits);
    plan.pid_slot = plan.pid_entry.data() + head;
    plan.envp.push_back(plan.pid_entry.data());
  }
  plan.envp.push_back(nullptr);
}

void prepare_affinity(ChildPlan& plan) {
  CPU_ZERO(&plan.cpus);
  for (const int cpu : plan.request->cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE)
      plan.affinity_error = EINVAL;
    else
      CPU_SET(static_cast<unsigned>(cpu), &plan.cpus);
  }
}

// Kernels before 5.11 cannot mark a range: mark what is open here, which no program of ours wants
// to hand down either.
void mark_descriptors_one_by_one() {
  DIR* directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return;
  while (const auto* entry = ::readdir(directory)) {
    const auto fd = parse_int<int>(entry->d_name);
    if (fd && *fd > 2) ::fcntl(*fd, F_SETFD, FD_CLOEXEC);
  }
  ::closedir(directory);
}

bool has_close_range() {
  // An empty range: flags are checked, nothing is changed.
  return ::syscall(SYS_close_range, ~0U, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
}

struct Cloned {
  pid_t pid = -1;
  int pidfd = -1;
  int error = 0;
};

// Signals stay blocked until the child has its own dispositions: a handler of ours must not run on
// both sides of shared memory.
Cloned clone_child(ChildPlan& plan) {
  const auto stack = std::make_unique_for_overwrite<std::array<char, k_stack_bytes>>();
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  Cloned cloned;
  int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
  if (plan.request->want_pidfd) flags |= CLONE_PIDFD; // unknown to old kernels, which ignore it
  cloned.pid = ::clone(child_main, stack->data() + k_stack_bytes, flags, &plan, &cloned.pidfd);
  cloned.error = cloned.pid < 0 ? errno : 0;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return cloned;
}

SpawnError failure(const SpawnRequest& request, Stage stage, int error) {
  SpawnError result{stage, error, {}};
  if (stage == Stage::chdir) result.subject = request.chdir;
  if (stage == Stage::exec)
    result.subject = request.program.empty() ? request.argv[0] : request.program;
  return result;
}

} // namespace

std::string SpawnError::message() const {
  const char* known = ::strerrordesc_np(error_number);
  const std::string reason = known != nullptr ? known : "error " + std::to_string(error_number);
  switch (stage) {
  case Stage::fork: return "cannot create a process: " + reason;
  case Stage::descriptors: return "cannot place descriptors: " + reason;
  case Stage::chdir: return "chdir " + subject + ": " + reason;
  case Stage::orphaned: return "the parent has ended";
  case Stage::exec: break;
  }
  return subject + ": " + reason;
}

std::vector<std::string> program_candidates(const std::string& program,
                                            const std::vector<std::string>& env) {
  if (program.find('/') != std::string::npos) return {program};
  const auto is_path = [](const auto& entry) { return EnvList::name_of(entry) == "PATH"; };
  const auto path = std::find_if(env.rbegin(), env.rend(), is_path);
  if (program.empty() || path == env.rend()) return {};
  std::vector<std::string> candidates;
  for (const auto directory : split(EnvList::value_of(*path), ':'))
    candidates.push_back(directory.empty() ? program : std::string(directory) + "/" + program);
  return candidates;
}

tl::expected<Process, SpawnError> spawn(const SpawnRequest& request) {
  static const bool can_mark_range = has_close_range();
  ChildPlan plan;
  plan.request = &request;
  plan.parent = ::getpid();
  const auto& program = request.program.empty() ? request.argv.at(0) : request.program;
  const auto candidates = program_candidates(program, request.env);
  for (const auto& candidate : candidates)
    plan.candidates.push_back(candidate.c_str());
  for (const auto& word : request.argv)
    plan.argv.push_back(writable(word));
  plan.argv.push_back(nullptr);
  prepare_environment(plan);
  prepare_affinity(plan);
  if (!can_mark_range) mark_descriptors_one_by_one();

  const Cloned cloned = clone_child(plan);
  if (cloned.pid < 0)
    return tl::unexpected<SpawnError>(failure(request, Stage::fork, cloned.error));
  Process process{cloned.pid, Fd(cloned.pidfd)};
  if (plan.failed_stage < 0) return process;
  while (::waitpid(cloned.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return tl::unexpected<SpawnError>(
      failure(request, static_cast<Stage>(plan.failed_stage), plan.error_number));
}

Result<pid_t> fork_process() {
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("cannot create a process", errno);
  return pid;
}

Result<pid_t> start_thin_process(int (*body)(void*), void* argument, std::span<std::byte> stack) {
  const pid_t pid = ::clone(body, stack.data() + stack.size(), CLONE_VM | SIGCHLD, argument);
  if (pid < 0) return fail_errno("cannot create a process", errno);
  return pid;
}

} // namespace shim::posix
