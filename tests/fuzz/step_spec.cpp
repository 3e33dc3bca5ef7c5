// What a stepper is sent: the specification of its ranks, and the envelope in its command line.
#include "slurm_shim/proto/step_spec.h"

#include "fuzz.h"

using namespace shim::proto;

void fuzz(std::string_view bytes) {
  if (const auto spec = decode_step_spec(bytes)) {
    const auto text = StepSpecEncoder(*spec).with_ranks(spec->ranks);
    const auto twice = decode_step_spec(text);
    SHIM_ASSERT(twice.has_value());
    SHIM_ASSERT(StepSpecEncoder(*twice).with_ranks(twice->ranks) == text);
  }
  if (const auto envelope = decode_envelope(bytes)) {
    const auto twice = decode_envelope(encode_envelope(*envelope));
    SHIM_ASSERT(twice && twice->dial == envelope->dial && twice->host == envelope->host &&
                twice->job_id == envelope->job_id && twice->dial_alt == envelope->dial_alt);
  }
}
