#pragma once
// S/jobs/<id>[.<task>].mbox: requests to a job's supervisor, appended on any host, read by
// batch-exec once a second. Owns the line format, the locked append and the reader's offset; the
// verbs' effects are batch-exec's. Spec job-files 7, decisions 22b, E13.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/clock.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/paths.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace shim::records {

inline constexpr std::size_t k_max_request_bytes = 512;

struct MailRequest {
  std::string id; // 16 hex digits
  std::string verb;
  std::vector<std::string> args;
};

// The argument of a `suspend` or `resume` that repeats what the engine has done on the master host:
// for the listeners on other hosts, the supervisor has nothing to do.
inline constexpr std::string_view k_from_engine = "engine";

[[nodiscard]] std::string format_request(const MailRequest& request); // with LF
// malformed: another version, a bad id, no verb.
[[nodiscard]] Result<MailRequest> parse_request(std::string_view line);

// Appends a request for a running job and gives its id. not_found ("job N has no supervisor ..."),
// refused: the mailbox is somebody else's (the caller prints Slurm's access error).
[[nodiscard]] Result<std::string> post_request(const StatePaths& state,
                                               const JobKey& key,
                                               std::string_view verb,
                                               const std::vector<std::string>& args);

// The same for a mailbox whose path is known (a stepper's); gives the request's id.
[[nodiscard]] Result<std::string> append_request(const std::string& path,
                                                 std::string_view verb,
                                                 const std::vector<std::string>& args);

// Waits for the supervisor's answer in the job record. unavailable when none comes in time.
[[nodiscard]] Result<RequestEvent>
await_answer(const StatePaths& state,
             const JobKey& key,
             std::string_view id,
             posix::Clock& clock,
             std::chrono::milliseconds patience = std::chrono::milliseconds{5000});

struct ReceivedRequest {
  std::string id;                     // "" when the line shows none
  std::optional<MailRequest> request; // nothing: a line that does not parse
  std::string problem;                // why not
};

// The supervisor's side. The file is opened anew for each look, as network file systems need it.
class MailboxReader {
public:
  explicit MailboxReader(std::string path) : m_path(std::move(path)) {}
  // Makes the file empty: what an earlier run was asked is void.
  [[nodiscard]] Result<void> create();
  // For a listener that is not the supervisor: what is there already is not news.
  void skip_existing();
  // Complete lines since the last call; ids seen before are left out.
  [[nodiscard]] std::vector<ReceivedRequest> poll();
  void remove();

private:
  std::string m_path;
  std::int64_t m_offset = 0;
  std::set<std::string, std::less<>> m_seen;
};

} // namespace shim::records
