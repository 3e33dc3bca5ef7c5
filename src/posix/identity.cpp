#include "slurm_shim/posix/identity.h"

#include "slurm_shim/base/strings.h"

#include <sys/utsname.h>
#include <unistd.h>

namespace shim::posix {

namespace {
constexpr std::chrono::milliseconds k_getent_timeout{2000};

Result<std::string> getent(Runner& runner, const std::string& database, const std::string& key) {
  RunRequest request;
  request.argv = {"getent", database, key};
  request.timeout = k_getent_timeout;
  TRY_ASSIGN(auto output, runner.run(request));
  if (output.status != 0)
    return fail(ErrorKind::not_found, "getent " + database + ": no entry \"" + key + "\"");
  return std::move(output.out);
}
} // namespace

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? std::string(names.nodename) : std::string("localhost");
}

Result<PasswdEntry> lookup_user(Runner& runner, const std::string& key) {
  TRY_ASSIGN(const auto text, getent(runner, "passwd", key));
  const auto line = std::string_view(text).substr(0, text.find('\n'));
  const auto fields = split(line, ':');
  const auto uid = fields.size() >= 7 ? parse_int<uid_t>(fields[2]) : std::nullopt;
  const auto gid = fields.size() >= 7 ? parse_int<gid_t>(fields[3]) : std::nullopt;
  if (!uid || !gid)
    return fail(ErrorKind::malformed, "getent passwd " + key + ": unexpected answer");
  return PasswdEntry{
      std::string(fields[0]), *uid, *gid, std::string(fields[5]), std::string(fields[6])};
}

std::string user_name(Runner& runner, const EnvList& env) {
  for (const auto* name : {"USER", "LOGNAME"})
    if (auto value = env.get_or(name, ""); !value.empty()) return value;
  const auto entry = lookup_user(runner, std::to_string(::getuid()));
  return entry ? entry->name : std::to_string(::getuid());
}

std::string home_directory(Runner& runner, const EnvList& env) {
  if (auto value = env.get_or("HOME", ""); !value.empty()) return value;
  const auto entry = lookup_user(runner, std::to_string(::getuid()));
  return entry ? entry->home : std::string{};
}

Result<std::string> resolve_ipv4(Runner& runner, const std::string& name, bool allow_loopback) {
  TRY_ASSIGN(const auto text, getent(runner, "ahostsv4", name));
  for (const auto line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.empty()) continue;
    if (allow_loopback || !words[0].starts_with("127.")) return std::string(words[0]);
  }
  return fail(ErrorKind::not_found, "no usable IPv4 address for \"" + name + "\"");
}

} // namespace shim::posix
