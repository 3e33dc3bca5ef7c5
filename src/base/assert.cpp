#include "slurm_shim/base/assert.h"

#include <string>

#include <unistd.h>

namespace shim {

void assertion_failed(const char* condition, const char* file, int line) {
  const std::string text = std::string("slurm-shim: internal error: ") + file + ":" +
                           std::to_string(line) + ": " + condition + "\n";
  [[maybe_unused]] const auto written = ::write(2, text.data(), text.size());
  __builtin_abort();
}

} // namespace shim
