#include "outputs.h"

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

Result<posix::Fd> open_output_file(const std::string& path, bool append) {
  // Appending also in truncate mode: ranks that name the same file do not overwrite each other.
  const int flags = O_WRONLY | O_CREAT | O_APPEND | (append ? 0 : O_TRUNC);
  auto file = posix::open_file(path, flags, k_file_mode);
  if (!file) return fail(ErrorKind::io, "opening " + file.error().message);
  return file;
}

Result<void> open_files(const proto::RankSpec& rank, bool append, RankOutput& output) {
  if (!rank.stdout_file.empty()) {
    TRY_ASSIGN(output.write_end[0], open_output_file(rank.stdout_file, append));
  }
  if (!rank.stderr_file.empty() && rank.stderr_file != rank.stdout_file) {
    TRY_ASSIGN(output.write_end[1], open_output_file(rank.stderr_file, append));
  }
  return {};
}

Result<void> make_pipes(const proto::RankSpec& rank, bool big, RankOutput& output) {
  const bool to_file[2] = {!rank.stdout_file.empty(), !rank.stderr_file.empty()};
  for (std::size_t stream = 0; stream < 2; ++stream) {
    if (to_file[stream]) continue;
    TRY_ASSIGN(auto pipe, posix::make_pipe());
    TRY(posix::set_nonblocking(pipe.read.get()));
    if (big) static_cast<void>(::fcntl(pipe.read.get(), F_SETPIPE_SZ, k_big_pipe_bytes));
    output.read_end[stream] = std::move(pipe.read);
    output.write_end[stream] = std::move(pipe.write);
  }
  return {};
}

} // namespace

Result<std::vector<RankOutput>> open_outputs(const proto::StepSpec& spec) {
  std::vector<RankOutput> outputs(spec.ranks.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    TRY(open_files(spec.ranks[i], spec.open_append, outputs[i]));
  const bool big = outputs.size() <= k_ranks_with_big_pipes;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    TRY(make_pipes(spec.ranks[i], big, outputs[i]));
  return outputs;
}

} // namespace shim::stepper
