#include "scontrol.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/cli/help.h"
#include "slurm_shim/cli/parse.h"
#include "slurm_shim/commands/scontrol.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <array>

namespace shim::commands {

namespace scontrol {

void tell(const context::Context& ctx, const Settings& settings, std::string_view text) {
  if (!settings.quiet) ctx.say(std::string(text) + "\n");
}

} // namespace scontrol

namespace {

using scontrol::Settings;
using scontrol::tell;
using scontrol::Words;

constexpr cli::HelpFrame k_help{
    .synopsis = "scontrol [OPTIONS...] COMMAND [ARGUMENTS...]",
    .description =
        "Shows and controls jobs, and converts host lists.\n\n"
        "Commands:\n"
        "  show hostnames [LIST]         the hosts of a list, one a line; without LIST those of\n"
        "                                $SLURM_JOB_NODELIST or $SLURM_NODELIST\n"
        "  show hostlist NAMES|/FILE     host names as one list\n"
        "  show hostlistsorted NAMES|/FILE  the same, sorted\n"
        "  show job [ID]                 what is known of a job, or of all jobs\n"
        "  hold ID...                    keep pending jobs from starting\n"
        "  release ID...                 undo hold\n"
        "  requeue ID...                 end running jobs and queue them again\n"
        "  ping                          tell whether the scheduler answers\n"
        "  version                       show the version",
};

// Slurm's other verbs and the other things it can show: known, so that the message says what is
// missing and not that the word is wrong.
constexpr std::array<std::string_view, 20> k_other_verbs{
    "abort",    "all",      "cancel_reboot", "cluster",  "completing",  "create",      "delete",
    "listpids", "notify",   "pidinfo",       "reboot",   "reconfigure", "requeuehold", "resume",
    "setdebug", "shutdown", "suspend",       "takeover", "update",      "write"};
constexpr std::array<std::string_view, 18> k_other_things{"aliases",
                                                          "assoc_mgr",
                                                          "bbstat",
                                                          "burstbuffer",
                                                          "config",
                                                          "daemons",
                                                          "dwstat",
                                                          "federation",
                                                          "frontend",
                                                          "licenses",
                                                          "node",
                                                          "nodes",
                                                          "partition",
                                                          "partitions",
                                                          "reservations",
                                                          "slurmd",
                                                          "step",
                                                          "steps"};

// A word that stands for `name`: its beginning, at least `least` letters of it, any case.
bool means(std::string_view word, std::string_view name, std::size_t least) {
  return word.size() >= least && word.size() <= name.size() &&
         equals_ignore_case(word, name.substr(0, word.size()));
}

int unsupported(const context::Context& ctx, std::string_view what) {
  ctx.error("\"" + std::string(what) + "\" is not supported by slurm-shim");
  return slurm::k_exit_failure;
}

int too_many(const context::Context& ctx, const Settings& settings) {
  tell(ctx, settings, "too many arguments for keyword:show");
  return slurm::k_exit_failure;
}

int show(context::Context& ctx, const Settings& settings, Words words) {
  if (words.empty()) {
    tell(ctx, settings, "too few arguments for keyword:show");
    return slurm::k_exit_failure;
  }
  // `show job=7` is `show job 7`.
  const auto equals = words[0].find('=');
  const std::string entity = words[0].substr(0, equals);
  std::vector<std::string> rest(words.begin() + 1, words.end());
  if (equals != std::string::npos) rest.insert(rest.begin(), words[0].substr(equals + 1));
  if (rest.size() > 1) return too_many(ctx, settings);
  if (means(entity, "hostnames", 5)) return scontrol::show_hostnames(ctx, rest);
  if (means(entity, "hostlist", 5)) return scontrol::show_hostlist(ctx, rest, false);
  if (means(entity, "hostlistsorted", 9)) return scontrol::show_hostlist(ctx, rest, true);
  if (means(entity, "jobs", 1) || means(entity, "jobid", 1))
    return scontrol::show_job(ctx, settings, rest);
  for (const auto name : k_other_things)
    if (means(entity, name, 3)) return unsupported(ctx, "show " + entity);
  tell(ctx, settings, "invalid entity:" + entity + " for keyword:show ");
  return slurm::k_exit_failure;
}

int run_verb(context::Context& ctx, const Settings& settings, Words words) {
  const std::string& verb = words[0];
  const auto rest = words.subspan(1);
  if (means(verb, "show", 3)) return show(ctx, settings, rest);
  if (means(verb, "hold", 4) || means(verb, "uhold", 5)) return scontrol::hold(ctx, settings, rest);
  if (means(verb, "release", 3)) return scontrol::release(ctx, settings, rest);
  if (means(verb, "requeue", 3)) return scontrol::requeue(ctx, settings, rest);
  if (means(verb, "ping", 3)) return scontrol::ping(ctx, settings);
  if (means(verb, "version", 4)) {
    ctx.out.write(context::version_text(ctx));
    return slurm::k_exit_ok;
  }
  if (means(verb, "help", 2)) {
    ctx.out.write(cli::help_text(scontrol_options(), k_help));
    return slurm::k_exit_ok;
  }
  for (const auto name : k_other_verbs)
    if (means(verb, name, 3)) return unsupported(ctx, verb);
  tell(ctx, settings, "invalid keyword: " + verb);
  return slurm::k_exit_failure;
}

} // namespace

int run_scontrol(context::Context& ctx, const std::vector<std::string>& words) {
  const auto parsed =
      cli::parse(scontrol_options(), words, {.command = ctx.command, .permute = true});
  if (!parsed) {
    ctx.say(parsed.error().message + "\n");
    return slurm::k_exit_failure;
  }
  if (parsed->has("version")) {
    ctx.out.write(context::version_text(ctx));
    return slurm::k_exit_ok;
  }
  if (parsed->has("help") || parsed->has("usage")) {
    ctx.out.write(parsed->has("help") ? cli::help_text(scontrol_options(), k_help)
                                      : cli::usage_text(scontrol_options(), k_help));
    return slurm::k_exit_ok;
  }
  if (const auto fine = cli::refuse_unsupported(*parsed, false); !fine)
    return ctx.fail(fine.error());
  if (parsed->rest.empty()) {
    ctx.error("no command given (the interactive mode is not supported by slurm-shim)");
    return slurm::k_exit_failure;
  }
  const Settings settings{.oneliner = parsed->has("oneliner"),
                          .quiet = parsed->has("quiet"),
                          .details = parsed->has("details")};
  return run_verb(ctx, settings, parsed->rest);
}

} // namespace shim::commands
