#include "ports_options.h"

#include "slurm_shim/cli/admin_parser.h"

#include <algorithm>
#include <array>

namespace shim::commands::admin {

namespace {

// Such names stand unquoted in the commands that are printed.
bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

} // namespace

Result<PortsOptions> parse_ports_options(const std::vector<std::string>& words) {
  constexpr std::array k_formats{"text", "firewalld", "gcp", "nftables", "iptables", "json"};
  PortsOptions options;
  std::string range;
  cli::AdminParser parser("Prints firewall rules that let the hosts of a job reach each other.",
                          "slurm-shim ports");
  parser.option("--format",
                options.format,
                "text (all of the next three), firewalld, gcp, nftables, iptables or json [text]");
  parser.list("--source",
              options.sources,
              "who may connect: networks (10.1.0.0/16), addresses or host names, "
              "comma-separated; may be repeated [the execution hosts]");
  parser.option("--network", options.network, "the VPC network of the gcp rules [default]");
  parser.option("--zone", options.zone, "the zone of the firewalld rules [public]");
  parser.option("--range", range, "TCP ports of the control connections [control_port]");
  TRY_ASSIGN(options.help, parser.parse(words));
  if (options.help) return options;
  if (std::find(k_formats.begin(), k_formats.end(), options.format) == k_formats.end())
    return fail(ErrorKind::usage,
                "--format: \"" + options.format +
                    "\" is none of text, firewalld, gcp, nftables, iptables, json");
  if (parser.given("--range")) {
    options.range = config::parse_port_range(range);
    if (range.empty() || !options.range || options.range->first == 0)
      return fail(ErrorKind::usage,
                  "--range: \"" + range + "\" is no port range such as 61000-61439");
  }
  for (const auto& [option, name] :
       {std::pair{"--network", &options.network}, std::pair{"--zone", &options.zone}})
    if (!is_plain_name(*name))
      return fail(ErrorKind::usage, std::string(option) + ": \"" + *name + "\" is no name");
  return options;
}

} // namespace shim::commands::admin
