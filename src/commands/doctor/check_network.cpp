// C17 to C21: who can read the token, which ports there are, how qrsh gets about, names.
#include "checks.h"
#include "spool.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/proto/listener.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace shim::commands::doctor {

namespace {

const std::string k_spool_advice =
    "the step token is in a file there while a step starts. Where users of the host are not to be "
    "trusted: chgrp CLUSTERUSERS <execd_spool_dir>, then chmod 0750 (not 0700: jobs read their "
    "PE_HOSTFILE there)";

// "32768\t60999\n" as a range.
std::optional<config::PortRange> two_numbers(std::string_view text) {
  const auto words = split_words(trim(text)); // the kernel ends it with a line feed
  if (words.size() != 2) return std::nullopt;
  const auto first = parse_int<int>(words[0]);
  const auto last = parse_int<int>(words[1]);
  if (!first || !last) return std::nullopt;
  return config::PortRange{*first, *last};
}

bool overlap(const config::PortRange& a, const config::PortRange& b) {
  return a.first <= b.last && b.first <= a.last;
}

// "61000-61439,62000": is the whole range kept from being handed out?
bool is_reserved(std::string_view list, const config::PortRange& range) {
  return std::ranges::any_of(split(trim(list), ','), [&](std::string_view part) {
    const auto one = config::parse_port_range(part);
    return !part.empty() && one && one->first <= range.first && range.last <= one->last;
  });
}

std::string range_text(const config::PortRange& range) {
  return std::to_string(range.first) + "-" + std::to_string(range.last);
}

// Addresses that getent gives for a name or an address: (address, names) of its lines.
struct HostEntry {
  std::string address;
  std::vector<std::string> names;
};
std::optional<HostEntry> get_host(Survey& s, const std::string& key) {
  posix::RunRequest request;
  request.argv = {"getent", "hosts", key};
  const auto answer = s.recorder.run(request);
  if (!answer || answer->status != 0) return std::nullopt;
  const auto line = answer->out.substr(0, answer->out.find('\n'));
  const auto words = split_words(line);
  if (words.size() < 2) return std::nullopt;
  HostEntry entry{std::string(words[0]), {}};
  for (std::size_t i = 1; i < words.size(); ++i)
    entry.names.emplace_back(words[i]);
  return entry;
}

bool is_loopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

} // namespace

Result<Finding> check_spool(Survey& s) {
  Verdict verdict;
  const auto host = posix::host_name();
  TRY_ASSIGN(const auto hosts, s.qconf.list("-sel"));
  const auto short_of = [](std::string_view name) { return name.substr(0, name.find('.')); };
  if (s.host_reports.empty() && std::none_of(hosts.begin(), hosts.end(), [&](const auto& name) {
        return equals_ignore_case(short_of(name), short_of(host));
      }))
    return Finding{Status::skip, host + " runs no jobs; --hosts looks on those that do", {}};
  TRY_ASSIGN(const auto values, s.engine_config(host));
  const auto folder = values.get_or("execd_spool_dir", "");
  const auto path = folder + "/" + std::string(short_of(host)) + "/active_jobs";
  const auto here = walk_spool(path);
  std::string open;
  std::string unknown;
  if (here.state == SpoolFinding::State::open) open = "here: " + here.text;
  if (here.state == SpoolFinding::State::unknown) unknown = "here: " + here.text;
  for (const auto& [name, report] : s.host_reports) {
    if (!report.error.empty()) continue; // C12 tells
    if (report.spool_finding == "open")
      open += (open.empty() ? "" : "; ") + name + ": " + report.spool_text;
    if (report.spool_finding == "unknown")
      unknown += (unknown.empty() ? "" : "; ") + name + ": " + report.spool_text;
  }
  if (!open.empty())
    verdict.warn("other users can reach the tasks' environment: " + open, k_spool_advice);
  if (open.empty() && !unknown.empty()) return Finding{Status::skip, unknown, {}};
  return verdict.finish(here.text);
}

