#include "streams.h"

#include "slurm_shim/posix/spawn.h"
#include "slurm_shim/posix/terminal.h"

#include <cerrno>
#include <string>

#include <fcntl.h>

namespace shim::stepper {

namespace {

// Larger pipes save switches between a rank that writes much and the front; with many ranks they
// would only use up what the kernel grants one user.
constexpr std::size_t k_ranks_with_big_pipes = 16;
constexpr int k_big_pipe_bytes = 256 * 1024;
constexpr unsigned k_file_mode = 0666; // & ~umask

Result<posix::Fd> open_named(const std::string& path, int flags) {
  auto file = posix::open_file(path, flags, k_file_mode);
  if (!file) return fail(ErrorKind::io, "opening " + file.error().message);
  return file;
}

Result<void> open_files(const proto::RankSpec& rank, bool append, RankStreams& streams) {
  // Appending also in truncate mode: ranks that name the same file do not overwrite each other.
  const int flags = O_WRONLY | O_CREAT | O_APPEND | (append ? 0 : O_TRUNC);
  if (!rank.stdin_file.empty()) {
    TRY_ASSIGN(streams.rank_end[0], open_named(rank.stdin_file, O_RDONLY));
  }
  if (!rank.stdout_file.empty()) {
    TRY_ASSIGN(streams.rank_end[1], open_named(rank.stdout_file, flags));
  }
  if (!rank.stderr_file.empty() && rank.stderr_file != rank.stdout_file) {
    TRY_ASSIGN(streams.rank_end[2], open_named(rank.stderr_file, flags));
  }
  return {};
}

Result<void> make_pipe(RankStreams& streams, std::size_t stream, bool big) {
  TRY_ASSIGN(auto pipe, posix::make_pipe());
  auto& front_end = stream == 0 ? pipe.write : pipe.read;
  TRY(posix::set_nonblocking(front_end.get()));
  if (big) static_cast<void>(::fcntl(front_end.get(), F_SETPIPE_SZ, k_big_pipe_bytes));
  streams.front_end[stream] = std::move(front_end);
  streams.rank_end[stream] = std::move(stream == 0 ? pipe.read : pipe.write);
  return {};
}

Result<void> make_pipes(const proto::RankSpec& rank, bool big, RankStreams& streams) {
  if (rank.reads_stdin) TRY(make_pipe(streams, 0, big));
  if (rank.stdout_file.empty()) TRY(make_pipe(streams, 1, big));
  if (rank.stderr_file.empty()) TRY(make_pipe(streams, 2, big));
  return {};
}

Result<void> make_terminal(const posix::TerminalState& state, RankStreams& streams) {
  TRY_ASSIGN(auto pair, posix::open_pseudo_terminal(state));
  streams.is_terminal = true;
  streams.rank_end[1] = std::move(pair.slave);
  streams.front_end[0].reset(::fcntl(pair.master.get(), F_DUPFD_CLOEXEC, 3));
  if (!streams.front_end[0]) return fail_errno("dup", errno);
  streams.front_end[1] = std::move(pair.master);
  return {};
}

} // namespace

int RankStreams::rank_fd(std::size_t stream) const {
  if (rank_end[stream].valid()) return rank_end[stream].get();
  return stream == 2 || is_terminal ? rank_end[1].get() : posix::k_null_fd;
}

Result<std::vector<RankStreams>> open_streams(const proto::StepSpec& spec) {
  std::vector<RankStreams> all(spec.ranks.size());
  const auto on_terminal = [&spec](const proto::RankSpec& rank) {
    return rank.on_terminal && spec.terminal.has_value();
  };
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!on_terminal(spec.ranks[i])) TRY(open_files(spec.ranks[i], spec.open_append, all[i]));
  const bool big = all.size() <= k_ranks_with_big_pipes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (on_terminal(spec.ranks[i]))
      TRY(make_terminal(*spec.terminal, all[i]));
    else
      TRY(make_pipes(spec.ranks[i], big, all[i]));
  }
  return all;
}

} // namespace shim::stepper
