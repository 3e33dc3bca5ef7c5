#pragma once
// What every command is given: its environment, streams, clock, runner and the loaded config. Built
// once by app, passed by reference; nothing in it is global. docs/architecture.md section 3.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"
#include "slurm_shim/base/sink.h"
#include "slurm_shim/config/config.h"
#include "slurm_shim/posix/clock.h"
#include "slurm_shim/posix/runner.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::context {

struct Context {
  std::string command; // as messages name it: "sbatch", "slurm-shim"
  EnvList env;
  Sink& out;
  Sink& err;
  posix::Runner& runner;
  posix::Clock& clock;
  config::Config config; // defaults until load_config

  // "<command>: error: <text>\n" on err.
  void error(std::string_view text) const;
  void warning(std::string_view text) const;
  // Text as it is, without prefix.
  void say(std::string_view text) const { err.write(text); }
  // Prints the error and gives its exit code, for `return ctx.fail(e);`.
  [[nodiscard]] int fail(const Error& e) const {
    error(e.message);
    return e.exit_code;
  }
  // The same for a text: its exit code is 1.
  [[nodiscard]] int refuse(std::string_view why) const;
};

// Loads the configuration by the look-up rules of config::locate and prints its warnings.
// On failure the error says file, line and key path; the caller exits 1 (spec commands 0).
[[nodiscard]] Result<void> load_config(Context& ctx);

// What `<command> --version` prints: "slurm <compat_version>\n" (decision 25a). Reads the config
// for compat_version and falls back to the built-in one when that is broken: a version never fails.
[[nodiscard]] std::string version_text(const Context& ctx);

} // namespace shim::context
