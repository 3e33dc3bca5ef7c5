#pragma once
// Nodes, tasks and CPUs to slots and an allocation rule: how many slots to ask for and how they
// must lie on the hosts. Pure. Owns the table of spec sbatch-translate 3 with decision E8; the
// choice between `qsub -par` and a PE is pin_layout's.

#include "slurm_shim/base/result.h"
#include "slurm_shim/config/config.h"

#include <string>
#include <vector>

namespace shim::commands::sbatch {

struct Shape { // 0 = not given
  int nodes = 0;
  int max_nodes = 0; // above nodes: a range was given
  int ntasks = 0;
  int tasks_per_node = 0;
  int cpus_per_task = 1;
  bool spread = false;       // --spread-job
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
  std::vector<std::string> slurm_warnings; // Slurm's own, "Warning: ..." as it prints them
  std::vector<std::string> warnings;
};

// Errors carry complete lines (refusal.h).
[[nodiscard]] Result<Geometry> plan_geometry(const Shape& shape);

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

} // namespace shim::commands::sbatch
