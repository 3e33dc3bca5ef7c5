#include "explanation.h"
#include "prepare.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/cli/help.h"
#include "slurm_shim/commands/sbatch.h"
#include "slurm_shim/ge/qsub.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/submit/predecessors.h"
#include "slurm_shim/submit/refusal.h"
#include "slurm_shim/submit/surroundings.h"

#include <algorithm>

namespace shim::commands {

namespace {

using namespace sbatch;
using submit::refuse;

constexpr std::string_view k_usage =
    "Usage: slurm-shim explain [--json] sbatch [OPTIONS...] [SCRIPT [ARGS...]]\n"
    "\n"
    "Tells what sbatch would submit, and submits nothing: partition, geometry, the qsub command\n"
    "line, what was approximated and why, and where every value came from. --json, as the first\n"
    "or last word or behind sbatch, gives it to programs. Of a request that sbatch refuses it\n"
    "tells sbatch's message and ends with its exit code.\n";

struct Words {
  bool json = false, help = false;
  std::vector<std::string> sbatch;
};

Result<Words> parse(std::vector<std::string> words) {
  Words out;
  const auto take_json = [&](auto at) {
    if (out.json || at == words.end() || *at != "--json") return;
    out.json = true;
    words.erase(at);
  };
  if (!words.empty()) take_json(words.begin());
  if (!words.empty()) take_json(words.end() - 1);
  if (words.size() > 1) take_json(words.begin() + 1);
  if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
    out.help = true;
    return out;
  }
  if (words.empty() || words[0] != "sbatch")
    return fail(ErrorKind::usage,
                words.empty() ? "which command? slurm-shim explain sbatch ..."
                              : "\"" + words[0] + "\" cannot be explained, only sbatch",
                slurm::k_exit_usage);
  out.sbatch.assign(words.begin() + 1, words.end());
  return out;
}

std::string origin_of(const Values& values, std::string_view option) {
  const auto parsed = values.as_parsed();
  const auto* given = parsed.last(option);
  if (given == nullptr) return "";
  switch (given->origin.kind) {
  case cli::Origin::Kind::command_line: return "command line";
  case cli::Origin::Kind::directive:
    return given->origin.name + ":" + std::to_string(given->origin.line);
  default: return given->origin.name;
  }
}

// Without an engine the translation is told for one that has all abilities.
submit::EngineFacts
facts_for(const context::Context& ctx, const submit::Request& request, Explanation& out) {
  auto facts = submit::ask_engine(ctx, request);
  if (facts) return std::move(*facts);
  out.engine_answered = false;
  out.engine_trouble = facts.error().message;
  constexpr std::string_view k_prefix = "sbatch: error: ";
  if (out.engine_trouble.starts_with(k_prefix)) out.engine_trouble.erase(0, k_prefix.size());
  submit::EngineFacts none;
  none.has_par = true;
  return none;
}

std::string partition_origin(const context::Context& ctx, const Values& values) {
  auto from = origin_of(values, "partition");
  if (!from.empty()) return from;
  return ctx.config.default_partition.empty() ? "config partitions: default"
                                              : "config default_partition";
}

std::string time_origin(const Values& values,
                        const submit::Request& request,
                        const config::Partition* partition) {
  if (request.minutes) return origin_of(values, "time");
  return partition != nullptr && partition->default_time_min
             ? "config default_time of the partition"
             : "config max_time of the partition";
}

Result<Explanation> explain(context::Context& ctx, const std::vector<std::string>& words) {
  TRY_ASSIGN(const auto parsed, parse_words(words));
  if (auto loaded = context::load_config(ctx); !loaded) return refuse(loaded.error().message);
  auto directory = posix::current_directory();
  if (!directory) return refuse(directory.error().message);
  const std::time_t now = ctx.clock.unix_ms() / 1000;
  TRY_ASSIGN(auto prepared, prepare(ctx, parsed, *directory, now));
  auto& request = prepared.request;
  const auto& values = prepared.values;
  TRY(submit::verify_request(request));
  if (auto refused = cli::refuse_unsupported(values.as_parsed(), ctx.config.strict_flags); !refused)
    return refuse(refused.error().message, slurm::k_exit_usage);
  TRY(submit::verify_submission(request, now));
  const auto located = records::locate_state(ctx.runner, ctx.env, ctx.config.job_records);
  if (!located) return refuse(located.error().message);
  auto situation = submit::look_around(ctx, request, *located, *directory, now);
  situation.arguments = prepared.arguments;

  Explanation out;
  auto facts = facts_for(ctx, request, out);
  const ge::Tools tools(ctx.runner, ctx.env, ctx.config.qstat_timeout);
  if (out.engine_answered)
    submit::ask_predecessors(tools, *located, situation.user, request, facts);
  TRY_ASSIGN(auto submission,
             submit::translate(request, prepared.script, ctx.config, facts, situation));
  submission.qsub.script = prepared.script.path.empty()
                               ? located->submit_dir() + "/" + situation.token + ".sh"
                               : prepared.script.path;
  out.script = prepared.script.name;
  out.partition = submission.partition;
  out.partition_from = submission.partition.empty() ? "" : partition_origin(ctx, values);
  out.queues = submission.qsub.queues;
  out.pe = submission.qsub.pe;
  out.geometry = submission.geometry;
  out.cpus_per_task = request.cpus_per_task.value_or(1);
  if (const auto minutes = submission.record.get_int("time")) {
    out.minutes = static_cast<std::uint32_t>(*minutes);
    out.time_from = time_origin(values, request, ctx.config.find_partition(out.partition));
  }
  out.qsub = ge::build_qsub_args(submission.qsub);
  out.record = submission.record.encode();
  out.has_par = facts.has_par;
  out.config_file = ctx.config.source;
  out.warnings = cli::warnings_of(values.as_parsed());
  out.warnings.insert(out.warnings.end(), values.warnings.begin(), values.warnings.end());
  out.warnings.insert(out.warnings.end(), submission.warnings.begin(), submission.warnings.end());
  out.notices = request.notices;
  out.notices.insert(out.notices.end(), submission.notices.begin(), submission.notices.end());
  out.options =
      fates_of(values, {out.qsub, ctx.config.memory_complex, situation.log}, out.warnings);
  out.qsub.insert(out.qsub.begin(), "qsub");
  return out;
}

} // namespace

int run_explain(context::Context& ctx, const std::vector<std::string>& words) {
  const auto asked = parse(words);
  if (!asked) {
    ctx.say("slurm-shim explain: error: " + asked.error().message + "\n");
    return asked.error().exit_code;
  }
  if (asked->help) {
    ctx.out.write(k_usage);
    return slurm::k_exit_ok;
  }
  const auto explanation = explain(ctx, asked->sbatch);
  if (!explanation) {
    const auto& error = explanation.error();
    if (asked->json) ctx.out.write(refusal_json(error.message, error.exit_code));
    ctx.say(error.message + "\n");
    return error.exit_code;
  }
  ctx.out.write(asked->json ? explanation_json(*explanation) : explanation_text(*explanation));
  return slurm::k_exit_ok;
}

} // namespace shim::commands
