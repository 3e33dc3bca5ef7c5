#pragma once
// What one squeue call asks for: options and SQUEUE_* variables, checked. Needs no engine.

#include "columns.h"

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/cli/parse.h"
#include "slurm_shim/queue/queue.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/states.h"

#include <optional>
#include <string>
#include <vector>

namespace shim::commands::squeue {

enum class Output { table, json, yaml };

struct Request {
  std::vector<slurm::JobRef> jobs; // empty = all
  std::vector<std::string> users, names, partitions, accounts, hosts;
  std::vector<std::string> qos, licenses, reservations;
  std::vector<slurm::JobState> states; // empty = all live ones
  bool every_state = false;            // -t all: those that have ended lately, too
  bool me = false, header = true, long_form = false, split_arrays = false;
  bool start = false;            // pending jobs with their expected start
  bool split_partitions = false; // -P
  bool steps = false;
  std::vector<slurm::JobRef> step_refs; // with `step` where one was named; empty = all
  Output output = Output::table;
  int iterate_s = 0; // 0 = once
  Format format;
  std::string sort;
  std::string time_format; // SLURM_TIME_FORMAT
  // Whether jobs that have ended lately may be shown.
  [[nodiscard]] bool wants_ended() const;
};

// Errors carry Slurm's text; some have two lines, each printed with the prefix.
[[nodiscard]] Result<Request> make_request(const cli::Parsed& parsed, const EnvList& env);
// Whether the filters keep a job. Users and ids of `me` are the caller's business.
[[nodiscard]] bool keeps(const Request& request, const queue::Job& job);
[[nodiscard]] bool keeps(const Request& request, const queue::Step& step);

} // namespace shim::commands::squeue
