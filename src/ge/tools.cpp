#include "slurm_shim/ge/tools.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <chrono>

#include <sys/stat.h>
#include <sys/utsname.h>

namespace shim::ge {

namespace {

// Grid Engine's name of this machine's architecture, without running util/arch.
std::string architecture(const EnvList& env) {
  if (auto given = env.get_or("SGE_ARCH", env.get_or("ARC", "")); !given.empty()) return given;
  struct utsname names {};
  if (::uname(&names) != 0) return "lx-amd64";
  const std::string_view machine = names.machine;
  if (machine == "x86_64") return "lx-amd64";
  if (machine == "aarch64") return "lx-arm64";
  if (machine == "ppc64le") return "lx-ppc64le";
  if (machine == "i686" || machine == "i386") return "lx-x86";
  return "lx-" + std::string(machine);
}

// A link named qsub that leads to this binary would call itself for ever.
bool is_ourselves(const std::string& path) {
  struct stat candidate {};
  struct stat self {};
  return ::stat(path.c_str(), &candidate) == 0 && ::stat("/proc/self/exe", &self) == 0 &&
         candidate.st_dev == self.st_dev && candidate.st_ino == self.st_ino;
}

bool usable(const std::string& path) {
  return posix::is_executable_file(path) && !is_ourselves(path);
}

} // namespace

Result<std::string> locate_tool(const EnvList& env, std::string_view tool) {
  std::vector<std::string> folders;
  if (const auto bin = env.get_or("SLURM_SHIM_GE_BIN", ""); !bin.empty()) {
    folders.push_back(bin);
  } else {
    if (const auto path = env.get_or("SGE_BINARY_PATH", ""); !path.empty()) folders.push_back(path);
    if (const auto root = env.get_or("SGE_ROOT", ""); !root.empty())
      folders.push_back(root + "/bin/" + architecture(env));
    const auto search_path = env.get_or("PATH", "");
    for (const auto folder : split(search_path, ':'))
      if (!folder.empty()) folders.emplace_back(folder);
  }
  for (const auto& folder : folders)
    if (auto path = folder + "/" + std::string(tool); usable(path)) return path;
  return fail(ErrorKind::unavailable,
              std::string(tool) + ": not found in " +
                  (folders.empty() ? "an empty search path" : join(folders, ", ")));
}

Result<posix::Output> Tools::run(const Call& call) const {
  posix::RunRequest request;
  TRY_ASSIGN(auto path, locate_tool(m_env, call.tool));
  request.argv.push_back(std::move(path));
  request.argv.insert(request.argv.end(), call.args.begin(), call.args.end());
  EnvList env = m_env;
  env.set("LC_ALL", "C");
  env.set("SGE_SINGLE_LINE", "1");
  env.unset("SGE_DEBUG_LEVEL"); // its trace would mix with the answers
  for (const auto& entry : call.extra_env)
    env.set_entry(entry);
  request.env = std::move(env);
  request.input = call.input;
  request.timeout = call.timeout.count() > 0 ? call.timeout : m_timeout;
  return m_runner.run(request);
}

Result<posix::Output> Tools::run_program(std::vector<std::string> argv,
                                         std::optional<std::chrono::milliseconds> timeout) const {
  posix::RunRequest request;
  request.argv = std::move(argv);
  request.env = m_env;
  request.timeout = timeout.value_or(m_timeout);
  return m_runner.run(request);
}

} // namespace shim::ge
