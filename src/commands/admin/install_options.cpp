#include "install_options.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/cli/admin_parser.h"

#include <algorithm>

namespace shim::commands::admin {

namespace {

const std::vector<std::string> k_default_family{"1", "2", "3", "4", "8", "smp", "fill"};

tl::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::usage, std::move(message));
}

bool is_object_name(std::string_view name) {
  return !name.empty() && name.find_first_of(" \t\n,@[]=/") == std::string_view::npos;
}

// "none", "default", or members.
Result<std::vector<std::string>> parse_family(const std::string& text) {
  if (text == "none") return std::vector<std::string>{};
  if (text == "default") return k_default_family;
  std::vector<std::string> members;
  for (const auto part : split(text, ',')) {
    const auto slots = parse_int<int>(part);
    const bool number = is_digits(part) && part.front() != '0' && slots && *slots >= 1;
    if (!number && part != "smp" && part != "fill")
      return refuse("--pe-family: \"" + std::string(part) +
                    "\" is none of default, none, smp, fill or a number of slots");
    if (std::find(members.begin(), members.end(), part) == members.end())
      members.emplace_back(part);
  }
  return members;
}

} // namespace

Result<InstallOptions> parse_install_options(const std::vector<std::string>& words) {
  InstallOptions options;
  bool all_queues = false;
  bool no_starter = false;
  bool no_files = false;
  bool no_config = false;
  std::string family = "default";
  cli::AdminParser parser(
      "Wires the shim into a Grid Engine cluster: prints its plan, --apply executes it.",
      "slurm-shim install");
  parser.flag("--apply", options.apply, "execute the plan");
  parser.option("--prefix",
                options.prefix,
                "folder on a shared file system, the same on all hosts "
                "[$SGE_ROOT/slurm-shim]");
  parser.option("--pe", options.pe, "name of the parallel environment [slurm-shim]");
  parser.option("--queue", options.queues, "a cluster queue to wire; may be repeated");
  parser.flag("--all-queues", all_queues, "every queue that takes batch jobs (the default)");
  parser.flag("--no-starter", no_starter, "leave starter_method alone");
  parser.flag("--no-files", no_files, "files are in place already");
  parser.flag("--no-config", no_config, "write no configuration");
  parser.option("--config",
                options.config_file,
                "where to write the configuration "
                "[<prefix>/etc/config.yaml]");
  parser.flag("--json", options.json, "print the plan as JSON");
  parser.flag("--yes", options.yes, "do not ask");
  parser.flag("--force-files", options.force_files, "replace files that are not ours");
  parser.flag("--skip-blocked",
              options.skip_blocked,
              "apply what is not blocked; without it a blocked plan changes nothing");
  parser.flag("--trust-shared",
              options.trust_shared,
              "do not try the files on every execution host before a starter is set");
  parser.option("--verify-user",
                options.verify_user,
                "as whom root tries them there [the cell's admin user, where root may not submit]");
  parser.flag("--uninstall",
              options.uninstall,
              "the reverse: take out what an installation made, by its manifest; a plan, too, "
              "unless --apply is given");
  parser.flag("--purge", options.purge, "with --uninstall: the configuration that was made, too");
  parser.option("--pe-family",
                family,
                "PEs with fixed rules, for engines without qsub -par: "
                "default, none, or a list of slots per host, smp, fill");
  TRY_ASSIGN(options.help, parser.parse(words));
  if (options.help) return options;
  options.starter = !no_starter;
  options.files = !no_files;
  options.config = !no_config;
  options.family_given = parser.given("--pe-family");
  TRY_ASSIGN(options.family, parse_family(family));
  for (const auto* path : {&options.prefix, &options.config_file})
    if (!path->empty() &&
        (!path->starts_with('/') || path->find_first_of(" \t\n\"'\\,") != std::string::npos))
      return refuse("\"" + *path + "\" must be an absolute path without blanks, commas and quotes");
  while (options.prefix.size() > 1 && options.prefix.ends_with('/'))
    options.prefix.pop_back();
  if (all_queues && !options.queues.empty())
    return refuse("--queue and --all-queues exclude each other");
  if (options.purge && !options.uninstall) return refuse("--purge needs --uninstall");
  if (options.skip_blocked && !options.apply) return refuse("--skip-blocked needs --apply");
  if (options.uninstall && (no_starter || no_files || no_config || options.force_files ||
                            options.family_given || !options.config_file.empty()))
    return refuse("--uninstall goes by its manifest: only --prefix, --queue, --purge, --apply, "
                  "--skip-blocked, --json and --yes go with it");
  if (!options.verify_user.empty() && !is_object_name(options.verify_user))
    return refuse("--verify-user: \"" + options.verify_user + "\" is no user name");
  if (!is_object_name(options.pe)) return refuse("--pe: \"" + options.pe + "\" is no PE name");
  for (const auto& queue : options.queues)
    if (!is_object_name(queue)) return refuse("--queue: \"" + queue + "\" is no cluster queue");
  return options;
}

} // namespace shim::commands::admin
