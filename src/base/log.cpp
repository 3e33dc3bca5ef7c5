#include "slurm_shim/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace shim::log {

namespace {
int g_verbosity = 0;
std::unique_ptr<spdlog::logger> g_logger; // NOLINT: the one singleton; made on first use
} // namespace

void start(std::string_view command, int verbosity) {
  g_verbosity = verbosity;
  g_logger.reset();
  if (verbosity <= 0) return;
  g_logger = std::make_unique<spdlog::logger>(std::string(command),
                                              std::make_shared<spdlog::sinks::stderr_sink_st>());
  g_logger->set_pattern("%n: debug: %v");
  g_logger->set_level(spdlog::level::debug);
}

int verbosity() {
  return g_verbosity;
}

void write(int level, const std::string& text) {
  if (level <= g_verbosity && g_logger) g_logger->debug("{}", text);
}

} // namespace shim::log
