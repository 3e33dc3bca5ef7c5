#include "login_env.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/records/env_file.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace shim::batchexec {

namespace {

// Profiles may print: the environment begins behind the mark.
constexpr std::string_view k_mark("\0slurm-shim login\0", 18);

// From stdin: `-l` with a command is not known to every shell.
constexpr std::string_view k_commands = "/usr/bin/printf '\\0slurm-shim login\\0'\n"
                                        "exec /usr/bin/env -0\n";

bool is_the_shells(std::string_view name) {
  constexpr std::array<std::string_view, 5> k_names{"_", "OLDPWD", "PWD", "SHLVL", "TERM"};
  return std::ranges::count(k_names, name) > 0 || records::is_engine_name(name) ||
         name.starts_with("SLURM_");
}

} // namespace

Result<std::vector<std::string>>
login_environment(posix::Runner& runner, const EnvList& own, std::chrono::seconds timeout) {
  const auto shell = own.get_or("SHELL", "");
  posix::RunRequest request;
  request.argv = {shell.starts_with('/') ? shell : "/bin/sh", "-l"};
  EnvList env;
  for (const auto* name : {"HOME", "USER", "LOGNAME", "SHELL"})
    if (const auto value = own.get(name)) env.set(name, *value);
  env.set("PATH", "/usr/local/bin:/usr/bin:/bin");
  env.set("TERM", "dumb");
  request.env = std::move(env);
  request.input = k_commands;
  request.timeout = timeout;
  request.chdir = own.get_or("HOME", "");
  TRY_ASSIGN(const auto output, runner.run(request));
  const auto mark = output.out.find(k_mark);
  if (mark == std::string::npos)
    return fail(ErrorKind::unavailable,
                request.argv[0] + " -l did not run a command (exit code " +
                    std::to_string(output.status) + ")");
  std::vector<std::string> entries;
  const auto text = std::string_view(output.out).substr(mark + k_mark.size());
  for (const auto entry : split(text, '\0')) {
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    if (!is_the_shells(entry.substr(0, equals))) entries.emplace_back(entry);
  }
  return entries;
}

} // namespace shim::batchexec
