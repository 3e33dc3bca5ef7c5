#pragma once
// qsub: one submission as a struct, its argument vector, its answers. Everything but probe_qsub and
// submit is pure. Owns the order of the arguments (tests rely on it) and what Grid Engine's
// refusals mean in Slurm's words; knows nothing of options or partitions. Spec sbatch-translate 11
// and 12, decisions 23a, 24, E8.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim::ge {

enum class Verify { none, refuse, dry_run }; // -w n, -w e, -w v

struct QsubRequest {
  bool scan_script = false; // false: `-C ''`, the engine's own `#$` lines are left alone
  std::string shell;        // -S, for queues that do not look at the first line; "" = none
  Verify verify = Verify::refuse;
  std::vector<std::string> queues;        // one -q; empty = none
  std::vector<std::string> master_queues; // one -masterq: where the batch script runs
  std::string pe;
  std::int64_t slots = 1;
  std::string par;                   // global rule; never beside scoped ones
  std::string master_par, slave_par; // both or none
  std::string name;
  std::string output, error;          // -o and -e; error "" = -j y
  std::string input;                  // -i
  std::string directory;              // -wd
  bool whole_environment = false;     // -V
  std::vector<std::string> variables; // -v NAME, values from qsub's environment
  std::string tasks;                  // -t
  std::uint32_t throttle = 0;         // -tc
  bool rerun = false;
  bool reserve = false;
  bool hold = false;
  std::string begin; // -a CCYYMMDDhhmm.SS
  std::string account, project;
  int priority = 0; // -p, 0 = not given
  std::string mail_events, mail_users;
  std::vector<std::pair<std::string, std::string>> context; // -ac, values encoded here
  std::string advance_reservation;                          // -ar
  std::vector<std::string> hold_jobs, hold_array_jobs;
  std::vector<std::pair<std::string, std::string>> resources; // one -l; value "" = name alone
  std::vector<std::pair<std::string, std::string>> wishes;    // -soft -l
  std::vector<std::string> extra;                             // the site's, as they are
  std::string script;
  std::vector<std::string> arguments;
};

// Without argv[0].
[[nodiscard]] std::vector<std::string> build_qsub_args(const QsubRequest& request);

// Values in `-ac`: percent-encoded, so that both sides parse without quoting (decision E13).
[[nodiscard]] std::string encode_context(std::string_view value);

// A job name that Grid Engine accepts: forbidden bytes become '_', a leading digit or a reserved
// word gets a '_' in front, at most 512 bytes.
[[nodiscard]] std::string sanitize_job_name(std::string_view name);

// An account string likewise; it may begin with a digit.
[[nodiscard]] std::string sanitize_account(std::string_view name);

struct QsubAbilities {
  bool par = false; // -par and -scope
};
[[nodiscard]] QsubAbilities parse_qsub_help(std::string_view help);
[[nodiscard]] Result<QsubAbilities> probe_qsub(const Tools& tools);

// `4711` or `4711.1-10:1`, the last such line: wrappers and JSVs may print before it.
[[nodiscard]] std::optional<std::int64_t> parse_job_number(std::string_view terse_output);

enum class RefusalKind {
  impossible,    // no queue can ever run it
  unknown_queue, // a cluster queue that does not exist
  unknown_host,
  unknown_pe,
  unreachable, // no qmaster
  array,
  account,
  access,
  limit,
  other,
};
struct Refusal {
  RefusalKind kind = RefusalKind::other;
  std::string reason; // Slurm's words behind "Batch job submission failed: "
  std::string detail; // the engine's words on one line
  // The reason says it all; else the detail is worth a line of its own.
  [[nodiscard]] bool plain() const {
    return kind == RefusalKind::impossible || kind == RefusalKind::unknown_queue ||
           kind == RefusalKind::unknown_host || kind == RefusalKind::array;
  }
};
[[nodiscard]] Refusal classify_refusal(std::string_view output);

// Lines worth forwarding of what a successful qsub said.
[[nodiscard]] std::vector<std::string> qsub_warnings(std::string_view err);

struct Submitted {
  std::optional<std::int64_t> job; // nothing: refused, or a dry run
  std::optional<Refusal> refusal;
  std::vector<std::string> warnings;
  std::string said; // both streams
};
// Runs qsub. `environment`: NAME=VALUE for its environment only. Error: could not be run.
[[nodiscard]] Result<Submitted> submit(const Tools& tools,
                                       const std::vector<std::string>& args,
                                       const std::vector<std::string>& environment,
                                       std::chrono::milliseconds timeout);

} // namespace shim::ge
