#include "array_identity.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/array_spec.h"
#include "slurm_shim/slurm/job_id.h"

#include <fmt/core.h>

#include <algorithm>

namespace shim::fabricate {
namespace {

std::optional<std::int64_t> number(const EnvList& env, std::string_view name) {
  return parse_int<std::int64_t>(env.get_or(name, ""));
}

// The map of the record: the engine numbers the elements itself, or from 1 on.
std::optional<ArrayIdentity> from_record(const std::string& text, std::int64_t task) {
  constexpr std::uint32_t k_no_limit = 4000001; // the largest MaxArraySize Slurm itself takes
  const auto parsed = slurm::parse_array_spec(text, k_no_limit);
  if (!parsed || !*parsed) return std::nullopt;
  const auto& spec = **parsed;
  ArrayIdentity out;
  out.task = task;
  if (slurm::native_range(spec)) {
    const auto at = std::find(spec.indices.begin(), spec.indices.end(), task);
    if (at == spec.indices.end()) return std::nullopt;
    out.element = static_cast<std::uint64_t>(at - spec.indices.begin());
  } else {
    if (task < 1 || task > spec.count()) return std::nullopt;
    out.element = static_cast<std::uint64_t>(task - 1);
  }
  out.index = spec.indices[out.element];
  out.range = ArrayIdentity::Range{spec.min(), spec.max(), spec.step(), spec.count()};
  return out;
}

ArrayIdentity from_engine(const EnvList& env, std::int64_t task) {
  ArrayIdentity out;
  out.task = out.index = task;
  const auto first = number(env, "SGE_TASK_FIRST");
  if (!first || task < *first) {
    out.element = static_cast<std::uint64_t>(std::max<std::int64_t>(task - 1, 0));
    return out;
  }
  const auto stride = std::max<std::int64_t>(number(env, "SGE_TASK_STEPSIZE").value_or(1), 1);
  const auto last = std::max(number(env, "SGE_TASK_LAST").value_or(*first), *first);
  const auto base = number(env, "SLURM_ARRAY_BASE").value_or(*first);
  const auto step = number(env, "SLURM_ARRAY_STEP").value_or(stride);
  const auto position = (task - *first) / stride;
  const auto count = (last - *first) / stride + 1;
  out.element = static_cast<std::uint64_t>(position);
  out.index = base + position * step;
  out.range = ArrayIdentity::Range{base, base + (count - 1) * step, step, count};
  return out;
}

} // namespace

std::int64_t engine_job(const EnvList& env) {
  return number(env, "JOB_ID").value_or(0);
}

std::optional<std::int64_t> engine_task(const EnvList& env) {
  return number(env, "SGE_TASK_ID");
}

std::optional<ArrayIdentity> array_identity(const JobFacts& facts,
                                            std::vector<std::string>& warnings) {
  const auto task = engine_task(facts.env);
  if (!task) return std::nullopt;
  if (const auto map = facts.record ? facts.record->get("array") : std::nullopt) {
    if (auto out = from_record(*map, *task)) return out;
    warnings.push_back(
        fmt::format("task {} is not in the array \"{}\" of the submit record", *task, *map));
  }
  return from_engine(facts.env, *task);
}

std::int64_t slurm_job_id(const JobFacts& facts, const std::optional<ArrayIdentity>& array) {
  const auto job = engine_job(facts.env);
  if (!array || facts.config.array_job_ids == "shared" || job < 0) return job;
  return static_cast<std::int64_t>(
      slurm::element_job_id(static_cast<std::uint64_t>(job), array->element));
}

} // namespace shim::fabricate
