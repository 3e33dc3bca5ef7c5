#include "job_view.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/hostlist.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace shim::fabricate {
namespace {

// Every code point outside [A-Za-z0-9._+/-] becomes one '_'.
std::string sanitize_name(std::string_view name) {
  constexpr std::string_view k_allowed = "._+/-";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || k_allowed.find(c) != std::string_view::npos)
      out += c;
    else if ((byte & 0xC0U) != 0x80U) // not a continuation byte
      out += '_';
  }
  return out;
}

std::vector<std::vector<std::string>> granted_gpus(const JobFacts& facts) {
  std::vector<std::vector<std::string>> out(facts.hosts.size());
  const auto& gpu = facts.config.gpu;
  if (!gpu.discovery) return out;
  if (facts.detail) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = ge::device_ids(facts.detail->granted_ids(gpu.gres_complex, facts.hosts[i].name));
  } else if (facts.hosts.size() == 1) {
    // With more hosts this variable shows the last host's devices on all of them.
    out[0] = ge::device_ids(facts.env.get_or("SGE_HGR_" + gpu.gres_complex, ""));
  }
  return out;
}

std::string job_name(const JobFacts& facts) {
  if (facts.record && facts.record->has("name")) return facts.record->get_or("name", "");
  const auto name = facts.env.get_or("JOB_NAME", "");
  return facts.config.job_name_sanitize ? sanitize_name(name) : name;
}

constexpr double k_mib = 1048576;

std::int64_t memory_per_node(const JobView& view) {
  const auto& facts = view.facts;
  const int slots = facts.hosts.front().slots;
  if (facts.record) {
    const auto mem = facts.record->get_int("mem").value_or(0);
    const auto per = facts.record->get_or("memper", "node");
    return per == "node" ? mem : per == "cpu" ? mem * slots : 0;
  }
  if (!facts.detail || facts.config.memory_complex.empty()) return 0;
  const auto bytes = facts.detail->request(facts.config.memory_complex);
  return bytes ? static_cast<std::int64_t>(std::floor(*bytes * slots / k_mib)) : 0;
}

void set_ntasks_per_node(JobView& view, std::vector<std::string>& warnings) {
  const auto& counts = view.geometry.per_node;
  const bool even =
      std::all_of(counts.begin(), counts.end(), [&](int count) { return count == counts.front(); });
  if (view.geometry.requested) {
    // Told only when it was asked for, and never against the other counts.
    const auto asked = view.facts.record->get_int("npn");
    if (asked && even && *asked == counts.front()) view.ntasks_per_node = counts.front();
    return;
  }
  if (even)
    view.ntasks_per_node = counts.front();
  else
    warnings.emplace_back("non-uniform per-node task counts: SLURM_NTASKS_PER_NODE omitted "
                          "(Lightning requires it)");
}

Result<int> port_of_job(const JobView& view) {
  const auto& config = view.facts.config;
  if (config.master_port_range < 1)
    return fail(ErrorKind::config,
                fmt::format("master_port_range is {}: a positive number was expected",
                            config.master_port_range));
  const auto task = view.array ? static_cast<std::uint64_t>(view.array->task) : 0;
  const auto spot = (static_cast<std::uint64_t>(view.job) * 31 + task) %
                    static_cast<std::uint64_t>(config.master_port_range);
  return config.master_port_base + static_cast<int>(spot);
}

std::string first_of(std::optional<std::string> asked,
                     const EnvList& env,
                     std::initializer_list<std::string_view> names) {
  if (asked) return *asked;
  for (const auto name : names)
    if (auto value = env.get_or(name, ""); !value.empty()) return value;
  return {};
}

} // namespace

std::optional<std::string> JobView::asked(std::string_view key) const {
  auto value = facts.record ? facts.record->get(key) : std::nullopt;
  return value && !value->empty() ? value : std::nullopt;
}

std::vector<int> JobView::slots() const {
  std::vector<int> out;
  for (const auto& host : facts.hosts)
    out.push_back(host.slots);
  return out;
}

Result<JobView> make_view(const JobFacts& facts, std::vector<std::string>& warnings) {
  if (facts.hosts.empty()) return fail(ErrorKind::malformed, "no nodes in allocation");
  JobView view{.facts = facts,
               .names = ge::display_names(facts.hosts),
               .gpus = granted_gpus(facts),
               .geometry = {},
               .array = array_identity(facts, warnings),
               .job = engine_job(facts.env),
               .slurm_id = 0,
               .name = job_name(facts),
               .queue = facts.env.get_or("QUEUE", facts.hosts.front().cluster_queue()),
               .partition = {},
               .account = {},
               .submit_dir = {},
               .submit_host = {},
               .nodelist = {},
               .ntasks_per_node = {},
               .mem_per_node_mb = 0,
               .master_port = 0};
  TRY_ASSIGN(view.geometry, decide_geometry(facts, view.gpus, warnings));
  view.slurm_id = slurm_job_id(facts, view.array);
  view.partition = view.asked("part").value_or(
      view.queue.empty() ? std::string() : facts.config.partition_of_queue(view.queue));
  view.account = first_of(view.asked("acct"), facts.env, {"SGE_ACCOUNT"});
  view.submit_dir = first_of(view.asked("sdir"), facts.env, {"SGE_O_WORKDIR", "SGE_CWD_PATH"});
  view.submit_host = first_of(view.asked("shost"), facts.env, {"SGE_O_HOST"});
  view.nodelist = slurm::compress_hostlist(view.names);
  set_ntasks_per_node(view, warnings);
  view.mem_per_node_mb = memory_per_node(view);
  TRY_ASSIGN(view.master_port, port_of_job(view));
  return view;
}

} // namespace shim::fabricate
