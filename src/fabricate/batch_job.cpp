#include "array_identity.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/fabricate/fabricate.h"
#include "slurm_shim/slurm/dependency.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/signals.h"

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
  if (!number) return std::nullopt;
  out.num = *number;
  if (at != std::string_view::npos) {
    const auto lead = parse_int<std::int64_t>(text.substr(at + 1));
    if (!lead || *lead < 0) return std::nullopt;
    out.lead_s = *lead;
  }
  return out;
}

std::vector<std::string> predecessors(const std::string& text) {
  std::vector<std::string> out;
  const auto list = slurm::parse_dependency(text);
  if (!list) return out;
  for (const auto& item : list->items)
    if (item.type == slurm::DependencyType::after_ok)
      out.push_back(std::to_string(slurm::decode_job_id(item.job).job));
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
  job.restart = facts.restart;
  job.afterok = predecessors(record.get_or("dep", ""));
  return job;
}

} // namespace shim::fabricate
