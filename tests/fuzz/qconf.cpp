// What qconf prints: attributes, which are written back the same, complexes, values of hosts.
#include "slurm_shim/ge/qconf.h"

#include "fuzz.h"

#include "slurm_shim/ge/qsub.h"
#include "slurm_shim/ge/schedule.h"

using namespace shim::ge;

void fuzz(std::string_view bytes) {
  const auto attributes = parse_attributes(bytes);
  for (const auto& [key, value] : attributes.entries()) {
    SHIM_ASSERT(!key.empty() && attributes.get(key).has_value());
    (void)parse_host_value(value);
    (void)complex_value(value, "gpu");
  }
  // A backslash at the end of a value would join it with the next line.
  if (const auto text = attributes.text(); text.find('\\') == std::string::npos)
    SHIM_ASSERT(parse_attributes(text).entries() == attributes.entries());
  (void)parse_name_list(bytes);
  (void)parse_complexes(bytes);
  (void)parse_qsub_help(bytes);
  (void)classify_refusal(bytes);
  (void)qsub_warnings(bytes);
  (void)parse_job_number(bytes);
  (void)parse_schedule(bytes);
}
