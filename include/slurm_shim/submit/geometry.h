#pragma once
// Nodes, tasks and CPUs to slots and an allocation rule: how many slots to ask for and how they
// must lie on the hosts. Pure. Owns the table of spec sbatch-translate 3 with decision E8; the
// choice between `qsub -par` and a PE is pin_layout's.

#include "slurm_shim/base/result.h"
#include "slurm_shim/config/config.h"

#include <string>
#include <vector>

namespace shim::submit {

// Of positive numbers: how many groups of `b` hold `a`.
[[nodiscard]] constexpr int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

struct Shape { // 0 = not given
  int nodes = 0;
  int max_nodes = 0; // above nodes: a range was given
  int ntasks = 0;
  int tasks_per_node = 0;
  int cpus_per_task = 1;
  bool spread = false;       // --spread-job
  bool whole_nodes = false;  // --exclusive by taking all slots of a host (slots_per_node)
  int least_slots = 0;       // on each host, whatever the tasks need (--cpus-per-gpu, --mincpus)
  bool overcommit = false;   // -O: one task's CPUs on each host, however many tasks there are
  bool exclusive = false;    // with it -O asks for no less
  std::string slots_rule;    // partition's `slots`: per-task, per-node:<k>, a number
  int slots_per_node = 0;    // of the partition; 0 = unknown
  bool scoped_rules = false; // the engine has `-scope` and `-par`
};

struct Rule {
  enum class Kind {
    none,        // whatever the PE says
    pe_slots,    // one host
    fill_up,     // as few hosts as there is room on
    round_robin, // spread
    fixed,       // `count` on each host
    scoped,      // `master` on the first host, `count` on each other one
  } kind = Kind::none;
  int count = 0;
  int master = 0;
  friend bool operator==(const Rule&, const Rule&) = default;
};

struct Geometry {
  int nodes = 0; // 0: the scheduler decides
  int ntasks = 1;
  long long slots = 1;
  std::vector<int> tasks_per_node; // one per node in rank order; empty when nodes is 0
  std::string layout;              // exact | ceil | any
  Rule rule;
  bool whole_nodes = false;                // all slots of the hosts
  std::vector<std::string> slurm_warnings; // Slurm's own, "Warning: ..." as it prints them
  std::vector<std::string> warnings;
};

// Errors carry complete lines (refusal.h).
[[nodiscard]] Result<Geometry> plan_geometry(const Shape& shape);

// Slots on the job's hosts, as far as the rule fixes them.
struct HostSlots {
  int least = 0, most = 0; // 0 = the layout is open
  [[nodiscard]] bool known() const { return least > 0; }
};
[[nodiscard]] HostSlots slots_on_hosts(const Geometry& geometry);

// Without -par: where no PE has the rule, the next larger one that is there is taken on the same
// hosts, with a warning about the slots that are left over. `slots_per_node` 0 = unknown.
void round_up_to_pes(Geometry& geometry, const config::PeByLayout& by_layout, int slots_per_node);

// Where the rule goes: arguments of qsub, or the PE that has it.
struct Pinned {
  std::string pe;
  std::string par;                   // `-par`
  std::string master_par, slave_par; // in scopes
  std::vector<std::string> warnings;
};
// `has_par`: the engine knows `qsub -par`. Without it and without a PE for the rule: an error that
// names both; a looser layout is never taken. One slot lies well in any PE.
[[nodiscard]] Result<Pinned> pin_layout(const Geometry& geometry,
                                        bool has_par,
                                        const std::string& partition,
                                        const std::string& default_pe,
                                        const config::PeByLayout& by_layout);

} // namespace shim::submit
