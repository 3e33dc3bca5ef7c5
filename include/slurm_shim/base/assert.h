#pragma once
// SHIM_ASSERT: a bug of ours ends the process, also in release builds. Never for input.

namespace shim {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
} // namespace shim

#define SHIM_ASSERT(condition)                                                                     \
  do {                                                                                             \
    if (!(condition)) ::shim::assertion_failed(#condition, __FILE__, __LINE__);                    \
  } while (false)
