#pragma once
// What qhost knows about the execution hosts: their sizes and load, the consumables that are left,
// and their queue instances with slots and state letters. The parser is pure; list_hosts makes one
// call. Failure to ask is an Error and never looks like "no hosts" (decision 28). Knows nothing of
// node states or partitions. Callers: sinfo, scontrol, squeue -w. Spec commands 5, ge-commands 2.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shim::ge {

// One value of a complex at a host (`qhost -F`).
struct HostResource {
  std::string name;
  std::string dominance; // "hl" load value, "hc" consumable: what is left; "hf" fixed
  std::string value;     // as written: "4.000000", "20.538G", "lx-amd64"
};

struct QueueInstance {
  std::string queue;                     // cluster queue
  std::string type;                      // letters: B batch, I interactive, P parallel
  int used = 0, total = 0, reserved = 0; // slots
  std::string state;                     // letters, "" = fine
};

struct ExecHost {
  std::string name; // exactly as the engine writes it
  std::string arch; // "" where the engine shows "-" (no report from the host)
  // Nothing where the host has not reported.
  std::optional<int> processors, sockets, cores, threads;
  std::optional<double> load;                       // of the last minutes, not per processor
  std::optional<std::uint64_t> mem_total, mem_used; // bytes
  std::vector<HostResource> resources;              // `-F` only
  std::vector<QueueInstance> queues;                // `-q` only
  [[nodiscard]] const HostResource* resource(std::string_view complex) const;
};

// The pseudo host "global" is left out; its consumables are in `global`.
struct HostList {
  std::vector<ExecHost> hosts;
  std::vector<HostResource> global;
};

[[nodiscard]] Result<HostList> parse_host_list(std::string_view xml);

// "23.5G" as bytes, powers of 1024, as qhost prints memory. Nothing for "-".
[[nodiscard]] std::optional<std::uint64_t> parse_host_memory(std::string_view text);

// `qhost -q -F -xml`, of everything.
[[nodiscard]] Result<HostList> list_hosts(const Tools& tools);

} // namespace shim::ge