Result<Finding> check_ports(Survey& s) {
  Verdict verdict;
  const auto& range = s.config().control_port;
  if (range.first == 0)
    return Finding{Status::info, "control_port 0: any free port, no firewall rule can name it", {}};
  const auto socket = proto::bind_listener({true, range.first, range.last, 0});
  if (!socket)
    verdict.fail(socket.error().message,
                 "who uses them: ss -tlnp; or give control_port another range and open that one "
                 "(slurm-shim ports)");
  const auto text = posix::read_file("/proc/sys/net/ipv4/ip_local_port_range", 4096);
  const auto reserved = posix::read_file("/proc/sys/net/ipv4/ip_local_reserved_ports", 65536);
  if (const auto ephemeral = two_numbers(text.value_or(""));
      ephemeral && overlap(*ephemeral, range) && !is_reserved(reserved.value_or(""), range))
    verdict.warn("the kernel hands out ports of " + range_text(range) + " itself (" +
                     range_text(*ephemeral) + ")",
                 "sysctl -w net.ipv4.ip_local_reserved_ports=" + range_text(range) +
                     " (and in /etc/sysctl.d)");
  for (const auto* name : {"SGE_QMASTER_PORT", "SGE_EXECD_PORT"}) {
    const auto port = parse_int<int>(s.ctx.env.get_or(name, ""));
    if (port && *port >= range.first && *port <= range.last)
      verdict.warn(std::string(name) + " " + std::to_string(*port) + " lies within control_port " +
                       range_text(range),
                   "give control_port another range");
  }
  return verdict.finish(range_text(range) + ", " + std::to_string(range.last - range.first + 1) +
                        " steps on several hosts at a time per master host");
}

Result<Finding> check_qrsh(Survey& s) {
  TRY_ASSIGN(const auto values, s.engine_config());
  Verdict verdict;
  for (const auto* key : {"rsh_command", "rsh_daemon"}) {
    const auto value = values.get_or(key, "builtin");
    if (!equals_ignore_case(value, "builtin"))
      verdict.warn(std::string(key) + " is " + value + ", which was never tried with the shim",
                   "qconf -mconf: " + std::string(key) + " builtin");
  }
  for (const auto* name : {"QRSH_WRAPPER", "SGE_RSH_COMMAND"})
    if (const auto value = s.ctx.env.get_or(name, ""); !value.empty())
      verdict.warn(std::string(name) + " is set: qrsh of other commands goes elsewhere (srun does "
                                       "without it)",
                   "unset " + std::string(name) + " in the profile that sets it");
  const auto ports = values.get_or("port_range", "");
  return verdict.finish(ports.empty() || equals_ignore_case(ports, "none")
                            ? "builtin; qrsh listens on any port"
                            : "builtin; qrsh listens within " + ports);
}

Result<Finding> check_names(Survey& s) {
  TRY_ASSIGN(auto hosts, s.qconf.list("-sel"));
  const auto own = posix::host_name();
  Verdict verdict;
  const auto own_entry = get_host(s, own);
  if (own_entry && is_loopback(own_entry->address))
    verdict.fail(own + " is " + own_entry->address +
                     " to itself: steppers of other hosts could "
                     "not dial it",
                 "in /etc/hosts give " + own +
                     " its network address, not 127.0.0.1 or 127.0.1.1; "
                     "or set control_address");
  const auto short_of = [](std::string_view name) { return name.substr(0, name.find('.')); };
  std::size_t looked_up = 0;
  for (const auto& host : hosts) {
    const auto entry = get_host(s, host);
    ++looked_up;
    if (!entry) {
      verdict.fail("host " + host + " has no address here",
                   "add it to the name service or /etc/hosts of " + own);
      continue;
    }
    if (is_loopback(entry->address)) {
      if (host != own)
        verdict.fail("host " + host + " is " + entry->address + " here",
                     "in /etc/hosts give " + host + " its network address");
      continue;
    }
    const auto back = get_host(s, entry->address);
    if (!back)
      verdict.warn(entry->address + " of host " + host + " has no name",
                   "add it to the reverse zone, or to /etc/hosts");
    else if (std::none_of(back->names.begin(), back->names.end(), [&](const std::string& name) {
               return equals_ignore_case(short_of(name), short_of(host));
             }))
      verdict.warn(entry->address + " of host " + host + " is called " + back->names.front(),
                   "make forward and reverse look-up agree, or use the engine's host_aliases");
  }
  return verdict.finish(fmt::format("{} hosts have addresses and names", looked_up));
}

} // namespace shim::commands::doctor
