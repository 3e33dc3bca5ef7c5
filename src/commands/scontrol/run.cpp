#include "scontrol.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/scontrol.h"
#include "slurm_shim/context/opening.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <array>
#include <iostream>

#include <unistd.h>

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
        "  show node|partition [NAME]    hosts and their queue instances\n"
        "  show step [ID[.STEP]]         steps of running jobs\n"
        "  show config                   what Slurm's clients read of it\n"
        "  hold ID...|jobname=NAME       keep pending jobs from starting\n"
        "  release ID...                 undo hold\n"
        "  requeue ID...                 end running jobs and queue them again\n"
        "  requeuehold ID...             the same, and hold them\n"
        "  suspend ID..., resume ID...   stop and continue jobs on all their hosts\n"
        "  top ID...                     highest priority (operators only)\n"
        "  update JobId=N|NodeName=X|PartitionName=P KEY=VALUE...\n"
        "                                jobs: TimeLimit Name Partition Dependency Nice "
        "Priority=0\n"
        "                                ArrayTaskThrottle Comment StartTime Requeue Account;\n"
        "                                nodes and partitions: State\n"
        "  wait_job ID                   until the job runs\n"
        "  write batch_script ID [FILE|-]\n"
        "                                the script of an own job\n"
        "  ping                          tell whether the scheduler answers\n"
        "  version                       show the version",
};

// Slurm's other verbs and the other things it can show: known, so that the message says what is
// missing and not that the word is wrong.
constexpr std::array<std::string_view, 15> k_other_verbs{"abort",
                                                         "all",
                                                         "cancel_reboot",
                                                         "cluster",
                                                         "create",
                                                         "delete",
                                                         "listpids",
                                                         "notify",
                                                         "pidinfo",
                                                         "reboot",
                                                         "reconfigure",
                                                         "setdebug",
                                                         "shutdown",
                                                         "takeover",
                                                         "token"};
constexpr std::array<std::string_view, 10> k_other_things{"aliases",
                                                          "assoc_mgr",
                                                          "bbstat",
                                                          "burstbuffer",
                                                          "daemons",
                                                          "dwstat",
                                                          "federation",
                                                          "frontend",
                                                          "slurmd",
                                                          "topology"};

// A word that stands for `name`: its beginning, at least `least` letters of it, any case.
bool means(std::string_view word, std::string_view name, std::size_t least) {
  return word.size() >= least && word.size() <= name.size() &&
         equals_ignore_case(word, name.substr(0, word.size()));
}

int unsupported(const context::Context& ctx, std::string_view what) {
  return ctx.refuse("\"" + std::string(what) + "\" is not supported by slurm-shim");
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
  if (means(entity, "nodes", 3)) return scontrol::show_nodes(ctx, settings, rest);
  if (means(entity, "partitions", 3)) return scontrol::show_partitions(ctx, settings, rest);
  if (means(entity, "steps", 3)) return scontrol::show_steps(ctx, settings, rest);
  if (means(entity, "config", 3)) return scontrol::show_config(ctx);
  if (means(entity, "reservations", 3)) {
    ctx.out.write("No reservations in the system\n");
    return slurm::k_exit_ok;
  }
  if (means(entity, "licenses", 3)) {
    ctx.out.write("No licenses configured in Slurm.\n");
    return slurm::k_exit_ok;
  }
  for (const auto name : k_other_things)
    if (means(entity, name, 3)) return unsupported(ctx, "show " + entity);
  tell(ctx, settings, "invalid entity:" + entity + " for keyword:show ");
  return slurm::k_exit_failure;
}

int write(context::Context& ctx, const Settings& settings, Words words) {
  if (words.empty()) {
    tell(ctx, settings, "too few arguments for keyword:write");
    return slurm::k_exit_failure;
  }
  if (!means(words[0], "batch_script", 5)) return unsupported(ctx, "write " + words[0]);
  return scontrol::write_script(ctx, settings, words.subspan(1));
}

int run_verb(context::Context& ctx, const Settings& settings, Words words) {
  const std::string& verb = words[0];
  const auto rest = words.subspan(1);
  if (means(verb, "show", 3)) return show(ctx, settings, rest);
  if (means(verb, "hold", 4) || means(verb, "uhold", 5)) return scontrol::hold(ctx, settings, rest);
  if (means(verb, "release", 3)) return scontrol::release(ctx, settings, rest);
  if (means(verb, "requeue", 3)) return scontrol::requeue(ctx, settings, rest);
  if (means(verb, "requeuehold", 8)) return scontrol::requeue_hold(ctx, settings, rest);
  if (means(verb, "suspend", 2)) return scontrol::suspend(ctx, settings, rest);
  if (means(verb, "resume", 3)) return scontrol::resume(ctx, settings, rest);
  if (means(verb, "top", 3)) return scontrol::top(ctx, settings, rest);
  if (means(verb, "update", 1)) return scontrol::update(ctx, settings, rest);
  if (means(verb, "wait_job", 1)) return scontrol::wait_job(ctx, settings, rest);
  if (means(verb, "write", 5)) return write(ctx, settings, rest);
  if (means(verb, "completing", 2)) return slurm::k_exit_ok;
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

// Commands from stdin, echoed behind a prompt, until quit or its end.
int converse(context::Context& ctx, const Settings& settings) {
  constexpr std::string_view k_prompt = "scontrol: ";
  const bool typed = ::isatty(STDIN_FILENO) != 0;
  std::string line;
  int code = slurm::k_exit_ok;
  while (true) {
    ctx.out.write(k_prompt);
    static_cast<void>(ctx.out.flush());
    if (!std::getline(std::cin, line)) break;
    if (!typed) ctx.out.write(line + "\n");
    std::vector<std::string> words;
    for (const auto word : split_words(line))
      words.emplace_back(word);
    if (words.empty()) continue;
    if (means(words[0], "quit", 1) || means(words[0], "exit", 1)) return code;
    code = run_verb(ctx, settings, words);
  }
  ctx.out.write("\n");
  return code;
}

} // namespace

int run_scontrol(context::Context& ctx, const std::vector<std::string>& words) {
  const auto opening = context::open(ctx, scontrol_options(), k_help, words);
  if (opening.code) return *opening.code;
  const auto& parsed = opening.parsed;
  const Settings settings{.oneliner = parsed.has("oneliner"),
                          .quiet = parsed.has("quiet"),
                          .details = parsed.has("details"),
                          .json = parsed.has("json"),
                          .yaml = parsed.has("yaml")};
  const auto clusters = cli::value_of(parsed, scontrol_options(), ctx.env, "clusters");
  if (const auto known = queue::check_clusters(clusters, ctx.env); !known)
    return ctx.refuse(known.error().message);
  if (parsed.rest.empty()) return converse(ctx, settings);
  return run_verb(ctx, settings, parsed.rest);
}

} // namespace shim::commands
