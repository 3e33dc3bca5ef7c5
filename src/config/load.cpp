#include "slurm_shim/config/config.h"

namespace shim::config {
std::string locate(const EnvList&, const std::string&) { return {}; }
Result<Loaded> load_file(const std::string&) { return Loaded{}; }
Result<Loaded> parse(std::string_view, const std::string&) { return Loaded{}; }
} // namespace shim::config
