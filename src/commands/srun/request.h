#pragma once
// What the user asked of one step: options and input variables as one typed, valid struct. Pure:
// no files, no configuration but its defaults. Spec launch 8; vectors 03, 05, 06.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/cli/parse.h"
#include "slurm_shim/config/config.h"
#include "slurm_shim/plan/plan.h"
#include "slurm_shim/posix/terminal.h"
#include "slurm_shim/slurm/cpu_bind.h"
#include "slurm_shim/slurm/signals.h"
#include "slurm_shim/slurm/words.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shim::commands::srun {

struct Request {
  plan::StepRequest placement;
  std::string job_id;      // --jobid as typed; "" = the job around us
  std::string propagate;   // names of resource limits; "" = all
  bool multi_prog = false; // command[0] is the file that says which task runs what
  bool test_only = false;
  std::string cpu_bind_text; // --cpu-bind as typed; "" = not given
  std::optional<slurm::CpuBind> cpu_bind;
  std::optional<int> immediate_s; // -I: how long the step may wait for slots; 0 = not at all
  bool label = false;
  bool unbuffered = false;
  bool quiet = false;
  int verbose = 0;
  bool kill_on_bad_exit = false;
  bool quit_on_interrupt = false;
  std::optional<int> wait_s;                   // -W; 0 = without end
  std::optional<std::uint32_t> time_limit_min; // -t; nothing = none
  std::optional<slurm::SignalSpec> signal;     // --signal
  std::string output, error;                   // as given; "" = not given
  bool open_append = false;
  std::string input; // as given; "" = not given
  bool pty = false;
  std::optional<posix::TerminalState> terminal; // --pty, on a terminal: what it looks like
  std::string chdir;                            // as given; "" = not given
  slurm::ExportSpec export_spec;
  std::string prolog, epilog;           // beside srun; "" = none
  std::string task_prolog, task_epilog; // around each task; "" = none
  std::string job_name;                 // -J; "" = not given
  // Files with hosts, "" = none: SLURM_HOSTFILE (the host of each rank), -w with a path, -F.
  std::string host_file, nodelist_file, node_file;
  std::string mpi; // "" = not given
  std::vector<std::string> command;
};

// The value of an option from the command line or else from its input variables, in the order of
// the table; nothing when neither has it. A flag from a variable counts unless it is 0, no or
// false.
class Input {
public:
  Input(const cli::Parsed& parsed, cli::OptionTable table, const EnvList& env)
      : m_parsed(parsed), m_table(table), m_env(env) {}
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
  [[nodiscard]] bool flag(std::string_view option) const;
  [[nodiscard]] bool on_command_line(std::string_view option) const { return m_parsed.has(option); }
  // A variable as it is, "" when it is not set.
  [[nodiscard]] std::string variable(std::string_view name) const { return m_env.get_or(name, ""); }
  // How often a repeatable flag was given, or the number in its variable.
  [[nodiscard]] int count(std::string_view option) const;

private:
  [[nodiscard]] std::optional<std::string> from_environment(std::string_view option) const;
  const cli::Parsed& m_parsed;
  cli::OptionTable m_table;
  const EnvList& m_env;
};

// `warnings`: whole lines without prefix. Errors carry Slurm's text and exit code.
[[nodiscard]] Result<Request> make_request(const cli::Parsed& parsed,
                                           cli::OptionTable table,
                                           const EnvList& env,
                                           const config::Config& config,
                                           std::vector<std::string>& warnings);

// -K > SLURM_KILL_BAD_EXIT > configuration. `flag`: the option's value ("" = none given with it).
[[nodiscard]] bool kill_on_bad_exit(const std::optional<std::string>& flag,
                                    const std::optional<std::string>& variable,
                                    bool configured);

} // namespace shim::commands::srun
