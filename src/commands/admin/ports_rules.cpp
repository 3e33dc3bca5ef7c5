#include "ports_rules.h"

#include "slurm_shim/base/strings.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace shim::commands::admin {

namespace {

std::vector<config::PortRange> ranges_of(const PortsFacts& facts) {
  std::vector<config::PortRange> out{facts.control};
  if (facts.qrsh) out.push_back(*facts.qrsh);
  return out;
}

std::string text_of(const config::PortRange& range, char between = '-') {
  if (range.first == range.last) return std::to_string(range.first);
  return fmt::format("{}{}{}", range.first, between, range.last);
}

std::string list_of(const PortsFacts& facts, std::string_view separator, char between = '-') {
  std::vector<std::string> out;
  for (const auto& range : ranges_of(facts))
    out.push_back(text_of(range, between));
  return join(out, separator);
}

std::vector<std::string> firewalld(const PortsFacts& facts) {
  std::vector<std::string> out{"firewall-cmd --permanent --new-service=slurm-shim"};
  for (const auto& range : ranges_of(facts))
    out.push_back(fmt::format("firewall-cmd --permanent --service=slurm-shim --add-port={}/tcp",
                              text_of(range)));
  const auto rule = [&](std::string_view family, const std::string& source) {
    out.push_back(fmt::format("firewall-cmd --permanent --zone={} --add-rich-rule='rule "
                              "family=\"{}\" source address=\"{}\" service name=\"slurm-shim\" "
                              "accept'",
                              facts.zone,
                              family,
                              source));
  };
  for (const auto& source : facts.sources.ipv4)
    rule("ipv4", source);
  for (const auto& source : facts.sources.ipv6)
    rule("ipv6", source);
  out.emplace_back("firewall-cmd --reload");
  return out;
}

// One rule for each family: a rule of a VPC may not mix them.
std::vector<std::string> gcp(const PortsFacts& facts) {
  std::vector<std::string> ports;
  for (const auto& range : ranges_of(facts))
    ports.push_back("tcp:" + text_of(range));
  std::vector<std::string> out;
  const auto rule = [&](std::string_view name, const std::vector<std::string>& sources) {
    if (sources.empty()) return;
    out.push_back(fmt::format("gcloud compute firewall-rules create {} --network={} "
                              "--direction=INGRESS --action=ALLOW --rules={} --source-ranges={} "
                              "--target-tags=slurm-shim",
                              name,
                              facts.network,
                              join(ports, ","),
                              join(sources, ",")));
  };
  rule("slurm-shim-control", facts.sources.ipv4);
  rule("slurm-shim-control-ipv6", facts.sources.ipv6);
  return out;
}

// A file for `nft -f`. Loading it again replaces the table and touches nothing else. The chain
// comes before the usual ones; a site whose own chain drops must allow the ports there as well.
std::string nftables(const PortsFacts& facts) {
  const auto ports = facts.qrsh ? "{ " + list_of(facts, ", ") + " }" : text_of(facts.control);
  std::string sets;
  std::string accepts;
  const auto family = [&](std::string_view type,
                          std::string_view set,
                          std::string_view match,
                          const std::vector<std::string>& sources) {
    if (sources.empty()) return;
    sets +=
        fmt::format("  set {} {{\n    type {}\n    flags interval\n    elements = {{ {} }}\n  }}\n",
                    set,
                    type,
                    join(sources, ", "));
    accepts += fmt::format("    tcp dport {} {} saddr @{} accept\n", ports, match, set);
  };
  family("ipv4_addr", "exec_hosts", "ip", facts.sources.ipv4);
  family("ipv6_addr", "exec_hosts6", "ip6", facts.sources.ipv6);
  return "table inet slurm_shim\n"
         "delete table inet slurm_shim\n"
         "table inet slurm_shim {\n" +
         sets +
         "  chain input {\n"
         "    type filter hook input priority -10; policy accept;\n"
         "    iifname \"lo\" accept\n" +
         accepts + fmt::format("    tcp dport {} drop\n", ports) + "  }\n}\n";
}

std::vector<std::string> iptables(const PortsFacts& facts) {
  const auto ports = list_of(facts, ",", ':');
  std::vector<std::string> out;
  const auto family = [&](std::string_view tool, const std::vector<std::string>& sources) {
    if (sources.empty()) return;
    const auto line = [&](std::string_view from, std::string_view target) {
      out.push_back(fmt::format(
          "{} -A INPUT {} -p tcp -m multiport --dports {} -j {}", tool, from, ports, target));
    };
    line("-i lo", "ACCEPT");
    for (const auto& source : sources)
      line("-s " + source, "ACCEPT");
    out.push_back(fmt::format("{} -A INPUT -p tcp -m multiport --dports {} -j DROP", tool, ports));
  };
  family("iptables", facts.sources.ipv4);
  family("ip6tables", facts.sources.ipv6);
  return out;
}

std::string lines_of(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : join(lines, "\n") + "\n";
}

std::string notes(const PortsFacts& facts) {
  auto out =
      fmt::format("# Control connections: TCP {}, from execution hosts to execution hosts.\n",
                  text_of(facts.control));
  if (facts.qrsh)
    out += fmt::format("# qrsh: TCP {} on the master host of a job (Grid Engine's port_range).\n",
                       text_of(*facts.qrsh));
  else
    out += "# qrsh listens on any free port of a job's master host. Where those are filtered, set\n"
           "# port_range in the global configuration (qconf -mconf) and run this again.\n";
  out += fmt::format("# Grid Engine's own: TCP {} on the qmaster's host, {} on execution hosts.\n",
                     facts.qmaster_port,
                     facts.execd_port);
  out +=
      "# Not covered: what jobs open themselves (a torchrun rendezvous, usually 29500; JAX takes\n"
      "# 61440-65535).\n";
  if (facts.placeholder)
    out +=
        "# PLACEHOLDER: the execution hosts could not be asked for; put your network in its place\n"
        "# or give it with --source.\n";
  return out;
}

std::string json(const PortsFacts& facts) {
  using nlohmann::ordered_json;
  const auto range = [](const config::PortRange& ports) {
    return ordered_json{{"from", ports.first}, {"to", ports.last}, {"proto", "tcp"}};
  };
  auto sources = facts.sources.ipv4;
  sources.insert(sources.end(), facts.sources.ipv6.begin(), facts.sources.ipv6.end());
  ordered_json out;
  out["control"] = range(facts.control);
  out["qrsh"] = facts.qrsh ? range(*facts.qrsh) : ordered_json(nullptr);
  out["sources"] = sources;
  out["placeholder"] = facts.placeholder;
  out["rules"] = {{"firewalld", firewalld(facts)},
                  {"gcp", gcp(facts)},
                  {"nftables", nftables(facts)},
                  {"iptables", iptables(facts)}};
  return out.dump(2) + "\n";
}

} // namespace

std::string ports_text(const PortsFacts& facts, const std::string& format) {
  if (format == "json") return json(facts);
  const std::string placeholder =
      facts.placeholder ? "# PLACEHOLDER: replace the source by your network\n" : "";
  if (format == "firewalld") return placeholder + lines_of(firewalld(facts));
  if (format == "gcp") return placeholder + lines_of(gcp(facts));
  if (format == "nftables") return placeholder + nftables(facts);
  if (format == "iptables") return placeholder + lines_of(iptables(facts));
  return notes(facts) +
         fmt::format("\n# Keep the kernel from giving these ports away:\n"
                     "sysctl net.ipv4.ip_local_reserved_ports={}\n",
                     list_of(facts, ",")) +
         "\n# firewalld\n" + lines_of(firewalld(facts)) + "\n# Google Cloud VPC\n" +
         lines_of(gcp(facts)) + "\n# nftables (nft -f FILE)\n" + nftables(facts);
}

} // namespace shim::commands::admin
