#pragma once
// What qstat knows about jobs: its XML, list view and `-j`, as plain structs, for Grid Engine 8.1.9
// and OCS 9.x. The parsers are pure; the queries run one qstat each. Failure to ask, also an answer
// that is cut off, is an Error and never looks like "no such job" (decision 28). Knows nothing of
// Slurm's states or partitions. Spec ge-commands 3.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim::ge {

// The engine's task numbers of an array: 2-10:1, 1,3,5-9:2.
struct TaskRange {
  std::uint32_t first = 0, last = 0, step = 1;
  bool operator==(const TaskRange&) const = default;
};
// "", "3", "3,4", "2-10:1"; malformed otherwise.
[[nodiscard]] Result<std::vector<TaskRange>> parse_task_ranges(std::string_view text);
[[nodiscard]] std::vector<std::uint32_t> expand_task_ranges(const std::vector<TaskRange>& ranges);

// One element of the list view. A job has several when it is an array, and under `-g t`.
struct JobRow {
  std::uint64_t job = 0;
  double priority = 0;
  std::string name, owner, state; // state: the engine's letters
  std::string queue, host;        // of the master task; "" while pending
  bool pending = false;
  bool slave = false; // `-g t`: a row of a slave task
  int slots = 0;
  std::vector<TaskRange> tasks;       // empty: no array
  std::int64_t start = 0, submit = 0; // unix seconds, 0 = not shown
  // `-r` only:
  std::vector<std::string> requested_queues;                 // as written: "batch.q", "*@node1"
  std::vector<std::pair<std::string, std::string>> requests; // hard -l
  std::string pe;
  std::vector<std::uint64_t> predecessors;
};
[[nodiscard]] Result<std::vector<JobRow>> parse_job_list(std::string_view xml);

struct TaskFacts {
  std::uint32_t number = 0;
  std::int64_t start = 0;
  std::vector<std::pair<std::string, int>> hosts; // granted host and slots; empty on 8.1.9
  std::vector<std::string> messages;              // why it is in error state
};
struct JobFacts {
  std::uint64_t job = 0;
  std::string name, owner, group, account, project, cwd, script, output, error, pe, reason;
  std::uint32_t uid = 0, gid = 0;
  std::int64_t submit = 0, begin = 0; // begin: -a, 0 = none
  std::pair<int, int> pe_slots{0, 0};
  std::vector<std::string> queues;
  std::vector<std::pair<std::string, std::string>> requests; // hard -l, "h_rt" -> "3600"
  std::map<std::string, std::string, std::less<>> context;   // -ac, as stored (percent-encoded)
  std::string submit_record; // SLURM_SHIM_REQ in the job's environment
  std::vector<std::uint64_t> predecessors;
  bool user_hold = false, system_hold = false, operator_hold = false;
  bool array = false;
  std::vector<TaskRange> structure; // the submitted tasks
  int concurrency = 0;              // -tc, 0 = no limit
  int restart = 0;                  // 0 = the queue's default, 1 = -r y, 2 = -r n
  bool merged_output = false;
  std::vector<TaskFacts> tasks; // those that run or ran
  [[nodiscard]] const TaskFacts* task(std::uint32_t number) const;
};
struct JobFactsList {
  std::vector<JobFacts> jobs;
  std::vector<std::uint64_t> unknown; // asked for and not there
  [[nodiscard]] const JobFacts* find(std::uint64_t job) const;
};
[[nodiscard]] Result<JobFactsList> parse_job_facts(std::string_view xml);

// `2026-11-30T01:35:16[.5]` (local time) or epoch seconds, milliseconds or microseconds; 0 when it
// is neither.
[[nodiscard]] std::int64_t parse_time(std::string_view text);

enum class TaskView { jobs, tasks, hosts }; // plain, -g d, -g t of jobs that run
// `qstat -xml -r [-g d|t] [-s rs] -u USERS`; no users = everybody.
[[nodiscard]] Result<std::vector<JobRow>>
list_jobs(const Tools& tools, const std::vector<std::string>& users, TaskView view);
// Numbers of all the jobs that `user` has in the queue.
[[nodiscard]] Result<std::set<std::int64_t>> numbers_of_jobs(const Tools& tools,
                                                             const std::string& user);
// `qstat -xml -j ID,ID...`, in batches. No ids: nothing is asked.
[[nodiscard]] Result<JobFactsList> describe_jobs(const Tools& tools,
                                                 const std::vector<std::uint64_t>& jobs);

// Hosts of each running job or array task from the rows of `-g t`: the master host first, the
// others in natural order (decision 19a). Key: job and task number (0 = no array).
using TaskKey = std::pair<std::uint64_t, std::uint32_t>;
[[nodiscard]] std::map<TaskKey, std::vector<std::string>>
hosts_of_jobs(const std::vector<JobRow>& rows);

} // namespace shim::ge
