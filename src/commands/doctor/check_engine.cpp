// C01 to C04: is there a Grid Engine, which one, does it answer, who are we to it.
#include "checks.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/tools.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <tuple>

#include <sys/stat.h>

namespace shim::commands::doctor {

namespace {

constexpr std::array k_tools{
    "qsub", "qstat", "qdel", "qconf", "qhost", "qacct", "qrsh", "qmod", "qhold", "qrls"};
constexpr std::int64_t k_slow_ms = 2000;

bool has_port(Survey& s, const std::string& variable, const std::string& service) {
  if (!s.ctx.env.get_or(variable, "").empty()) return true;
  posix::RunRequest request;
  request.argv = {"getent", "services", service};
  const auto answer = s.recorder.run(request);
  return answer && answer->status == 0;
}

struct Version {
  std::string flavour;
  int major = 0, minor = 0, patch = 0;
  [[nodiscard]] bool before(int a, int b, int c) const {
    return std::tie(major, minor, patch) < std::make_tuple(a, b, c);
  }
};

// "OCS 9.1.5", "SGE 8.1.9", "GE 6.2u5".
std::optional<Version> parse_version(std::string_view line) {
  const auto words = split_words(line);
  if (words.size() < 2) return std::nullopt;
  Version version;
  version.flavour = words[0];
  std::array<int*, 3> parts{&version.major, &version.minor, &version.patch};
  std::size_t i = 0;
  for (const auto part : split(words[1], '.')) {
    if (i == parts.size()) break;
    const auto digits = part.substr(0, part.find_first_not_of("0123456789"));
    const auto number = parse_int<int>(digits);
    if (!number) break;
    *parts[i++] = *number;
  }
  if (i == 0) return std::nullopt;
  return version;
}

bool contains_host(const std::vector<std::string>& hosts, std::string_view host) {
  const auto short_name = [](std::string_view name) { return name.substr(0, name.find('.')); };
  return std::any_of(hosts.begin(), hosts.end(), [&](const std::string& known) {
    return equals_ignore_case(short_name(known), short_name(host));
  });
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

Result<Finding> check_environment(Survey& s) {
  Verdict verdict;
  const auto root = s.ctx.env.get_or("SGE_ROOT", "");
  const auto cell = s.ctx.env.get_or("SGE_CELL", "default");
  const auto settings = "source the cell's settings: . $SGE_ROOT/" + cell +
                        "/common/settings.sh (for everybody: a file in /etc/profile.d)";
  if (root.empty()) {
    verdict.fail("SGE_ROOT is not set", settings);
    return verdict.finish("");
  }
  const auto qmaster_file = root + "/" + cell + "/common/act_qmaster";
  const auto qmaster = posix::read_file(qmaster_file, 4096);
  if (!qmaster)
    verdict.fail("there is no cell \"" + cell + "\" at SGE_ROOT " + root + " (" +
                     qmaster.error().message + ")",
                 "set SGE_ROOT and SGE_CELL to the cell's: " + settings);
  std::vector<std::string> missing;
  for (const auto* tool : k_tools)
    if (!ge::locate_tool(s.ctx.env, tool)) missing.emplace_back(tool);
  if (!missing.empty())
    verdict.fail("not found: " + join(missing, ", "),
                 "install Grid Engine's clients on this host; looked for in $SGE_BINARY_PATH, "
                 "$SGE_ROOT/bin/<arch> and PATH");
  if (!has_port(s, "SGE_QMASTER_PORT", "sge_qmaster") ||
      !has_port(s, "SGE_EXECD_PORT", "sge_execd"))
    verdict.warn("the ports of qmaster and execd are neither in the environment nor known as "
                 "services",
                 "set SGE_QMASTER_PORT and SGE_EXECD_PORT, or add sge_qmaster and sge_execd to "
                 "/etc/services");
  return verdict.finish(
      fmt::format("cell {} at {}, qmaster {}", cell, root, trim(qmaster.value_or("unknown"))));
}

Result<Finding> check_version(Survey& s) {
  TRY_ASSIGN(const auto line, s.qconf.engine_version());
  Verdict verdict;
  const auto version = parse_version(line);
  const bool is_ocs = version && (version->flavour == "OCS" || version->flavour == "GCS");
  const bool is_sge = version && (version->flavour == "SGE" || version->flavour == "GE");
  if (!is_ocs && !is_sge) {
    verdict.warn("\"" + line + "\" is an engine that was never tried",
                 "run slurm-shim doctor --probe, and report what you see");
    return verdict.finish("");
  }
  const std::string upgrade = "upgrade to OCS 9.1.5 or later";
  if (is_sge) {
    if (version->before(8, 1, 0)) {
      verdict.fail(line + " is too old: 8.1 and later are supported", upgrade);
      return verdict.finish("");
    }
    const auto& partitions = s.config().partitions;
    const bool pinned =
        !partitions.empty() && std::all_of(partitions.begin(), partitions.end(), [](const auto& p) {
          return !p.pe_by_layout.empty();
        });
    if (!pinned)
      verdict.warn("this engine has no qsub -par and not every partition has a pe_by_layout: "
                   "layouts of several hosts cannot be pinned",
                   "let `slurm-shim install --apply` make PEs with fixed rules and name them in "
                   "the partitions' pe_by_layout; or " +
                       upgrade);
    else
      verdict.info("layouts are pinned by PEs with fixed rules; devices are counted, not named");
    return verdict.finish(line);
  }
  if (version->before(9, 0, 0))
    verdict.fail(line + " is too old", upgrade);
  else if (version->before(9, 1, 1))
    verdict.warn(line + ": no qsub -par, layouts need PEs with fixed rules; who deleted a job and "
                        "the exit status of parallel jobs are missing in accounting",
                 upgrade);
  else if (version->before(9, 1, 2))
    verdict.warn(line + ": accounting does not tell who deleted a job; the exit status of "
                        "parallel jobs is lost",
                 upgrade);
  else if (version->before(9, 1, 5))
    verdict.warn(line + ": accounting loses the exit status of parallel jobs", upgrade);
  return verdict.finish(line);
}

Result<Finding> check_qmaster(Survey& s) {
  Verdict verdict;
  const auto started = s.ctx.clock.unix_ms();
  const auto answer = s.tools.run({"qconf", {"-sss"}});
  const auto took = s.ctx.clock.unix_ms() - started;
  const std::string advice = "is sge_qmaster running on the host that act_qmaster names, and can "
                             "this host reach its port? (qping -info HOST PORT qmaster 1)";
  if (!answer || answer->status != 0) {
    s.recorder.give_up_engine();
    auto reason = answer ? answer->err + " " + answer->out : answer.error().message;
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    reason = trim(reason);
    if (reason.empty()) reason = "qconf -sss ended with " + std::to_string(answer->status);
    verdict.fail("the qmaster does not answer: " + masked(reason), advice);
  } else if (took > k_slow_ms) {
    verdict.warn(
        fmt::format("the qmaster took {:.1f} s to answer", static_cast<double>(took) / 1e3),
        "is the qmaster's host overloaded, or its spool folder slow? every command waits "
        "for it");
  }
  return verdict.finish(fmt::format("answers within {} ms", std::max<std::int64_t>(took, 1)));
}

Result<Finding> check_roles(Survey& s) {
  const auto host = posix::host_name();
  const auto user = posix::user_name(s.recorder, s.ctx.env);
  TRY_ASSIGN(const auto managers, s.qconf.list("-sm"));
  TRY_ASSIGN(const auto operators, s.qconf.list("-so"));
  TRY_ASSIGN(const auto submit, s.qconf.list("-ss"));
  TRY_ASSIGN(const auto admin, s.qconf.list("-sh"));
  Verdict verdict;
  if (!contains_host(submit, host)) {
    verdict.fail(host + " is no submit host: sbatch, salloc and sstat do not work here",
                 "as manager: qconf -as " + host);
    return verdict.finish("");
  }
  const std::string who = holds(managers, user)    ? "manager"
                          : holds(operators, user) ? "operator"
                                                   : "plain user";
  verdict.info(fmt::format("{} is a {}, {} a submit host{}",
                           user,
                           who,
                           host,
                           contains_host(admin, host) ? " and an administrative one" : ""));
  return verdict.finish("");
}

} // namespace shim::commands::doctor
