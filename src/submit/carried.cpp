#include "carried.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/fabricate/variables.h"
#include "slurm_shim/records/env_file.h"

#include <string_view>

namespace shim::submit {

namespace {

constexpr std::size_t k_longest_carried = 9000; // the engine cuts at 9,999 bytes

} // namespace

std::vector<std::string> carried_environment(const EnvList& env, const slurm::ExportSpec& exports) {
  EnvList chosen;
  if (exports.all && !exports.none) {
    chosen = env;
  } else {
    for (const auto& name : exports.names)
      if (const auto value = env.get(name)) chosen.set(name, *value);
  }
  std::vector<std::string> settings;
  for (const auto& [name, value] : exports.settings)
    settings.push_back(name + "=" + value);
  return records::select_environment(chosen, fabricate::job_variable_names(), settings);
}

std::vector<std::string> losses_of_qsub(const std::vector<std::string>& entries) {
  std::vector<std::string> dropped, cut, changed;
  for (const auto& entry : entries) {
    const auto name = std::string(EnvList::name_of(entry));
    if (name.starts_with("LD_") || name == "LIBPATH" || name == "SHLIB_PATH")
      dropped.push_back(name);
    if (entry.size() > k_longest_carried) cut.push_back(name);
    if (entry.find("\\n") != std::string::npos) changed.push_back(name);
  }
  std::vector<std::string> warnings;
  const auto tell = [&](const std::vector<std::string>& names, std::string_view what) {
    if (!names.empty())
      warnings.push_back("env_transport qsub: " + join(names, ", ") + ": " + std::string(what));
  };
  tell(dropped, "removed by Grid Engine");
  tell(cut, "longer than Grid Engine carries");
  tell(changed, "a backslash followed by n becomes a line feed");
  return warnings;
}

} // namespace shim::submit
