#include "slurm_shim/records/submit_file.h"

#include "json_fields.h"

#include "slurm_shim/posix/files.h"

#include <nlohmann/json.hpp>

#include <cerrno>

#include <unistd.h>

namespace shim::records {

namespace {
constexpr std::size_t k_max_submit_file = std::size_t{16} << 20; // argv may be megabytes

std::string script_file(const StatePaths& state, std::int64_t job) {
  return state.jobs_dir() + "/" + std::to_string(job) + ".script";
}

} // namespace

std::string to_json(const SubmitFile& file) {
  const Json out{{"v", 1},
                 {"tok", file.tok},
                 {"job", file.job},
                 {"tasks", file.tasks ? Json(*file.tasks) : Json()},
                 {"native", file.native},
                 {"sub", file.sub},
                 {"host", file.host},
                 {"cmd", file.cmd},
                 {"qsub", file.qsub},
                 {"req", file.req}};
  return dump(out) + "\n";
}

Result<SubmitFile> submit_file_from_json(std::string_view json, const std::string& where) {
  TRY_ASSIGN(const auto object, parse_versioned(json, where));
  SubmitFile file;
  Fields fields(object, where);
  fields.require("tok");
  fields.require("job");
  fields.read("tok", file.tok);
  fields.read("job", file.job);
  fields.read("tasks", file.tasks);
  fields.read("native", file.native);
  fields.read("sub", file.sub);
  fields.read("host", file.host);
  fields.read("cmd", file.cmd);
  fields.read("qsub", file.qsub);
  fields.read("req", file.req);
  if (!is_token(file.tok)) fields.wrong("tok", "16 hexadecimal digits");
  TRY(fields.finish());
  return file;
}

Result<void> write_submit_file(const StatePaths& state, const SubmitFile& file) {
  return posix::write_file_atomic(state.submit_file(file.job), to_json(file));
}

Result<SubmitFile> read_submit_file(const StatePaths& state, std::int64_t job) {
  const auto path = state.submit_file(job);
  TRY_ASSIGN(const auto text, posix::read_trusted(path, k_max_submit_file));
  return submit_file_from_json(text, path);
}

Result<void>
keep_script(const StatePaths& state, std::int64_t job, std::optional<std::string_view> text) {
  const auto path = script_file(state, job);
  if (text) return posix::write_file_atomic(path, *text);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno(path, errno);
  return {};
}

Result<std::string> read_kept_script(const StatePaths& state, std::int64_t job) {
  return posix::read_trusted(script_file(state, job), k_max_submit_file);
}

} // namespace shim::records
