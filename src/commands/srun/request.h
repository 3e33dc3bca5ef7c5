#pragma once
// What the user asked of one step: options and input variables as one typed, valid struct. Pure:
// no files, no configuration but its defaults. Spec launch 8; vectors 03, 05, 06.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/cli/parse.h"
#include "slurm_shim/config/config.h"
#include "slurm_shim/plan/plan.h"
#include "slurm_shim/slurm/words.h"

#include <optional>
#include <string>
#include <vector>

namespace shim::commands::srun {

struct Request {
  plan::StepRequest placement;
  bool gpu_bind_given = false;
  bool label = false;
  bool unbuffered = false;
  bool quiet = false;
  int verbose = 0;
  bool kill_on_bad_exit = false;
  std::optional<int> wait_s; // -W; 0 = without end
  std::string output, error; // as given; "" = not given
  bool open_append = false;
  std::string chdir; // as given; "" = not given
  slurm::ExportSpec export_spec;
  std::string job_name;     // -J; "" = not given
  std::string distribution; // -m as given
  std::string mpi;          // "" = not given
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

// Device binding words: none, per_task, per-task, with `:n` and `verbose,`; others are a warning.
struct GpuBind {
  bool divide = false;
  int per_task = 0;
  bool understood = true;
};
[[nodiscard]] GpuBind parse_gpu_bind(std::string_view text);

// -K > SLURM_KILL_BAD_EXIT > configuration. `flag`: the option's value ("" = none given with it).
[[nodiscard]] bool kill_on_bad_exit(const std::optional<std::string>& flag,
                                    const std::optional<std::string>& variable,
                                    bool configured);

} // namespace shim::commands::srun
