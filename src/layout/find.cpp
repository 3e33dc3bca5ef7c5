#include "slurm_shim/base/strings.h"
#include "slurm_shim/layout/layout.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/job_id.h"

namespace shim::layout {
namespace {

struct Place {
  std::string directory;
  bool pointed_to; // by a variable that only a job of the shim's (or a test) sets
};

std::vector<Place> places(const EnvList& env) {
  std::vector<Place> out;
  if (const auto own = env.get_or("SLURM_SHIM_DIR", ""); !own.empty()) out.push_back({own, true});
  if (const auto tmp = env.get_or("TMPDIR", ""); !tmp.empty())
    out.push_back({tmp + "/slurm_shim", true});
  out.push_back({"/tmp/slurm_shim", false});
  return out;
}

// The engine's job number this process runs in, from either scheduler's variable.
std::optional<std::int64_t> own_job(const EnvList& env) {
  if (const auto id = parse_int<std::int64_t>(env.get_or("JOB_ID", ""))) return id;
  if (const auto id = parse_int<std::uint64_t>(env.get_or("SLURM_JOB_ID", "")))
    return static_cast<std::int64_t>(slurm::decode_job_id(*id).job);
  return std::nullopt;
}

bool fits(const Layout& layout, const EnvList& env, bool pointed_to) {
  const auto job = own_job(env);
  if (!job) return pointed_to;
  if (*job != layout.job.job_id) return false;
  const auto task = env.get("SGE_TASK_ID");
  return !task || parse_int<std::int64_t>(*task) == layout.job.array_task_id;
}

} // namespace

Result<Found> find(const EnvList& env) {
  for (auto& place : places(env)) {
    const auto path = place.directory + "/" + std::string(k_layout_file);
    const auto text = posix::read_trusted(path);
    if (!text) {
      if (text.error().kind == ErrorKind::not_found || !place.pointed_to) continue;
      return tl::unexpected<Error>(text.error());
    }
    auto layout = from_json(*text, path);
    if (!layout) {
      if (!place.pointed_to) continue;
      return tl::unexpected<Error>(std::move(layout).error());
    }
    if (fits(*layout, env, place.pointed_to))
      return Found{std::move(*layout), std::move(place.directory)};
  }
  return fail(ErrorKind::not_found, "no layout of this job");
}

} // namespace shim::layout
