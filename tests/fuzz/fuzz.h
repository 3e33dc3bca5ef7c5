#pragma once
// A fuzz target is a function of the bytes it is given; what has to hold is written with
// SHIM_ASSERT, so that a broken promise is found like a crash. tests/fuzz/README.md says how they
// run.

#include "slurm_shim/base/assert.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

void fuzz(std::string_view bytes);

// libFuzzer's entry, in each target's program.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
