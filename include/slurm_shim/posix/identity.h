#pragma once
// Who and where we are, without name-service calls in the binary (decision 30): uid and gid from
// the kernel, names from the environment or a getent child, host name from uname(2).

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/runner.h"

#include <string>

#include <sys/types.h>

namespace shim::posix {

// uname's nodename, as it is.
[[nodiscard]] std::string host_name();

struct PasswdEntry {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
  std::string shell;
};
// `getent passwd KEY` (a name or a number). not_found when there is none.
[[nodiscard]] Result<PasswdEntry> lookup_user(Runner& runner, const std::string& key);
// $USER, $LOGNAME, getent of the real uid, in this order.
[[nodiscard]] std::string user_name(Runner& runner, const EnvList& env);
// $HOME, else getent of the real uid; "" when neither knows.
[[nodiscard]] std::string home_directory(Runner& runner, const EnvList& env);
// First IPv4 address `getent ahostsv4 NAME` gives, in numbers; 127/8 answers are skipped unless
// `allow_loopback`. not_found when there is none.
[[nodiscard]] Result<std::string>
resolve_ipv4(Runner& runner, const std::string& name, bool allow_loopback = false);

} // namespace shim::posix
