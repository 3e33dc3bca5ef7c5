#pragma once
// SHIM_ASSERT: a bug of ours ends the process, also in release builds. Never for input. The file is
// named without its folder: a released binary does not tell where it was built.

namespace shim {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
} // namespace shim

#define SHIM_ASSERT(condition)                                                                     \
  do {                                                                                             \
    if (!(condition)) ::shim::assertion_failed(#condition, __FILE_NAME__, __LINE__);               \
  } while (false)
