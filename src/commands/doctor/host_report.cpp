#include "host_report.h"

#include "checks.h"
#include "spool.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/remote_command.h"
#include "slurm_shim/launch/address.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/proto/dial.h"
#include "slurm_shim/proto/listener.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include <unistd.h>

namespace shim::commands::doctor {

namespace {

constexpr std::chrono::milliseconds k_host_limit{10000};
// So that a firewall that drops packets is told as such, by a host that answers in time.
constexpr std::chrono::milliseconds k_dial_limit{5000};

std::string dial_result(const std::string& address) {
  if (address.empty()) return "nothing to dial";
  proto::Envelope envelope;
  envelope.dial = address;
  // Any token: nobody reads it. The connection is what is tried.
  const auto socket = proto::dial(envelope, proto::Token(std::string(64, '0')), k_dial_limit);
  return socket ? "" : socket.error().message;
}

std::string state_name(SpoolFinding::State state) {
  return state == SpoolFinding::State::open     ? "open"
         : state == SpoolFinding::State::closed ? "closed"
                                                : "unknown";
}

std::string bootstrap_text(const Survey& s) {
  return posix::read_file(s.ctx.env.get_or("SGE_ROOT", "") + "/" +
                          s.ctx.env.get_or("SGE_CELL", "default") + "/common/bootstrap")
      .value_or("");
}

// "host: text" of the reports that have one, by text.
std::string grouped(const std::map<std::string, std::vector<std::string>>& hosts_by_text) {
  std::vector<std::string> parts;
  parts.reserve(hosts_by_text.size());
  for (const auto& [text, hosts] : hosts_by_text)
    parts.push_back(join(hosts, ", ") + ": " + text);
  return join(parts, "; ");
}

} // namespace

std::string checksum(posix::Runner& runner, const std::string& path) {
  if (path.empty() || !posix::exists(path)) return "";
  posix::RunRequest request;
  request.argv = {"sha256sum", "--", path};
  const auto answer = runner.run(request);
  if (!answer || answer->status != 0) return "";
  return answer->out.substr(0, answer->out.find(' '));
}

int print_host_report(context::Context& ctx, const Options& options) {
  nlohmann::ordered_json report;
  report["version"] = SHIM_VERSION;
  report["binary"] = checksum(ctx.runner, posix::self_path().value_or(""));
  report["config"] = checksum(ctx.runner, options.config_path);
  report["time_ms"] = ctx.clock.unix_ms();
  // The engine's folder of this very job lies where those of steps do.
  const auto spool = posix::dir_name(ctx.env.get_or("SGE_JOB_SPOOL_DIR", ""));
  const auto walk = walk_spool(spool);
  report["spool"] = {{"state", state_name(walk.state)}, {"text", walk.text}};
  report["dial"] = dial_result(options.dial);
  ctx.out.write("slurm-shim-host-report " +
                report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return slurm::k_exit_ok;
}

HostReport parse_host_report(std::string_view text, std::int64_t now_ms) {
  constexpr std::string_view k_mark = "slurm-shim-host-report ";
  HostReport report;
  const auto at = text.find(k_mark);
  const auto line = at == std::string_view::npos
                        ? std::string_view{}
                        : text.substr(at + k_mark.size(), text.find('\n', at) - at - k_mark.size());
  const auto json = nlohmann::json::parse(line, nullptr, false);
  try {
    report.version = json.at("version").get<std::string>();
    report.binary_sum = json.at("binary").get<std::string>();
    report.config_sum = json.at("config").get<std::string>();
    report.time_difference_ms = json.at("time_ms").get<std::int64_t>() - now_ms;
    report.spool_finding = json.at("spool").at("state").get<std::string>();
    report.spool_text = json.at("spool").at("text").get<std::string>();
    report.dial = json.at("dial").get<std::string>();
  } catch (const nlohmann::json::exception&) {
    report.error = "no report: " + masked(trim(text.substr(0, 300)));
  }
  return report;
}

Result<void> ask_hosts(Survey& s) {
  s.recorder.begin(k_host_limit);
  auto hosts = s.options.hosts;
  if (hosts == std::vector<std::string>{"all"}) {
    TRY_ASSIGN(hosts, s.qconf.list("-sel"));
  }
  TRY_ASSIGN(const auto values, s.engine_config());
  TRY_ASSIGN(const auto user,
             ge::submitting_user(::geteuid(), values.get_or("min_uid", "0"), bootstrap_text(s)));
  const auto& range = s.config().control_port;
  const auto socket = proto::bind_listener({true, range.first, range.last, 0});
  const auto addresses = launch::choose_dial_address(
      s.recorder, {s.config().control_address, "", posix::host_name()}, launch::list_interfaces());
  for (const auto& host : hosts) {
    s.recorder.begin(k_host_limit);
    ge::RemoteCommand command;
    command.host = host;
    command.as_user = user;
    command.command = {s.installed_bin() + "/slurm-shim", "doctor", "--host-report"};
    if (socket)
      command.command.push_back("--dial=" + addresses.first + ":" + std::to_string(socket->port));
    if (!s.config_path.empty()) command.command.push_back("--config-path=" + s.config_path);
    const auto answer = ge::run_on_host(s.tools, command, k_host_limit);
    auto& report = s.host_reports[host];
    if (!answer)
      report.error = answer.error().message;
    else
      report = parse_host_report(answer->out + answer->err, s.ctx.clock.unix_ms());
  }
  return {};
}

Result<Finding> check_host_binaries(Survey& s) {
  if (s.options.hosts.empty()) return Finding{Status::skip, "needs --hosts", {}};
  const auto bin = s.installed_bin() + "/slurm-shim";
  const auto binary = checksum(s.recorder, bin);
  const auto config = checksum(s.recorder, s.config_path);
  std::map<std::string, std::vector<std::string>> silent;
  std::map<std::string, std::vector<std::string>> busy;
  std::map<std::string, std::vector<std::string>> other;
  std::map<std::string, std::vector<std::string>> other_config;
  std::size_t fine = 0;
  for (const auto& [host, report] : s.host_reports) {
    if (report.error.find("could not be scheduled") != std::string::npos)
      busy["no free slot"].push_back(host);
    else if (!report.error.empty())
      silent[report.error].push_back(host);
    else if (report.binary_sum != binary)
      other[report.version].push_back(host);
    else if (report.config_sum != config)
      other_config["another " + s.config_path].push_back(host);
    else
      ++fine;
  }
  Verdict verdict;
  if (!silent.empty())
    verdict.fail(grouped(silent),
                 "is " + bin +
                     " there, the same on every host, and may it be executed (noexec "
                     "mounts)? may you submit jobs?");
  if (!other.empty())
    verdict.fail("another slurm-shim at " + bin + ": " + grouped(other),
                 "copy the same binary to these hosts, or mount the folder there");
  if (!other_config.empty())
    verdict.fail(grouped(other_config), "copy the same file to these hosts");
  if (!busy.empty())
    verdict.warn(grouped(busy) + ": not looked at", "run doctor again when a slot is free there");
  return verdict.finish(fmt::format("{} hosts have the same binary and configuration", fine));
}

Result<Finding> check_reach(Survey& s) {
  if (s.options.hosts.empty()) return Finding{Status::skip, "needs --hosts", {}};
  std::map<std::string, std::vector<std::string>> cut_off;
  std::map<std::string, std::vector<std::string>> silent;
  std::size_t reached = 0;
  for (const auto& [host, report] : s.host_reports) {
    if (!report.error.empty())
      silent[report.error].push_back(host);
    else if (report.dial.empty())
      ++reached;
    else
      cut_off[report.dial].push_back(host);
  }
  Verdict verdict;
  if (!cut_off.empty())
    verdict.fail("steppers there could not reach srun here: " + grouped(cut_off),
                 "open control_port in the firewall: `slurm-shim ports` prints the rules; or name "
                 "the right address with control_address");
  if (cut_off.empty() && reached == 0)
    return Finding{Status::skip, "no host answered (C12): " + grouped(silent), {}};
  return verdict.finish(fmt::format("{} hosts reach this one", reached));
}

} // namespace shim::commands::doctor
