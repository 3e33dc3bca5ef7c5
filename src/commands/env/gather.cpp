#include "gather.h"

#include "slurm_shim/config/devices.h"
#include "slurm_shim/ge/tools.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/records/env_file.h"
#include "slurm_shim/records/job_record.h"
#include "slurm_shim/records/submit_file.h"

#include <fmt/core.h>

#include <algorithm>

#include <unistd.h>

namespace shim::commands::env {
namespace {

constexpr std::string_view k_record_variable = "SLURM_SHIM_REQ";

// A record that was too long for a variable names its file and nothing else.
Result<records::SubmitRecord> follow(records::SubmitRecord record) {
  if (record.get_int("file") != 1) return record;
  const records::StatePaths state(record.get_or("dir", ""));
  const auto path = state.req_file(record.get_or("tok", ""));
  const auto text = records::read_when_visible(path);
  if (!text && text.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::not_found,
                fmt::format("submit record file {} is not visible on {}: is {} on a file system "
                            "all hosts share?",
                            path,
                            posix::host_name(),
                            state.root()));
  if (!text) return tl::unexpected<Error>(text.error());
  auto full = records::SubmitRecord::decode(*text);
  if (!full) return tl::unexpected<Error>(std::move(full).error().context(path));
  return full;
}

// What scontrol has changed since the submission stands in the submit file alone.
void take_changes(const EnvList& env, records::SubmitRecord& record) {
  const records::StatePaths state(record.get_or("dir", ""));
  const auto file = records::read_submit_file(state, fabricate::engine_job(env));
  if (!file || file->tok != record.get_or("tok", "")) return;
  if (auto changed = records::SubmitRecord::decode(file->req)) record = std::move(*changed);
}

Result<std::optional<records::SubmitRecord>> read_record(const context::Context& ctx) {
  const auto text = ctx.env.get_or(k_record_variable, "");
  if (text.empty()) return std::nullopt;
  auto record = records::SubmitRecord::decode(text);
  if (!record) {
    ctx.warning(record.error().message + "; using the task policy");
    return std::nullopt;
  }
  TRY_ASSIGN(auto full, follow(std::move(*record)));
  take_changes(ctx.env, full);
  return full;
}

// The engine counts to 1; the record of the job's earlier runs knows better.
int restarts(const fabricate::JobFacts& facts) {
  const auto flag = facts.env.get_or("RESTARTED", "0");
  if (flag == "0") return 0;
  const auto& record = *facts.record;
  const records::JobKey key{fabricate::engine_job(facts.env), fabricate::engine_task(facts.env)};
  const records::StatePaths state(record.get_or("dir", ""));
  return std::max(1, records::count_starts(state, key, record.get_or("tok", "")));
}

Result<std::optional<std::string>> read_hostfile(const EnvList& env) {
  const auto path = env.get_or("PE_HOSTFILE", "");
  if (path.empty()) return std::nullopt;
  auto text = posix::read_file(path);
  if (!text) return tl::unexpected<Error>(std::move(text).error().context("PE_HOSTFILE"));
  return std::optional<std::string>(std::move(*text));
}

void ask_engine(const context::Context& ctx, fabricate::JobFacts& facts) {
  const auto need = fabricate::job_detail_need(facts);
  if (!need.any()) return;
  const auto timeout = facts.config.qstat_timeout;
  const ge::Tools tools(ctx.runner, ctx.env, timeout);
  const ge::JobTask which{fabricate::engine_job(facts.env),
                          fabricate::engine_task(facts.env).value_or(1)};
  auto detail = ge::query_job_detail(tools, which, timeout);
  if (detail) {
    facts.detail = std::move(*detail);
    return;
  }
  for (const auto& line : fabricate::detail_warnings(need, detail.error()))
    ctx.warning(line);
}

} // namespace

Result<void> gather_job(context::Context& ctx, fabricate::JobFacts& facts) {
  facts.env = ctx.env;
  facts.user = posix::user_name(ctx.runner, ctx.env);
  if (facts.user.empty()) facts.user = ctx.env.get_or("SGE_O_LOGNAME", "");
  facts.uid = static_cast<std::int64_t>(::getuid());
  facts.gid = static_cast<std::int64_t>(::getgid());
  facts.now_unix = ctx.clock.unix_ms() / 1000;
  facts.shim_version = SHIM_VERSION;
  TRY_ASSIGN(facts.record, read_record(ctx));
  if (facts.record) facts.restart = restarts(facts);
  return {};
}

Result<void> gather_hosts(context::Context& ctx, fabricate::JobFacts& facts) {
  TRY_ASSIGN(const auto hostfile, read_hostfile(ctx.env));
  TRY_ASSIGN(facts.hosts, fabricate::granted_hosts(ctx.env, hostfile, posix::host_name()));
  // Only the master's address is ever needed; one that does not resolve is left out.
  facts.master_ip = posix::resolve_ipv4(ctx.runner, facts.hosts.front().name).value_or("");
  facts.device_variable = config::device_variable(facts.config.gpu);
  ask_engine(ctx, facts);
  return {};
}

} // namespace shim::commands::env
