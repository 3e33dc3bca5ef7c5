#include "update.h"

#include "control.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/cluster/cluster.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/queue/targets.h"
#include "slurm_shim/records/submit_file.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/submit/predecessors.h"

#include <algorithm>

namespace shim::commands::scontrol {

namespace {

int refuse(const context::Context& ctx, const Settings& settings, std::string_view text) {
  tell(ctx, settings, text);
  return slurm::k_exit_failure;
}

// What sbatch recorded follows, so that squeue and scontrol show the new values.
void follow(const Session& session, std::uint64_t job, const JobChange& change) {
  if (!session.source.state) return;
  auto file = records::read_submit_file(*session.source.state, static_cast<std::int64_t>(job));
  if (!file) return;
  const auto record = records::SubmitRecord::decode(file->req);
  if (!record) return;
  records::SubmitRecord changed;
  for (const auto& [key, value] : record->values())
    if (!change.record.contains(key)) changed.set(key, value);
  for (const auto& [key, value] : change.record)
    if (!value.empty()) changed.set(key, value);
  file->req = changed.encode();
  static_cast<void>(records::write_submit_file(*session.source.state, *file));
}

// The record of a job that this user submitted.
std::optional<records::SubmitRecord> record_of(const Session& session, std::uint64_t job) {
  if (!session.source.state) return std::nullopt;
  const auto file =
      records::read_submit_file(*session.source.state, static_cast<std::int64_t>(job));
  if (!file) return std::nullopt;
  auto record = records::SubmitRecord::decode(file->req);
  return record ? std::optional(std::move(*record)) : std::nullopt;
}

Result<std::optional<Failure>> change_job(const context::Context& ctx,
                                          const Session& session,
                                          std::uint64_t number,
                                          const std::string& names,
                                          Keys keys) {
  TRY_ASSIGN(const auto facts, ge::describe_jobs(session.tools, {number}));
  const auto* job = facts.find(number);
  if (job == nullptr) return Failure{std::string(k_invalid_id)};
  Subject subject{session.source.config, *job, record_of(session, number), {}, session.source.now};
  submit::Request request;
  const auto dependency = asked_dependency(keys);
  if (!dependency) return Failure{dependency.error().message, false};
  request.dependency = *dependency;
  if (!request.dependency.items.empty() && session.source.state)
    submit::ask_predecessors(
        session.tools, *session.source.state, job->owner, request, subject.engine);
  auto change = translate(subject, keys);
  if (!change) return Failure{change.error().message, false};
  for (const auto& line : change->warnings)
    ctx.warning(line);
  if (!change->args.empty()) {
    auto args = change->args;
    args.push_back(names);
    TRY_ASSIGN(auto failure, run_tool(session, "qalter", args, "Invalid user id"));
    if (failure) return failure;
  }
  if (change->hold) {
    TRY_ASSIGN(auto failure, run_tool(session, "qhold", {"-h", "u", names}, "Invalid user id"));
    if (failure) return failure;
  }
  follow(session, number, *change);
  return std::nullopt;
}

int update_jobs(context::Context& ctx, const Settings& settings, std::string_view ids, Keys keys) {
  if (keys.empty()) return refuse(ctx, settings, "No changes specified");
  for (const auto& key : keys)
    if (!is_known(key.name))
      return refuse(ctx,
                    settings,
                    "Update of this parameter is not supported: " + key.written +
                        "\nRequest aborted");
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const Session session(ctx);
  int code = slurm::k_exit_ok;
  for (const auto& id : queue::split_ids(ids)) {
    const auto ref = slurm::parse_job_id(id);
    const auto jobs =
        ref ? find_jobs(session, *ref) : Result<std::vector<queue::Job>>(std::vector<queue::Job>{});
    if (!jobs) return ctx.fail(jobs.error());
    auto failure = Result<std::optional<Failure>>(Failure{std::string(k_invalid_id)});
    const auto caller = posix::user_name(ctx.runner, ctx.env);
    const bool foreign = !jobs->empty() && caller != "root" && jobs->front().user != caller;
    if (foreign) {
      failure = std::optional(Failure{"Invalid user id"});
    } else if (!jobs->empty()) {
      // A limit of a job that runs stays: the engine has handed it to the host.
      const bool runs = std::ranges::any_of(*jobs, [](const auto& job) { return !job.pending(); });
      if (runs &&
          std::ranges::any_of(keys, [](const auto& key) { return key.name == "timelimit"; }))
        failure = std::optional(Failure{std::string(k_disabled)});
      else
        // Of a whole array the engine changes the job, not its tasks one by one.
        failure = change_job(ctx,
                             session,
                             ref->job,
                             ref->element || !ref->indices.empty() ? names_of(*jobs)
                                                                   : std::to_string(ref->job),
                             keys);
    }
    if (!failure) return ctx.fail(failure.error());
    if (!*failure) continue;
    code = tell_failure(ctx, settings, id, {(*failure)->text, false});
  }
  return code;
}

// qmod's answers to -d and -e: one line for each queue instance.
int change_queues(context::Context& ctx,
                  const Settings& settings,
                  const Session& session,
                  bool enable,
                  const std::string& queue,
                  bool must_change) {
  const auto output = session.tools.run({.tool = "qmod", .args = {enable ? "-e" : "-d", queue}});
  if (!output) return ctx.fail(output.error());
  const auto text = output->out + output->err;
  if (text.find("permission") != std::string::npos || text.find("must be") != std::string::npos)
    return refuse(ctx, settings, "slurm_update error: Invalid user id");
  if (text.find("changed state") != std::string::npos) return slurm::k_exit_ok;
  if (text.find("already in the specified state") != std::string::npos)
    return must_change ? refuse(ctx, settings, "slurm_update error: Invalid node state specified")
                       : slurm::k_exit_ok;
  return ctx.refuse("qmod: " + std::string(trim(split(trim(text), '\n').front())));
}

const Key* find_key(Keys keys, std::string_view name) {
  const auto it = std::ranges::find(keys, name, &Key::name);
  return it == keys.end() ? nullptr : &*it;
}

// Keys other than these have no counterpart in the engine.
const Key* first_other(Keys keys, std::initializer_list<std::string_view> known) {
  for (const auto& key : keys)
    if (std::ranges::find(known, std::string_view(key.name)) == known.end()) return &key;
  return nullptr;
}

int unsupported_key(const context::Context& ctx, const Settings& settings, const Key& key) {
  return refuse(ctx,
                settings,
                "Update of this parameter is not supported: " + key.written + "\nRequest aborted");
}

int update_nodes(context::Context& ctx,
                 const Settings& settings,
                 const std::string& list,
                 Keys keys) {
  if (const auto* key = first_other(keys, {"state", "reason"}))
    return unsupported_key(ctx, settings, *key);
  const auto* state = find_key(keys, "state");
  if (state == nullptr) return refuse(ctx, settings, "No changes specified");
  const auto word = to_upper(state->value);
  const bool enable = word == "RESUME" || word == "UNDRAIN" || word == "IDLE";
  if (!enable && word != "DRAIN" && word != "DOWN" && word != "FAIL")
    return refuse(ctx, settings, "Invalid input: " + state->written + "\nRequest aborted");
  if (!enable && find_key(keys, "reason") == nullptr)
    return refuse(
        ctx, settings, "You must specify a reason when " + word + "ing a node\nRequest aborted");
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const Session session(ctx);
  const auto names = slurm::slurm_expand_hostlist(list);
  const auto cluster = cluster::load(session.tools, ctx.config, false);
  if (!cluster) return ctx.fail(cluster.error());
  if (!names || std::ranges::any_of(*names, [&](const std::string& name) {
        return cluster->find_node(name) == nullptr;
      }))
    return refuse(ctx, settings, "slurm_update error: Invalid node name specified");
  int code = slurm::k_exit_ok;
  for (const auto& name : *names) {
    const auto& node = cluster->find_node(name)->name;
    const int one = change_queues(ctx, settings, session, enable, "*@" + node, word == "RESUME");
    code = std::max(code, one);
  }
  if (code == slurm::k_exit_ok && !enable)
    ctx.warning("Grid Engine keeps no reason: \"" + find_key(keys, "reason")->value +
                "\" is not recorded");
  if (code == slurm::k_exit_ok && word == "DOWN")
    ctx.warning("State=DOWN: jobs that run on the node go on");
  return code;
}

int update_partition(context::Context& ctx,
                     const Settings& settings,
                     const std::string& name,
                     Keys keys) {
  if (const auto* key = first_other(keys, {"state"})) return unsupported_key(ctx, settings, *key);
  const auto* state = find_key(keys, "state");
  if (state == nullptr) return refuse(ctx, settings, "No changes specified");
  const auto word = to_upper(state->value);
  if (word != "UP" && word != "DOWN" && word != "DRAIN" && word != "INACTIVE")
    return refuse(ctx, settings, "Invalid input: " + state->written + "\nRequest aborted");
  if (const auto loaded = context::load_config(ctx); !loaded) return ctx.fail(loaded.error());
  const Session session(ctx);
  const auto cluster = cluster::load(session.tools, ctx.config, false);
  if (!cluster) return ctx.fail(cluster.error());
  const auto* partition = cluster->find_partition(name);
  if (partition == nullptr || partition->queue.empty())
    return refuse(ctx, settings, "slurm_update error: Invalid partition name specified");
  return change_queues(ctx, settings, session, word == "UP", partition->queue, false);
}

} // namespace

int update(context::Context& ctx, const Settings& settings, Words words) {
  auto keys = parse_keys(words);
  if (keys.empty()) return refuse(ctx, settings, "too few arguments for update keyword");
  const Key subject = keys.front();
  keys.erase(keys.begin());
  if (subject.name == "jobid" || subject.name == "job")
    return update_jobs(ctx, settings, subject.value, keys);
  if (subject.name == "nodename" || subject.name == "node")
    return update_nodes(ctx, settings, subject.value, keys);
  if (subject.name == "partitionname" || subject.name == "partition")
    return update_partition(ctx, settings, subject.value, keys);
  tell(ctx, settings, "No valid entity in update command");
  tell(ctx,
       settings,
       "Input line must include \"NodeName\", \"PartitionName\" or \"JobId\" first; other entities "
       "are not supported by slurm-shim");
  return slurm::k_exit_failure;
}

} // namespace shim::commands::scontrol
