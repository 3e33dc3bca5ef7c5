#include "install_verify.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/remote_command.h"

#include <map>

#include <unistd.h>

namespace shim::commands::admin {

namespace {
constexpr std::chrono::milliseconds k_host_limit{30000};
} // namespace

Result<void> verify_on_hosts(const InstallFacts& facts,
                             const InstallOptions& options,
                             const ge::Tools& tools,
                             const std::function<void(const std::string&)>& say,
                             const std::function<void(const std::string&)>& warn) {
  const std::string later = "; slurm-shim doctor --hosts all looks at them later";
  auto user = options.verify_user.empty()
                  ? ge::submitting_user(::geteuid(), facts.min_uid, facts.bootstrap)
                  : Result<std::string>(options.verify_user);
  if (!user) {
    warn("the execution hosts were not looked at: " + user.error().message +
         " (--verify-user NAME looks as somebody else)" + later);
    return {};
  }
  ge::RemoteCommand command;
  command.as_user = *user;
  command.command = {options.prefix + "/libexec/starter_method.sh",
                     options.prefix + "/bin/slurm-shim",
                     "--version"};
  std::vector<std::string> fine;
  std::map<std::string, std::vector<std::string>> not_asked;
  for (const auto& host : facts.exec_hosts) {
    command.host = host;
    const auto answer = ge::run_on_host(tools, command, k_host_limit);
    if (!answer) {
      not_asked[answer.error().message].push_back(host);
    } else if (answer->status != 0 ||
               answer->out.find("slurm-shim " SHIM_VERSION) == std::string::npos) {
      const auto said = trim(answer->err.empty() ? answer->out : answer->err);
      return fail(ErrorKind::refused,
                  "host " + host + ": " + command.command[0] + " does not run " +
                      command.command[1] + " there: " + std::string(said.substr(0, 500)) + " (is " +
                      options.prefix + " the same folder on every host?)");
    } else {
      fine.push_back(host);
    }
  }
  for (const auto& [reason, hosts] : not_asked)
    warn("not looked at: " + join(hosts, ", ") + ": " + reason + later);
  if (!fine.empty()) say("verified on " + join(fine, ", "));
  return {};
}

} // namespace shim::commands::admin
