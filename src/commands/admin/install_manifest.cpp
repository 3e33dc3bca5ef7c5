#include "install_manifest.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <nlohmann/json.hpp>

namespace shim::commands::admin {

namespace {

using Op = Action::Op;
using Kind = Action::Kind;
using Json = nlohmann::ordered_json;

// The manifest of an earlier run; an empty object when there is none or it does not parse.
Json earlier_manifest(const std::string& path) {
  const auto text = posix::read_file(path);
  if (!text) return Json::object();
  auto json = Json::parse(*text, nullptr, false);
  return json.is_object() ? json : Json::object();
}

// The object `key` of `parent`, made an object when it is something else.
Json& object_of(Json& parent, const char* key) {
  auto& child = parent[key];
  if (!child.is_object()) child = Json::object();
  return child;
}

void record(Json& manifest, const Action& action) {
  if (action.kind == Kind::pe) {
    auto& pe = object_of(manifest, "pes")[action.target];
    if (!pe.is_object()) pe = Json::object();
    if (action.op == Op::create) pe["created"] = true;
    if (action.op == Op::modify && !pe.contains(action.attribute))
      pe[action.attribute] = action.old_value;
  }
  if (action.kind == Kind::queue) {
    auto& queue = object_of(manifest, "queues")[action.target];
    if (!queue.is_object()) queue = Json::object();
    if (action.attribute == "pe_list")
      for (const auto& name : action.names)
        queue["pe_list_added"].push_back(name);
    else if (!queue.contains(action.attribute)) // the first value is the one to go back to
      queue[action.attribute] = action.old_value;
  }
}

// The strings of an object; anything else is left out.
std::map<std::string, std::string> strings_of(const Json& json) {
  std::map<std::string, std::string> out;
  if (!json.is_object()) return out;
  for (const auto& [key, value] : json.items())
    if (value.is_string()) out[key] = value.get<std::string>();
  return out;
}

template <class Each> void each_entry(const Json& json, const char* key, const Each& each) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_object()) return;
  for (const auto& [name, value] : found->items())
    each(name, value);
}

} // namespace

std::string manifest_path(const InstallOptions& options) {
  return options.prefix + "/etc/install.json";
}

std::map<std::string, std::string> checksums(posix::Runner& runner,
                                             const std::vector<std::string>& files) {
  std::map<std::string, std::string> sums;
  if (files.empty()) return sums;
  posix::RunRequest request;
  request.argv = {"sha256sum", "--"};
  request.argv.insert(request.argv.end(), files.begin(), files.end());
  request.timeout = std::chrono::seconds(60);
  const auto output = runner.run(request);
  if (!output) return sums;
  for (const auto line : split(output->out, '\n'))
    if (line.size() > 66) sums[std::string(line.substr(66))] = std::string(line.substr(0, 64));
  return sums;
}

Result<Manifest> read_manifest(const std::string& path) {
  TRY_ASSIGN(const auto text, posix::read_file(path));
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("schema", Json()) != 1)
    return fail(ErrorKind::malformed, path + " is no manifest of an installation");
  Manifest manifest;
  if (const auto files = json.find("files"); files != json.end())
    manifest.files = strings_of(*files);
  each_entry(
      json, "links", [&](const std::string& name, const Json&) { manifest.links.insert(name); });
  each_entry(json, "pes", [&](const std::string& name, const Json& value) {
    auto& pe = manifest.pes[name];
    pe.created = value.is_object() && value.value("created", Json()) == true;
    pe.before = strings_of(value);
  });
  each_entry(json, "queues", [&](const std::string& name, const Json& value) {
    auto& queue = manifest.queues[name];
    queue.before = strings_of(value);
    if (!value.is_object()) return;
    const auto added = value.find("pe_list_added");
    if (added == value.end() || !added->is_array()) return;
    for (const auto& pe : *added)
      if (pe.is_string()) queue.pe_list_added.push_back(pe.get<std::string>());
  });
  return manifest;
}

Result<void> write_manifest(const Plan& plan,
                            std::size_t done,
                            const InstallOptions& options,
                            posix::Runner& runner,
                            posix::Clock& clock) {
  const auto path = manifest_path(options);
  auto manifest = earlier_manifest(path);
  manifest["schema"] = 1;
  manifest["version"] = SHIM_VERSION;
  manifest["time"] = clock.unix_ms() / 1000;
  manifest["prefix"] = options.prefix;
  std::vector<std::string> files;
  for (std::size_t i = 0; i < done; ++i) {
    const auto& action = plan.actions[i];
    if (action.kind == Kind::file || (action.kind == Kind::config && action.op == Op::create))
      files.push_back(action.target);
    if (action.kind == Kind::link) object_of(manifest, "links")[action.target] = "slurm-shim";
    if (action.op == Op::create || action.op == Op::modify) record(manifest, action);
  }
  const auto sums = checksums(runner, files);
  for (const auto& file : files) {
    const auto sum = sums.find(file);
    object_of(manifest, "files")[file] = sum == sums.end() ? "" : sum->second;
  }
  TRY(posix::make_directories(posix::dir_name(path), 0755));
  return posix::write_file_atomic(
      path, manifest.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n", 0644);
}

} // namespace shim::commands::admin
