#include "schema.h"

#include "slurm_shim/config/lines.h"
#include "slurm_shim/posix/files.h"

namespace shim::config {

namespace {
constexpr std::string_view k_system_file = "/etc/slurm-shim/config.yaml";
constexpr std::size_t k_max_bytes = std::size_t{4} << 20;
} // namespace

std::string locate(const EnvList& env, const std::string& self_path) {
  if (const auto explicit_path = env.get_or("SLURM_SHIM_CONFIG", ""); !explicit_path.empty())
    return posix::exists(explicit_path) ? explicit_path : "";
  if (std::string path(k_system_file); posix::exists(path)) return path;
  if (self_path.empty()) return "";
  auto beside = posix::dir_name(posix::dir_name(self_path)) + "/etc/config.yaml";
  return posix::exists(beside) ? beside : "";
}

Result<Loaded> load_file(const std::string& path, Lines& lines) {
  auto text = posix::read_file(path, k_max_bytes);
  if (!text)
    return fail(ErrorKind::config, "config: " + text.error().message, text.error().exit_code);
  return parse(*text, path, lines);
}

Result<Loaded> load_file(const std::string& path) {
  Lines lines;
  return load_file(path, lines);
}

Result<Loaded> parse(std::string_view yaml, const std::string& file_name, Lines& lines) {
  TRY_ASSIGN(const auto root, parse_yaml(yaml, file_name));
  return read_document(root, file_name, lines);
}

Result<Loaded> parse(std::string_view yaml, const std::string& file_name) {
  Lines lines;
  return parse(yaml, file_name, lines);
}

} // namespace shim::config
