#pragma once
// One command on one execution host, through the engine and outside of any job of the shim: a
// small interactive job (`qrsh -now y`). For the admin commands, which verify what hosts have.
// Spec install-doctor-ports 1.2, 2 (C12).

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace shim::ge {

struct RemoteCommand {
  std::string host;
  std::vector<std::string> command; // not split by a shell; argv[0] absolute
  std::string as_user;              // "" = the caller; else through runuser, which needs root
};

// The arguments behind "qrsh".
[[nodiscard]] std::vector<std::string> remote_command_args(const RemoteCommand& request);
// "the engine did not start it: <what qrsh said>", from qrsh's stderr; "" when the command ran.
[[nodiscard]] std::string not_started(int status, std::string_view stderr_text);

// What the command itself printed and ended with. Errors: refused (no free slot, no permission),
// unavailable (no answer in time).
[[nodiscard]] Result<posix::Output>
run_on_host(const Tools& tools, const RemoteCommand& request, std::chrono::milliseconds limit);

// As whom root submits: where min_uid of the global configuration keeps root out, the cell's
// admin user (`bootstrap`: its text); "" = as ourselves. Error (refused): neither may submit.
[[nodiscard]] Result<std::string>
submitting_user(uid_t caller, std::string_view min_uid, std::string_view bootstrap);

} // namespace shim::ge
