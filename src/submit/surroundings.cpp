#include "slurm_shim/submit/surroundings.h"

#include "engine_defaults.h"

#include "slurm_shim/ge/cell.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/records/sweep.h"

#include <array>
#include <chrono>

#include <sys/stat.h>

namespace shim::submit {

namespace {

constexpr std::array<std::string_view, 4> k_passed{
    "SLURM_SHIM_CONFIG", "SLURM_SHIM_TASK_POLICY", "SLURM_SHIM_DISABLE", "SLURM_SHIM_GE_BIN"};

constexpr std::chrono::milliseconds k_sweep_budget{1000};

} // namespace

Situation look_around(const context::Context& ctx,
                      const Request& request,
                      const records::StatePaths& state,
                      const std::string& directory,
                      std::time_t now) {
  Situation s;
  s.directory = directory;
  if (request.directory)
    s.chdir_is_missing = !posix::exists(posix::absolute(*request.directory, directory) + "/.");
  s.host = posix::host_name();
  s.user = posix::user_name(ctx.runner, ctx.env);
  s.cluster = ge::cluster_name(ctx.env);
  s.token = records::new_token();
  s.state = state.root();
  s.log = state.log_file(s.token);
  s.now = now;
  s.request_files = read_request_files(ctx.env, directory);
  s.umask = ::umask(077); // it can only be read by setting it
  ::umask(s.umask);
  for (const auto name : k_passed)
    if (!ctx.env.get_or(name, "").empty()) s.passed_variables.emplace_back(name);
  return s;
}

void sweep_state(const context::Context& ctx,
                 const records::StatePaths& state,
                 const std::string& user) {
  if (!records::sweep_is_due(state, ctx.clock)) return;
  const ge::Tools tools(ctx.runner, ctx.env, k_sweep_budget);
  const auto alive = [&] { return ge::numbers_of_jobs(tools, user); };
  // What could not be removed today is tried again tomorrow.
  [[maybe_unused]] const auto swept = records::sweep(state, ctx.clock, alive, k_sweep_budget);
}

} // namespace shim::submit
