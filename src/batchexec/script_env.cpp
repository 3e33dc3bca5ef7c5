#include "script_env.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/rankenv/rankenv.h"
#include "slurm_shim/records/env_file.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace shim::batchexec {

namespace {

// Set by the PE hook with the mask itself.
constexpr std::string_view k_mask_name = "SLURM_SHIM_GPU_VARIABLE";

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The engine's daemons have their own; the submitter's come by the file.
bool is_loader_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> k_names{
      "LD_LIBRARY_PATH", "LD_PRELOAD", "LIBPATH", "SHLIB_PATH"};
  return contains(k_names, name);
}

// What a shell that only starts a program leaves behind.
bool is_starter_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> k_names{"_", "SHLVL", "PWD", "OLDPWD"};
  return contains(k_names, name) || name.starts_with("SGE_STARTER_");
}

// Plain qsub -V inside the job would look like this job, or a step's key would be seen.
bool is_secret_name(std::string_view name) {
  return name == "SLURM_SHIM_REQ" || name == "SLURM_SHIM_TOKEN";
}

bool is_job_name(std::string_view name) {
  constexpr std::array<std::string_view, 3> k_names{
      "SLURMD_NODENAME", "MASTER_ADDR", "MASTER_PORT"};
  return records::is_engine_name(name) || name.starts_with("SLURM_") || contains(k_names, name);
}

bool is_mask_name(std::string_view name) {
  return std::ranges::count(rankenv::device_mask_variables(), name) > 0;
}

std::string path_with(std::string_view folder, std::string_view path) {
  std::string out(folder);
  // The hook's environment file has put it in front already.
  if (path == folder || path.starts_with(out + ":")) return std::string(path);
  if (!path.empty()) {
    out += ':';
    out += path;
  }
  return out;
}

} // namespace

std::vector<std::string> compose_script_env(const ScriptEnvInput& input) {
  std::vector<std::string> entries;
  for (const auto& entry : input.own.entries()) {
    const auto name = EnvList::name_of(entry);
    if (!is_loader_name(name) && !is_starter_name(name)) entries.push_back(entry);
  }
  // The mask of the devices that the job was granted is the job's, and the only one.
  const auto mask = input.own.get_or(k_mask_name, "");
  if (input.user) {
    entries.insert(entries.end(), input.user->begin(), input.user->end());
    for (const auto& entry : input.own.entries()) {
      const auto name = EnvList::name_of(entry);
      if (is_job_name(name) && !is_starter_name(name)) entries.push_back(entry);
    }
  }
  std::optional<std::string_view> path = input.own.get("PATH");
  if (input.user)
    for (const auto& entry : *input.user)
      if (EnvList::name_of(entry) == "PATH") path = EnvList::value_of(entry);
  entries.push_back("PATH=" + path_with(input.shim_folder, path.value_or("/usr/bin:/bin")));
  entries.push_back("SLURM_SHIM_DIR=" + input.job_folder);
  entries.push_back("PWD=" + input.working_directory);
  EnvList env(std::move(entries));
  env.unset_if(is_secret_name);
  env.unset(k_mask_name);
  if (!mask.empty()) {
    env.unset_if(is_mask_name);
    env.set(mask, input.own.get_or(mask, ""));
  }
  return std::move(env).take();
}

} // namespace shim::batchexec
