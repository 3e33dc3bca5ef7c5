#include "slurm_shim/records/batch_json.h"

#include "json_fields.h"

#include "slurm_shim/posix/files.h"

#include <nlohmann/json.hpp>

namespace shim::records {

namespace {

constexpr std::size_t k_max_batch_json = std::size_t{4} << 20;

Json or_null(const std::optional<std::int64_t>& number) {
  return number ? Json(*number) : Json();
}

Json signal_json(const std::optional<SignalRequest>& signal) {
  if (!signal) return {};
  return Json{{"num", signal->num}, {"lead_s", signal->lead_s}, {"batch", signal->batch}};
}

Result<void> read_signal(Fields& fields, const std::string& where, BatchJob& job) {
  const auto* value = fields.find("signal");
  if (value == nullptr) return {};
  if (!value->is_object()) {
    fields.wrong("signal", "an object");
    return fields.finish();
  }
  SignalRequest signal;
  Fields inner(*value, where + ": signal");
  inner.require("num");
  inner.read("num", signal.num);
  inner.read("lead_s", signal.lead_s);
  inner.read("batch", signal.batch);
  if (signal.num < 1 || signal.num > 64) inner.wrong("num", "a signal number from 1 to 64");
  if (signal.lead_s < 0) inner.wrong("lead_s", "seconds");
  job.signal = signal;
  return inner.finish();
}

Json never_json(const std::optional<Never>& never) {
  if (!never) return {};
  return Json{{"reason", never->reason}, {"text", exact_text(never->text)}};
}

Result<void> read_never(Fields& fields, const std::string& where, BatchJob& job) {
  const auto* value = fields.find("never");
  if (value == nullptr) return {};
  if (!value->is_object()) {
    fields.wrong("never", "an object");
    return fields.finish();
  }
  Never never;
  Fields inner(*value, where + ": never");
  inner.require("reason");
  inner.read("reason", never.reason);
  inner.read("text", never.text);
  job.never = std::move(never);
  return inner.finish();
}

} // namespace

std::string to_json(const BatchJob& job) {
  Json command = Json::array();
  for (const auto& word : job.command)
    command.push_back(exact_text(word));
  const Json out{{"v", 1},
                 {"tok", job.tok},
                 {"job", job.job},
                 {"task", or_null(job.task)},
                 {"slurm_id", job.slurm_id},
                 {"index", or_null(job.index)},
                 {"dir", exact_text(job.dir)},
                 {"env", job.env},
                 {"name", exact_text(job.name)},
                 {"user", exact_text(job.user)},
                 {"host", exact_text(job.host)},
                 {"out", exact_text(job.out)},
                 {"err", job.err ? exact_text(*job.err) : Json()},
                 {"in", exact_text(job.in)},
                 {"open_append", job.open_append},
                 {"wd", exact_text(job.wd)},
                 {"signal", signal_json(job.signal)},
                 {"limit_s", or_null(job.limit_s)},
                 {"kill_wait_ms", job.kill_wait_ms},
                 {"records", job.records},
                 {"requeue", job.requeue},
                 {"umask", or_null(job.umask)},
                 {"login_timeout_s", or_null(job.login_timeout_s)},
                 {"restart", job.restart},
                 {"start_s", job.start_s},
                 {"never", never_json(job.never)},
                 {"command", std::move(command)}};
  return dump(out) + "\n";
}

Result<BatchJob> batch_job_from_json(std::string_view json, const std::string& where) {
  TRY_ASSIGN(const auto object, parse_versioned(json, where));
  BatchJob job;
  Fields fields(object, where);
  for (const auto* key : {"tok", "job", "dir", "wd"})
    fields.require(key);
  fields.read("tok", job.tok);
  fields.read("job", job.job);
  fields.read("task", job.task);
  job.slurm_id = job.job;
  fields.read("slurm_id", job.slurm_id);
  fields.read("index", job.index);
  fields.read("dir", job.dir);
  fields.read("env", job.env);
  fields.read("name", job.name);
  fields.read("user", job.user);
  fields.read("host", job.host);
  fields.read("out", job.out);
  fields.read("err", job.err);
  fields.read("in", job.in);
  fields.read("open_append", job.open_append);
  fields.read("wd", job.wd);
  fields.read("limit_s", job.limit_s);
  fields.read("kill_wait_ms", job.kill_wait_ms);
  fields.read("records", job.records);
  fields.read("requeue", job.requeue);
  fields.read("umask", job.umask);
  fields.read("login_timeout_s", job.login_timeout_s);
  fields.read("restart", job.restart);
  fields.read("start_s", job.start_s);
  fields.read("command", job.command);
  if (!is_token(job.tok)) fields.wrong("tok", "16 hexadecimal digits");
  if (!job.dir.starts_with('/')) fields.wrong("dir", "an absolute path");
  if (!job.wd.starts_with('/')) fields.wrong("wd", "an absolute path");
  if (job.job <= 0) fields.wrong("job", "a job number");
  if (job.umask && (*job.umask < 0 || *job.umask > 0777)) fields.wrong("umask", "a file mode mask");
  if (job.login_timeout_s && *job.login_timeout_s < 1) fields.wrong("login_timeout_s", "seconds");
  if (job.kill_wait_ms < 0) fields.wrong("kill_wait_ms", "milliseconds");
  TRY(fields.finish());
  TRY(read_signal(fields, where, job));
  TRY(read_never(fields, where, job));
  return job;
}

Result<void> write_batch_json(const JobFolder& folder, const BatchJob& job) {
  return posix::write_file_atomic(folder.batch_json(), to_json(job));
}

Result<BatchJob> read_batch_json(const JobFolder& folder) {
  const auto path = folder.batch_json();
  TRY_ASSIGN(const auto text, posix::read_trusted(path, k_max_batch_json));
  return batch_job_from_json(text, path);
}

} // namespace shim::records
