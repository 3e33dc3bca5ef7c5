#include "prepare.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/submit/refusal.h"

#include <algorithm>

namespace shim::commands::sbatch {

using submit::refuse;
using submit::Script;

namespace {

constexpr int k_first_free_descriptor = 3;

Result<Script>
get_script(const context::Context& ctx, const cli::Parsed& parsed, const std::string& directory) {
  const auto* wrap = parsed.last("wrap");
  if (!parsed.rest.empty() && parsed.rest.front() == ":")
    return refuse("heterogeneous jobs are not supported", slurm::k_exit_usage);
  if (wrap != nullptr && !parsed.rest.empty())
    return refuse("Script arguments not permitted with --wrap option");
  if (wrap != nullptr) return wrap_script(wrap->value.value_or(""));
  TRY_ASSIGN(auto script,
             load_script(parsed.rest.empty() ? "" : parsed.rest.front(), ctx.env, directory));
  TRY(check_script(script.text));
  return script;
}

// A number is a descriptor that the caller has opened.
Result<void> read_export_file(const std::string& name, submit::Request& request) {
  const auto descriptor = is_digits(name) ? parse_int<int>(name) : std::nullopt;
  if (descriptor && *descriptor < k_first_free_descriptor)
    return refuse("--export-file: " + name + " is neither a file nor a descriptor above 2");
  const auto bytes = descriptor ? posix::read_fd(*descriptor) : posix::read_file(name);
  if (!bytes) return refuse("--export-file: " + name + ": " + bytes.error().message);
  auto settings = parse_export_file(*bytes, name);
  if (!settings) return refuse(settings.error().message);
  request.exports.settings.insert(
      request.exports.settings.end(), settings->begin(), settings->end());
  return {};
}

Result<void> read_files(submit::Request& request) {
  if (request.export_file) TRY(read_export_file(*request.export_file, request));
  if (request.nodefile) {
    const auto text = posix::read_file(*request.nodefile);
    if (!text) return refuse("Unable to open file " + *request.nodefile);
    request.nodelist = parse_node_file(*text);
    if (request.nodelist->empty())
      return refuse("--nodefile: " + *request.nodefile + " names no host");
  }
  return {};
}

} // namespace

Result<Prepared> prepare(const context::Context& ctx,
                         const cli::Parsed& command_line,
                         const std::string& directory,
                         std::time_t now) {
  // Slurm judges the command line before it looks at the script.
  submit::Request scratch;
  TRY(submit::apply_values(command_line.given, now, scratch));
  Prepared out;
  TRY_ASSIGN(out.script, get_script(ctx, command_line, directory));
  TRY_ASSIGN(out.values, collect_values(command_line, ctx.env, out.script));
  TRY(submit::apply_values(out.values.given, now, out.request));
  TRY(read_files(out.request));
  const auto& rest = command_line.rest;
  if (!rest.empty()) out.arguments.assign(rest.begin() + 1, rest.end());
  return out;
}

Result<std::vector<std::pair<std::string, std::string>>>
parse_export_file(std::string_view bytes, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto entry : split(bytes, '\0')) {
    if (trim(entry).empty() || entry == "\n") continue;
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail(ErrorKind::usage,
                  "--export-file: " + name + ": \"" + std::string(entry.substr(0, 64)) +
                      "\" is no NAME=value");
    settings.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return settings;
}

std::string parse_node_file(std::string_view text) {
  std::vector<std::string_view> hosts;
  for (const auto line : split(text, '\n'))
    for (const auto word : split_words(line.substr(0, line.find('#'))))
      if (word != ",") hosts.push_back(word);
  auto list = join(hosts, ",");
  while (list.ends_with(','))
    list.pop_back();
  return list;
}

} // namespace shim::commands::sbatch
