#include "options.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/cli/admin_parser.h"

namespace shim::commands::doctor {

Result<Options> parse_options(const std::vector<std::string>& words) {
  Options options;
  int timeout = 120;
  cli::AdminParser parser(
      "Checks the installation and says what to do. Changes nothing; --probe submits a "
      "small job.",
      "slurm-shim doctor");
  parser.footer(
      "Exit status: 0 nothing failed, 1 something failed, 2 the checks could not be run.");
  parser.flag("--json", options.json, "print the report as JSON");
  parser.flag("--quiet", options.quiet, "show warnings and failures only");
  parser.flag("--strict", options.strict, "let warnings end with 1, too");
  parser.flag("--list", options.list, "list the checks");
  parser.list("--check", options.checks, "these checks only: ids such as C05, comma-separated");
  parser.option("--config",
                options.config_file,
                "check this configuration file alone, without asking Grid Engine");
  parser.list("--hosts",
              options.hosts,
              "also run on these execution hosts (qrsh; one free slot each): names, "
              "comma-separated, or all");
  parser.flag("--probe", options.probe, "submit a small job and compare what it saw");
  parser.option("--partition", options.partition, "of the probe [default]");
  parser.option("--nodes", options.nodes, "of the probe [2]");
  parser.option("--timeout", timeout, "seconds that the probe may take [120]");
  parser.flag("--host-report", options.host_report, "");
  parser.option("--dial", options.dial, "");
  parser.option("--config-path", options.config_path, "");
  TRY_ASSIGN(options.help, parser.parse(words));
  if (options.help) return options;
  for (auto& id : options.checks)
    id = to_upper(id);
  if (options.nodes < 1 || options.nodes > 1000)
    return fail(ErrorKind::usage,
                "--nodes: \"" + std::to_string(options.nodes) + "\" is not within 1 to 1000");
  if (timeout < 1 || timeout > 86400)
    return fail(ErrorKind::usage,
                "--timeout: \"" + std::to_string(timeout) + "\" is not within 1 to 86400 seconds");
  options.timeout = std::chrono::seconds(timeout);
  if (!options.probe)
    for (const auto* of_probe : {"--partition", "--nodes", "--timeout"})
      if (parser.given(of_probe))
        return fail(ErrorKind::usage, std::string(of_probe) + " needs --probe");
  if (!options.config_file.empty() && (options.probe || !options.hosts.empty()))
    return fail(ErrorKind::usage, "--config checks a file alone: no --probe and no --hosts");
  return options;
}

} // namespace shim::commands::doctor
