// slurm-shim config: shows what is in effect and where it comes from, or checks a file. Asks
// nobody but the file system.
#include "slurm_shim/base/strings.h"
#include "slurm_shim/cli/admin_parser.h"
#include "slurm_shim/commands/admin.h"
#include "slurm_shim/config/lines.h"
#include "slurm_shim/config/show.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace shim::commands {

namespace {

struct ConfigOptions {
  bool check = false; // else show
  bool json = false;
  bool changed_only = false;
  std::string file; // "" = as every command finds it
  std::string help_text;
};

Result<ConfigOptions> parse(const std::vector<std::string>& words) {
  ConfigOptions options;
  cli::AdminParser parser("The configuration: what is in effect, and where it comes from.",
                          "slurm-shim config");
  auto show = parser.subcommand("show", "print every key with its value and its origin");
  show.flag("--json", options.json, "as JSON");
  show.flag("--changed", options.changed_only, "only what a file sets");
  show.option("--config", options.file, "of this file, not of the one that is found");
  auto check = parser.subcommand("check", "read a file and tell what is wrong with it");
  check.operand("FILE", options.file, "the file");
  TRY_ASSIGN(const auto help, parser.parse(words));
  options.help_text = help.value_or("");
  options.check = check.chosen();
  return options;
}

// Values below a key that has a line of its own ("features", a map) come from there, too.
int line_of(const config::Lines& lines, const std::string& path) {
  const auto found = lines.find(path);
  return found == lines.end() ? 0 : found->second;
}

std::string text_of(const std::string& file,
                    const std::vector<config::ShownValue>& values,
                    const config::Lines& lines,
                    bool changed_only) {
  std::string out = "# file: " + (file.empty() ? "none, built-in defaults" : file) + "\n";
  for (const auto& value : values) {
    const int line = line_of(lines, value.path);
    if (changed_only && line == 0) continue;
    const auto text = value.path + ": " + value.json;
    out += fmt::format(
        "{:<48} # {}\n", text, line == 0 ? "default" : fmt::format("{}:{}", file, line));
  }
  return out;
}

std::string json_of(const std::string& file,
                    const std::vector<config::ShownValue>& values,
                    const config::Lines& lines,
                    bool changed_only) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["file"] = file.empty() ? Json(nullptr) : Json(file);
  json["values"] = Json::object();
  for (const auto& value : values) {
    const int line = line_of(lines, value.path);
    if (changed_only && line == 0) continue;
    Json item;
    item["value"] = Json::parse(value.json);
    item["origin"] = line == 0 ? "default" : "file";
    if (line != 0) item["line"] = line;
    json["values"][value.path] = std::move(item);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

int run_config(context::Context& ctx, const std::vector<std::string>& words) {
  const auto options = parse(words);
  if (!options) return ctx.fail(Error(options.error()).context("config"));
  if (!options->help_text.empty()) {
    ctx.out.write(options->help_text);
    return slurm::k_exit_ok;
  }
  auto file = options->file;
  if (file.empty()) file = config::locate(ctx.env, posix::self_path().value_or(""));
  config::Lines lines;
  config::Loaded loaded;
  if (!file.empty()) {
    auto read = config::load_file(file, lines);
    if (!read) return ctx.fail(read.error());
    loaded = std::move(*read);
  }
  for (const auto& warning : loaded.warnings)
    ctx.warning(warning);
  if (options->check) {
    ctx.out.write(file + ": " +
                  (loaded.warnings.empty()
                       ? "fine"
                       : fmt::format("can be used; {} unknown keys", loaded.warnings.size())) +
                  "\n");
    return slurm::k_exit_ok;
  }
  const auto values = config::effective_values(loaded.config);
  ctx.out.write((options->json ? json_of : text_of)(file, values, lines, options->changed_only));
  return slurm::k_exit_ok;
}

} // namespace shim::commands
