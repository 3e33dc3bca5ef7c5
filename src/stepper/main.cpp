#include "front.h"
#include "guardian.h"
#include "startup.h"
#include "streams.h"

#include "slurm_shim/posix/fd_sink.h"
#include "slurm_shim/posix/limits.h"
#include "slurm_shim/posix/process_tree.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/proto/dial.h"
#include "slurm_shim/proto/messages.h"
#include "slurm_shim/rankenv/rankenv.h"
#include "slurm_shim/stepper/stepper.h"

#include <csignal>
#include <exception>
#include <memory>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::stepper {

namespace {

// Group-wide signals of the engine and of terminals are not for us (decision 7).
void settle_signals() {
  posix::ignore_signals({SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGPIPE, SIGXCPU});
}

// Up to six descriptors per rank and the socket: the soft limit of 1024 would end at 170 ranks.
posix::OpenFileLimit raise_open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const posix::OpenFileLimit before{limit.rlim_cur, limit.rlim_max};
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

// srun shows the reason; it is not said here a second time.
int fail_all_ranks(const Channel& channel, const proto::StepSpec& spec, const Error& why) {
  std::string frames;
  for (const auto& rank : spec.ranks)
    proto::append_frame(frames,
                        proto::FrameType::rank_fail,
                        0,
                        static_cast<std::uint32_t>(rank.rank),
                        proto::encode_rank_fail({1, why.message}));
  static_cast<void>(send_all(channel.socket.get(), frames));
  return 1;
}

Result<std::vector<RankStreams>> prepare_streams(const proto::StepSpec& spec) {
  if (!rankenv::is_gpu_variable(spec.gpu_env_var))
    return fail(ErrorKind::malformed, "unknown device variable \"" + spec.gpu_env_var + "\"");
  return open_streams(spec);
}

struct Guarded {
  posix::Fd control;
  pid_t pid = -1;
};

// The child of the fork keeps its end of the socket pair and the ranks' ends of the pipes; a copy
// of anything else would hide an end of file from somebody.
Result<Guarded> fork_guardian(Channel& channel,
                              posix::Fd& signal_fd,
                              const proto::StepSpec& spec,
                              const std::string& host,
                              std::vector<RankStreams>& streams,
                              posix::OpenFileLimit open_files) {
  TRY_ASSIGN(auto pair, posix::make_seqpacket_pair());
  TRY_ASSIGN(const auto pid, posix::fork_process());
  if (pid == 0) {
    channel.socket.reset();
    signal_fd.reset();
    pair.first.reset();
    for (auto& rank : streams)
      for (auto& end : rank.front_end)
        end.reset();
    // Here and not in the front, which has to go on whatever the ranks are allowed.
    posix::apply_soft_limits(spec.limits, open_files);
    Guardian(std::move(pair.second), spec, host, std::move(streams), open_files).run();
  }
  for (auto& rank : streams)
    for (auto& end : rank.rank_end)
      end.reset();
  return Guarded{std::move(pair.first), pid};
}

Result<int> run_ranks(Channel channel,
                      posix::Fd signal_fd,
                      const Start& start,
                      const std::string& host,
                      std::span<char> buffer) {
  auto open_files = raise_open_files();
  if (start.spec.umask >= 0) ::umask(static_cast<mode_t>(start.spec.umask));
  auto streams = prepare_streams(start.spec);
  if (!streams) return fail_all_ranks(channel, start.spec, streams.error());
  std::string ready;
  proto::append_frame(ready, proto::FrameType::ready, 0, 0, host);
  static_cast<void>(send_all(channel.socket.get(), ready)); // the loop sees a lost channel
  TRY_ASSIGN(auto guarded,
             fork_guardian(channel, signal_fd, start.spec, host, *streams, open_files));
  Front front(
      {std::move(channel), std::move(guarded.control), std::move(signal_fd), guarded.pid, buffer},
      start.spec,
      std::move(*streams));
  front.take_frames(start.frames);
  return front.run();
}

Result<int> run_stepper(std::span<char* const> args) {
  TRY_ASSIGN(const auto envelope, parse_arguments(args));
  TRY_ASSIGN(const auto token, take_token());
  ::prctl(PR_SET_DUMPABLE, 0);
  settle_signals();
  TRY_ASSIGN(auto signal_fd, posix::block_into_signalfd({SIGTERM}));
  if (!posix::become_subreaper())
    return fail(ErrorKind::unavailable, "no subreaper in this kernel");
  Channel channel;
  TRY_ASSIGN(channel.socket, proto::dial(envelope, token));
  // Mapped once and touched only as far as it is filled; frames in, then output.
  const auto bytes = std::make_unique_for_overwrite<char[]>(proto::k_receive_buffer);
  const std::span<char> buffer(bytes.get(), proto::k_receive_buffer);
  TRY_ASSIGN(const auto start, receive_spec(channel, signal_fd.get(), buffer));
  return run_ranks(std::move(channel), std::move(signal_fd), start, envelope.host, buffer);
}

int complain(const Error& error) {
  posix::FdSink err(2, false);
  if (!error.message.empty()) err.write("stepper: error: " + error.message + "\n");
  return error.exit_code;
}

} // namespace

int stepper_main(std::span<char* const> args) {
  posix::ensure_standard_fds();
  posix::close_descriptors_from(3);
  int code = 1;
  try {
    const auto result = run_stepper(args);
    code = result ? *result : complain(result.error());
  } catch (const std::exception& e) {
    code = complain(Error{ErrorKind::io, e.what(), 1});
  }
  // At once: nothing is buffered, and this process may not be traced (sanitizers would try).
  ::_exit(code);
}

} // namespace shim::stepper
