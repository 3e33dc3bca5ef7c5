// layout.json, from which srun places its ranks: read, written and read again it is the same.
#include "slurm_shim/layout/layout.h"

#include "fuzz.h"

using namespace shim::layout;

void fuzz(std::string_view bytes) {
  const auto layout = from_json(bytes, "layout.json");
  if (!layout) return;
  SHIM_ASSERT(!layout->nodes.empty());
  const auto text = to_json(*layout);
  const auto again = from_json(text, "layout.json");
  SHIM_ASSERT(again.has_value());
  SHIM_ASSERT(to_json(*again) == text);
}
