// Values of options. What can be printed again is read as the same.
#include "fuzz.h"

#include "slurm_shim/slurm/array_spec.h"
#include "slurm_shim/slurm/cpu_bind.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/dependency.h"
#include "slurm_shim/slurm/distribution.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/memory.h"
#include "slurm_shim/slurm/numbers.h"
#include "slurm_shim/slurm/resources.h"
#include "slurm_shim/slurm/rle.h"
#include "slurm_shim/slurm/signals.h"
#include "slurm_shim/slurm/states.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/slurm/words.h"

using namespace shim::slurm;

namespace {

void numbers(std::string_view text) {
  if (const auto size = parse_memory(text, "mem"))
    SHIM_ASSERT(parse_memory(format_memory(*size), "mem") == *size);
  // Above, Slurm's arithmetic wraps.
  constexpr std::uint32_t k_most_minutes = 0x7fffffff / 60 - 1;
  if (const auto minutes = parse_time_limit(text); minutes && *minutes <= k_most_minutes)
    SHIM_ASSERT(parse_time_limit(format_time_limit(*minutes)) == *minutes);
  if (const auto counts = expand_counts(text))
    SHIM_ASSERT(expand_counts(compress_counts(*counts)) == *counts);
  if (const auto nodes = parse_node_count(text))
    SHIM_ASSERT(nodes->max == 0 || nodes->min <= nodes->max);
  (void)parse_positive(text, "ntasks");
  (void)parse_non_negative(text, "cpus");
  (void)parse_nice(text);
  (void)parse_extra_node_info(text);
  (void)parse_switches(text);
  constexpr std::time_t k_now = 1700000000;
  (void)parse_date_time(text, k_now);
}

void lists(std::string_view text) {
  if (const auto spec = parse_array_spec(text); spec && *spec) {
    const auto again = parse_array_spec(format_array_indices((*spec)->indices, (*spec)->throttle));
    SHIM_ASSERT(again && *again && (*again)->indices == (*spec)->indices);
    SHIM_ASSERT((*again)->throttle == (*spec)->throttle);
    if (const auto range = native_range(**spec)) SHIM_ASSERT(range->last == (*spec)->max());
  }
  if (const auto list = parse_dependency(text); list && !list->items.empty()) {
    const auto again = parse_dependency(dependency_text(*list));
    SHIM_ASSERT(again && again->items == list->items);
    SHIM_ASSERT(again->any == list->any || list->items.size() < 2);
  }
  if (const auto gres = parse_gres(text)) (void)total_count(*gres);
  if (const auto gpus = parse_gpus(text)) (void)format_tres(*gpus);
  (void)parse_gpu_bind(text);
  (void)parse_cpu_bind(text);
  (void)parse_licenses(text);
  (void)parse_export(text);
}

void words(std::string_view text) {
  if (const auto id = parse_job_id(text)) SHIM_ASSERT(decode_job_id(id->id).job == id->job);
  if (const auto order = parse_distribution(text))
    // The size of a plane is in a variable of its own.
    if (const auto shown = format_distribution(*order); !shown.empty() && shown != "plane")
      SHIM_ASSERT(parse_distribution(shown).has_value());
  if (const auto types = parse_mail_types(text))
    if (types->any()) SHIM_ASSERT(parse_mail_types(format_mail_types(*types)).has_value());
  if (const auto spec = parse_signal_spec(text))
    SHIM_ASSERT(signal_number(signal_name(spec->signal)) == spec->signal);
  (void)parse_job_state(text);
  (void)from_ge_state(text);
  (void)parse_open_mode(text);
  (void)parse_exclusive(text);
  (void)check_hint(text);
  (void)check_profile(text);
  (void)check_propagate(text);
}

} // namespace

void fuzz(std::string_view bytes) {
  numbers(bytes);
  lists(bytes);
  words(bytes);
}
