#include "slurm_shim/layout/layout.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <string_view>

namespace shim::layout {
namespace {

using nlohmann::json;

// Reads members of one JSON object; the first member of the wrong kind is remembered and named, so
// that callers read on and ask once. Absent and null members leave the target alone.
class Members {
public:
  Members(const json& object, std::string path, std::string& complaint)
      : m_object(object), m_path(std::move(path)), m_complaint(complaint) {}

  void read(const char* key, std::string& target) {
    const auto* value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) return complain(key, "a string");
    target = value->get<std::string>();
  }
  void read(const char* key, bool& target) {
    const auto* value = find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) return complain(key, "true or false");
    target = value->get<bool>();
  }
  template <class Integer> void read_int(const char* key, Integer& target) {
    if (const auto* value = find(key)) target = integer<Integer>(*value, key);
  }
  void read(const char* key, std::vector<int>& target) {
    const auto* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return complain(key, "an array");
    target.clear();
    for (const auto& item : *value)
      target.push_back(integer<int>(item, key));
  }
  // Ids of devices: numbers, or words that can stand in a list.
  void read_devices(const char* key, std::vector<std::string>& target) {
    const auto* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return complain(key, "an array");
    target.clear();
    for (const auto& item : *value)
      if (item.is_string() && is_device_word(item.get_ref<const std::string&>()))
        target.push_back(item.get<std::string>());
      else if (item.is_string())
        complain(key, "a list of device ids");
      else
        target.push_back(std::to_string(integer<int>(item, key)));
  }
  // An element of an array of objects, or an empty object with a complaint.
  Members child(const json& value, const std::string& name) {
    static const json empty = json::object();
    if (value.is_object()) return {value, below(name), m_complaint};
    complain(name, "an object");
    return {empty, below(name), m_complaint};
  }
  Members child(const char* key) {
    static const json empty = json::object();
    const auto* value = find(key);
    return child(value != nullptr ? *value : empty, key);
  }
  [[nodiscard]] const json* array(const char* key) {
    const auto* value = find(key);
    if (value != nullptr && !value->is_array()) {
      complain(key, "an array");
      return nullptr;
    }
    return value;
  }
  [[nodiscard]] bool has(const char* key) const { return find(key) != nullptr; }
  void complain(const std::string& key, std::string_view expected) {
    if (m_complaint.empty()) m_complaint = fmt::format("{}: {} was expected", below(key), expected);
  }

private:
  [[nodiscard]] static bool is_device_word(std::string_view word) {
    constexpr unsigned char k_delete = 0x7f;
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte > ' ' && byte < k_delete && c != ',';
    });
  }
  [[nodiscard]] const json* find(const char* key) const {
    const auto it = m_object.find(key);
    return it == m_object.end() || it->is_null() ? nullptr : &*it;
  }
  [[nodiscard]] std::string below(const std::string& key) const {
    return m_path.empty() ? key : m_path + "." + key;
  }
  template <class Integer> Integer integer(const json& value, const char* key) {
    const auto low = std::int64_t{0};
    const auto high = static_cast<std::int64_t>(std::numeric_limits<Integer>::max());
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(high)
                          : value.is_number_integer() && value.get<std::int64_t>() >= low;
    if (fits) return value.get<Integer>();
    complain(key, fmt::format("an integer from 0 to {}", high));
    return 0;
  }

  const json& m_object;
  std::string m_path;
  std::string& m_complaint;
};

void read_job(Members job, Job& out) {
  if (!job.has("job_id")) job.complain("job_id", "an integer");
  job.read_int("job_id", out.job_id);
  if (job.has("array_task_id")) job.read_int("array_task_id", out.array_task_id.emplace());
  job.read("name", out.name);
  job.read("user", out.user);
  job.read_int("uid", out.uid);
  job.read_int("gid", out.gid);
  job.read("queue", out.queue);
  job.read("partition", out.partition);
  job.read("account", out.account);
  job.read("submit_dir", out.submit_dir);
  job.read("submit_host", out.submit_host);
  job.read("pe_name", out.pe_name);
  job.read("task_policy", out.task_policy);
  job.read_int("mem_per_node_mb", out.mem_per_node_mb);
}

Node read_node(Members node, int position) {
  Node out;
  out.index = position;
  out.is_master = position == 0;
  node.read("host", out.host);
  if (out.host.empty()) node.complain("host", "a host name");
  if (!node.has("slots")) node.complain("slots", "an integer");
  node.read("fqdn", out.fqdn);
  node.read("ip", out.ip);
  node.read_int("slots", out.slots);
  node.read("processor_range", out.processor_range);
  node.read_devices("gpus", out.gpus);
  node.read("is_master", out.is_master);
  return out;
}

void read_nodes(Members& root, std::vector<Node>& out) {
  const auto* nodes = root.array("nodes");
  if (nodes == nullptr || nodes->empty()) return root.complain("nodes", "a list of hosts");
  for (const auto& node : *nodes) {
    const auto position = static_cast<int>(out.size());
    out.push_back(read_node(root.child(node, fmt::format("nodes[{}]", position)), position));
  }
}

void read_tasks(Members tasks, Tasks& out) {
  tasks.read_int("ntasks", out.ntasks);
  tasks.read_int("cpus_per_task", out.cpus_per_task);
  tasks.read("per_node", out.per_node);
  const auto* map = tasks.array("rank_map");
  if (map == nullptr) return;
  for (const auto& item : *map) {
    auto rank = tasks.child(item, fmt::format("rank_map[{}]", out.rank_map.size()));
    RankMapEntry entry;
    rank.read_int("rank", entry.rank);
    rank.read_int("node", entry.node);
    rank.read_int("local", entry.local);
    rank.read_devices("gpus", entry.gpus);
    rank.read("cpuset", entry.cpuset);
    out.rank_map.push_back(std::move(entry));
  }
}

Result<void> check_version(const json& root, const std::string& where) {
  const auto version = root.find("schema_version");
  if (version == root.end())
    return fail(ErrorKind::malformed, where + ": schema_version is missing");
  if (!version->is_number_integer() || *version != k_schema_version)
    return fail(ErrorKind::malformed,
                fmt::format("{}: schema_version {} is not supported (this is {})",
                            where,
                            version->dump(-1, ' ', false, json::error_handler_t::replace),
                            k_schema_version));
  return {};
}

} // namespace

Result<Layout> from_json(std::string_view text, const std::string& where) {
  const auto root = json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object())
    return fail(ErrorKind::malformed, where + ": not a JSON object");
  TRY(check_version(root, where));
  Layout out;
  std::string complaint;
  Members members(root, "", complaint);
  members.read("shim_version", out.shim_version);
  members.read_int("created_unix", out.created_unix);
  read_job(members.child("job"), out.job);
  read_nodes(members, out.nodes);
  read_tasks(members.child("tasks"), out.tasks);
  auto rendezvous = members.child("rendezvous");
  rendezvous.read("master_addr", out.master_addr);
  rendezvous.read_int("master_port", out.master_port);
  members.read("launcher", out.launcher);
  if (!complaint.empty()) return fail(ErrorKind::malformed, where + ": " + complaint);
  return out;
}

} // namespace shim::layout
