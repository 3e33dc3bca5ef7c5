#include "slurm_shim/ge/remote_command.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/qconf.h"

#include <algorithm>
#include <array>

namespace shim::ge {

std::vector<std::string> remote_command_args(const RemoteCommand& request) {
  // -clear: nothing of request files (a queue, a PE, other resources) may lead it elsewhere.
  std::vector<std::string> args{
      "-clear", "-now", "y", "-nostdin", "-noshell", "-N", "slurm-shim", "-l", "h=" + request.host};
  args.insert(args.end(), request.command.begin(), request.command.end());
  return args;
}

std::string not_started(int status, std::string_view stderr_text) {
  if (status == 0) return "";
  constexpr std::array<std::string_view, 11> k_texts{"could not be scheduled",
                                                     "Unable to run job",
                                                     "job rejected:",
                                                     "can't resolve hostname",
                                                     "no suitable queues",
                                                     "unable to send message to qmaster",
                                                     "denied:",
                                                     "error: commlib error",
                                                     "unknown resource",
                                                     "runuser:",
                                                     "no submit host"};
  for (const auto line : split(stderr_text, '\n'))
    for (const auto text : k_texts)
      if (line.find(text) != std::string_view::npos) return std::string(trim(line));
  return "";
}

Result<posix::Output>
run_on_host(const Tools& tools, const RemoteCommand& request, std::chrono::milliseconds limit) {
  const auto args = remote_command_args(request);
  auto answer = [&]() -> Result<posix::Output> {
    if (request.as_user.empty()) return tools.run({.tool = "qrsh", .args = args, .timeout = limit});
    TRY_ASSIGN(const auto qrsh, locate_tool(tools.env(), "qrsh"));
    std::vector<std::string> argv{"runuser", "-u", request.as_user, "--", qrsh};
    argv.insert(argv.end(), args.begin(), args.end());
    return tools.run_program(std::move(argv), limit);
  }();
  if (!answer) return answer;
  if (const auto reason = not_started(answer->status, answer->err); !reason.empty())
    return fail(ErrorKind::refused, "the engine did not start it: " + reason);
  return answer;
}

Result<std::string>
submitting_user(uid_t caller, std::string_view min_uid, std::string_view bootstrap) {
  const auto least = parse_int<int>(min_uid).value_or(0);
  if (caller != 0 || least <= 0) return std::string{};
  const auto attributes = parse_attributes(bootstrap);
  const auto admin = attributes.get_or("admin_user", "none");
  if (admin != "root" && !equals_ignore_case(admin, "none")) return admin;
  return fail(ErrorKind::refused,
              "root may not submit jobs (min_uid " + std::string(min_uid) +
                  ") and the cell has no other admin_user");
}

} // namespace shim::ge
