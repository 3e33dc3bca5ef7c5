#include "install_plan.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>

namespace shim::commands::admin {

namespace {

std::string partition_name(const std::string& queue) {
  return queue.size() > 2 && queue.ends_with(".q") ? queue.substr(0, queue.size() - 2) : queue;
}

// Every scalar quoted: names such as "on" or "1" stay words.
std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

const ge::Complex* find_complex(const InstallFacts& facts, std::string_view name) {
  for (const auto& complex : facts.complexes)
    if (complex.name == name) return &complex;
  return nullptr;
}

// The only RSMAP; else a consumable called gpu; else nothing.
std::string gres_complex(const InstallFacts& facts) {
  std::vector<std::string> maps;
  for (const auto& complex : facts.complexes)
    if (complex.type == "RSMAP") maps.push_back(complex.name);
  if (maps.size() == 1) return maps.front();
  if (const auto* gpu = find_complex(facts, "gpu"); gpu != nullptr && gpu->consumable != "NO")
    return "gpu";
  return "";
}

std::string memory_complex(const InstallFacts& facts) {
  for (const auto* name : {"h_vmem", "mem_free"})
    if (const auto* complex = find_complex(facts, name);
        complex != nullptr && complex->requestable != "NO")
      return name;
  return "";
}

std::string layout_map(const InstallOptions& options) {
  std::string fixed;
  std::string out = "{round_robin: " + yaml_quoted(options.pe);
  for (const auto& member : options.family) {
    const auto name = yaml_quoted(family_name(options, member));
    if (member == "smp")
      out += ", pe_slots: " + name;
    else if (member == "fill")
      out += ", fill_up: " + name;
    else
      fixed += (fixed.empty() ? "" : ", ") + member + ": " + name;
  }
  if (!fixed.empty()) out += ", fixed: {" + fixed + "}";
  return out + "}";
}

} // namespace

std::string generate_config(const InstallFacts& facts, const InstallOptions& options) {
  std::string out =
      "# Configuration of slurm-shim, made by `slurm-shim install` for this cluster.\n"
      "# Every command on every host reads it.\n";
  out += "pe_name: " + yaml_quoted(options.pe) + "\n";
  out += "default_partition: " + yaml_quoted(partition_name(facts.queues.front().name)) + "\n";
  out += "partitions:\n";
  for (const auto& queue : facts.queues) {
    out += "  " + yaml_quoted(partition_name(queue.name)) + ":\n";
    out += "    queue: " + yaml_quoted(queue.name) + "\n";
    out += "    slots: per-task\n";
    // Per-host overrides mean that there is no one number.
    const auto slots = parse_int<int>(queue.slots);
    if (is_digits(queue.slots) && slots && *slots > 1)
      out += "    slots_per_node: " + queue.slots + "\n";
    if (!options.family.empty()) out += "    pe_by_layout: " + layout_map(options) + "\n";
  }
  if (const auto gres = gres_complex(facts); !gres.empty())
    out += "gpu:\n  gres_complex: " + yaml_quoted(gres) + "\n";
  out += "memory_complex: " + yaml_quoted(memory_complex(facts)) + "\n";
  return out;
}

} // namespace shim::commands::admin
