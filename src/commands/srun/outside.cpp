#include "outside.h"

#include "input_plan.h"

#include "slurm_shim/allocation/allocation.h"
#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/srun.h"
#include "slurm_shim/ge/tools.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/terminal.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <array>

#include <unistd.h>

namespace shim::commands::srun {

namespace {

// What an allocation is asked for and a step is not. Hosts to leave out are not in the job.
constexpr std::array<std::string_view, 24> k_of_the_job{"account",
                                                        "begin",
                                                        "comment",
                                                        "constraint",
                                                        "dependency",
                                                        "exclude",
                                                        "exclusive",
                                                        "hold",
                                                        "immediate",
                                                        "licenses",
                                                        "mail-type",
                                                        "mail-user",
                                                        "mem",
                                                        "mem-per-cpu",
                                                        "mem-per-gpu",
                                                        "nice",
                                                        "nodefile",
                                                        "partition",
                                                        "qos",
                                                        "reservation",
                                                        "spread-job",
                                                        "time",
                                                        "cores-per-socket",
                                                        "sockets-per-node"};

bool is_of_the_job(std::string_view option) {
  return std::ranges::find(k_of_the_job, option) != k_of_the_job.end();
}

Result<allocation::Wanted> make_wanted(const context::Context& ctx, const cli::Parsed& parsed) {
  allocation::Wanted wanted;
  TRY(allocation::read_values(ctx, srun_options(), parsed.given, wanted));
  auto& job = wanted.job;
  if (!job.name) job.name = std::string(posix::base_name(parsed.rest[0]));
  wanted.pty = parsed.has("pty");
  // Where stdin goes is the step's matter; that nobody reads it is known here.
  wanted.stdin_closed = !is_stdin_read(cli::value_of(parsed, srun_options(), ctx.env, "input"));
  // Files are the step's, and its environment is filtered where the step starts.
  job.output.reset();
  job.error.reset();
  job.input.reset();
  job.open_mode.reset();
  job.signal.reset();
  return wanted;
}

} // namespace

bool allocates(const context::Context& ctx, const cli::Parsed& parsed, LayoutHere& here) {
  if (parsed.has("jobid") || standalone_mode(ctx) != config::Standalone::allocate) return false;
  return !is_inside_job(ctx.env, here); // reads the layout
}

cli::Parsed without_job_options(const cli::Parsed& parsed) {
  auto step = parsed;
  std::erase_if(step.given, [](const cli::Given& given) {
    const auto name = given.option->name;
    return is_of_the_job(name) || name == "pty" || name == "test-only";
  });
  return step;
}

std::vector<std::string> words_of(const cli::Parsed& parsed) {
  std::vector<std::string> words;
  for (const auto& given : parsed.given) {
    auto word = "--" + std::string(given.option->name);
    if (given.value) word += "=" + *given.value;
    words.push_back(std::move(word));
  }
  words.insert(words.end(), parsed.ignored.begin(), parsed.ignored.end());
  words.emplace_back("--");
  words.insert(words.end(), parsed.rest.begin(), parsed.rest.end());
  return words;
}

int run_outside(context::Context& ctx,
                const cli::Parsed& parsed,
                const cli::Parsed& step,
                const std::vector<std::string>& words) {
  if (const auto qrsh = ge::locate_tool(ctx.env, "qrsh"); !qrsh) {
    ctx.error("cannot allocate a job: " + qrsh.error().message +
              "; `standalone: local` in the configuration runs steps on this host");
    return slurm::k_exit_failure;
  }
  auto wanted = make_wanted(ctx, parsed);
  const auto self = posix::self_path();
  if (!wanted) {
    ctx.say(allocation::reworded(wanted.error().message, ctx.command, allocation::k_srun.failure) +
            "\n");
    return wanted.error().exit_code;
  }
  if (!self) return ctx.fail(self.error());
  wanted->words = words;
  if (wanted->pty) {
    if (const auto terminal = posix::terminal_state(STDIN_FILENO); !terminal) {
      ctx.error(terminal.error().message);
      ctx.error("Not using a pseudo-terminal, disregarding --pty option");
      wanted->pty = false;
    }
  }
  if (wanted->pty) { // no step: the command itself gets the terminal
    wanted->command = parsed.rest;
  } else {
    wanted->job.directory.reset();
    wanted->job.exports = {};
    wanted->job.export_text.reset();
    wanted->command = words_of(step);
    wanted->command.insert(wanted->command.begin(), {*self, "srun"});
  }
  return allocation::run(ctx, *wanted, allocation::k_srun);
}

} // namespace shim::commands::srun
