#include "array_identity.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/fabricate/fabricate.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/signals.h"

#include <algorithm>

namespace shim::fabricate {
namespace {

// "USR2@90", "USR2@90B".
std::optional<records::SignalRequest> parse_signal(std::string_view text) {
  records::SignalRequest out;
  if (text.ends_with('B') && text.find('@') != std::string_view::npos) {
    out.batch = true;
    text.remove_suffix(1);
  }
  const auto at = text.find('@');
  const auto number = slurm::signal_number(text.substr(0, at));
  constexpr int k_last_signal = 64;
  if (!number || *number > k_last_signal) return std::nullopt;
  out.num = *number;
  if (at != std::string_view::npos) {
    const auto lead = parse_int<std::int64_t>(text.substr(at + 1));
    if (!lead || *lead < 0) return std::nullopt;
    out.lead_s = *lead;
  }
  return out;
}

// The job ends at its deadline, and does not begin when it could not end before.
void apply_deadline(const JobFacts& facts, std::int64_t deadline, records::BatchJob& job) {
  const auto left = deadline - facts.now_unix;
  const auto least = facts.record->get_int("timemin").value_or(0) * 60;
  const auto needed = least > 0 ? least : job.limit_s.value_or(1);
  if (left < needed)
    job.never = records::Never{
        "deadline", "DeadLine: it cannot end before " + slurm::format_date_time(deadline)};
  job.limit_s = std::min(left, job.limit_s.value_or(left));
}

// Words with a NUL behind each.
std::vector<std::string> command_words(std::string_view text) {
  std::vector<std::string> out;
  for (auto end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return out;
}

} // namespace

records::BatchJob
batch_job(const JobFacts& facts, const std::string& host, const std::string& working_directory) {
  const auto& record = *facts.record;
  std::vector<std::string> ignored; // the environment's making warns of the same
  const auto array = array_identity(facts, ignored);
  records::BatchJob job;
  job.tok = record.get_or("tok", "");
  job.job = engine_job(facts.env);
  job.task = engine_task(facts.env);
  job.slurm_id = slurm_job_id(facts, array);
  if (array) job.index = array->index;
  job.dir = record.get_or("dir", "");
  job.env = record.get_int("env") == 1;
  job.name = record.get_or("name", facts.env.get_or("JOB_NAME", ""));
  job.user = facts.user;
  job.host = host;
  job.out = record.get_or("out", job.out);
  job.err = record.get("err");
  job.in = record.get_or("in", job.in);
  job.open_append = record.get_or("openmode", "t") == "a";
  job.wd = working_directory;
  if (const auto text = record.get("sig")) job.signal = parse_signal(*text);
  if (const auto minutes = record.get_int("time"); minutes && *minutes > 0)
    job.limit_s = *minutes * 60;
  job.kill_wait_ms = record.get_int("kw").value_or(job.kill_wait_ms);
  job.records = record.get_int("rec") != 0;
  job.requeue = record.get_int("requeue") != 0;
  if (const auto text = record.get("umask"); text && !text->empty()) {
    std::int64_t mask = 0;
    for (const char digit : *text)
      mask = mask * 8 + (digit - '0');
    if (text->find_first_not_of("01234567") == std::string::npos && mask <= 0777) job.umask = mask;
  }
  if (const auto seconds = record.get_int("login"); seconds && *seconds > 0)
    job.login_timeout_s = *seconds;
  job.restart = facts.restart;
  job.start_s = facts.now_unix;
  if (const auto deadline = record.get_int("deadline")) apply_deadline(facts, *deadline, job);
  job.command = command_words(record.get_or("argv", ""));
  return job;
}

} // namespace shim::fabricate
