#include "control.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>

#include <sys/stat.h>

namespace shim::commands::scontrol {

namespace {

Result<std::string> unchanged_file(const std::string& path, std::int64_t submitted) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return fail_errno("open " + path, errno);
  if (facts.st_mtim.tv_sec > submitted)
    return fail(ErrorKind::refused, path + " has changed since the job was submitted");
  return posix::read_file(path);
}

// The engine's copy where it can be read, else sbatch's of a script that was no file, else the file
// that was submitted, as long as it is the same one.
Result<std::string> script_of(const Session& session, const queue::Job& job) {
  const auto& env = session.tools.env();
  const auto spooled = env.get_or("SGE_ROOT", "") + "/" + env.get_or("SGE_CELL", "default") +
                       "/spool/qmaster/job_scripts/" + std::to_string(job.job);
  if (auto text = posix::read_file(spooled)) return std::move(*text);
  if (!session.source.state)
    return fail(ErrorKind::not_found, "no record of how the job was submitted");
  TRY_ASSIGN(const auto file,
             records::read_submit_file(*session.source.state, static_cast<std::int64_t>(job.job)));
  TRY_ASSIGN(const auto record, records::SubmitRecord::decode(file.req));
  auto kept = records::read_kept_script(*session.source.state, file.job);
  if (kept || kept.error().kind != ErrorKind::not_found) return kept;
  const auto path = record.get_or("script", "");
  if (path.empty()) return fail(ErrorKind::not_found, "the script was not kept");
  return unchanged_file(path, file.sub);
}

} // namespace

// Failures are told, and the exit code stays 0, as in Slurm.
int write_script(context::Context& ctx, const Settings& settings, Words words) {
  if (words.empty()) return need_id(ctx, settings, "write batch_script");
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const auto failed = [&](std::string_view why) {
    tell(ctx, settings, "job script retrieval failed: " + std::string(why));
    return slurm::k_exit_ok;
  };
  const auto ref = slurm::parse_job_id(words[0]);
  if (!ref) return failed(k_invalid_id);
  const Session session(ctx);
  const auto jobs = find_jobs(session, *ref);
  if (!jobs) return ctx.fail(jobs.error());
  if (jobs->empty()) return failed(k_invalid_id);
  if (jobs->front().user != posix::user_name(ctx.runner, ctx.env)) return failed("Invalid user id");
  const auto text = script_of(session, jobs->front());
  if (!text) return failed(text.error().message);
  const auto target = words.size() > 1 ? words[1] : fmt::format("slurm-{}.sh", words[0]);
  if (target == "-") {
    ctx.out.write(*text);
    return slurm::k_exit_ok;
  }
  if (const auto written = posix::write_file_atomic(target, *text, 0600); !written)
    return failed(written.error().message);
  ctx.out.write(fmt::format("batch script for job {} written to {}\n", words[0], target));
  return slurm::k_exit_ok;
}

} // namespace shim::commands::scontrol
