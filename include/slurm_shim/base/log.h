#pragma once
// Debug traces on stderr, for -v and SLURM_SHIM_DEBUG. Off unless asked for: then a trace costs one
// comparison, and the logging library is never touched. Not for messages a user is to see (those go
// through Context), and never for secrets. The only singleton of the project.

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace shim::log {

// 0 = off (default), 1 = what is done (-v), 2 = every detail (-vv).
void start(std::string_view command, int verbosity);
[[nodiscard]] int verbosity();
void write(int level, const std::string& text); // "<command>: debug: <text>"

template <class... Args> void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (verbosity() >= 1) write(1, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args> void trace(fmt::format_string<Args...> format, Args&&... args) {
  if (verbosity() >= 2) write(2, fmt::format(format, std::forward<Args>(args)...));
}

} // namespace shim::log
