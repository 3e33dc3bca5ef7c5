#include "outputs.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/mux/pattern.h"
#include "slurm_shim/posix/clock.h"
#include "slurm_shim/posix/files.h"

#include <fcntl.h>

namespace shim::batchexec {

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_retry{100};
constexpr unsigned k_file_mode = 0666; // the job's umask decides
constexpr unsigned k_folder_mode = 0777;

std::string expand(const std::string& pattern,
                   const mux::PatternFields& fields,
                   const std::string& working_directory) {
  return posix::absolute(mux::expand_pattern(pattern, fields), working_directory);
}

void await_folder(const std::string& path, Steady::time_point deadline) {
  const auto folder = posix::dir_name(path);
  posix::SystemClock clock;
  while (!posix::exists(folder) && Steady::now() < deadline)
    clock.sleep_for(k_retry);
}

Result<posix::Fd> open_output(const std::string& path, bool append, std::string_view what) {
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | (append ? 0 : O_TRUNC);
  auto fd = posix::open_file(path, flags, k_file_mode);
  if (fd) return fd;
  return tl::unexpected<Error>(
      std::move(fd).error().context("cannot open the " + std::string(what) + " file"));
}

} // namespace

OutputPaths expand_paths(const records::BatchJob& job) {
  mux::PatternFields fields;
  fields.job_id = job.slurm_id;
  fields.array_job_id = job.job;
  fields.array_task_id = job.index;
  fields.node_name = job.host.substr(0, job.host.find('.'));
  fields.job_name = job.name;
  fields.user = job.user;
  OutputPaths paths;
  paths.in = expand(job.in, fields, job.wd);
  paths.out = expand(job.out, fields, job.wd);
  paths.err = job.err ? expand(*job.err, fields, job.wd) : paths.out;
  return paths;
}

Result<Outputs> open_outputs(const OutputPaths& paths,
                             bool append,
                             bool keep_stdin,
                             std::chrono::milliseconds patience) {
  Outputs outputs;
  if (!keep_stdin) { // first: without it the job makes no output file, as in Slurm
    auto in = posix::open_file(paths.in, O_RDONLY | O_NOCTTY);
    if (!in)
      return tl::unexpected<Error>(std::move(in).error().context("cannot open the input file"));
    outputs.in = std::move(*in);
  }
  const auto deadline = Steady::now() + patience;
  for (const auto& path : {paths.out, paths.err}) {
    await_folder(path, deadline);
    if (const auto made = posix::make_directories(posix::dir_name(path), k_folder_mode); !made)
      return tl::unexpected<Error>(
          Error(made.error()).context("cannot make the folder of output file " + path));
  }
  TRY_ASSIGN(outputs.out, open_output(paths.out, append, "output"));
  if (paths.err == paths.out) {
    outputs.err = posix::Fd(::fcntl(outputs.out.get(), F_DUPFD_CLOEXEC, 3));
    if (!outputs.err) return fail_errno("dup", errno);
  } else {
    TRY_ASSIGN(outputs.err, open_output(paths.err, append, "error"));
  }
  return outputs;
}

} // namespace shim::batchexec
