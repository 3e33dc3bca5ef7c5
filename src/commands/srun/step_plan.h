#pragma once
// Everything about a step that is decided before the first process exists: hosts, ranks, their
// files, and the parts of the step specification. Built once; the supervisor only reads it.

#include "allocation.h"
#include "input_plan.h"
#include "output_plan.h"
#include "request.h"

#include "slurm_shim/context/context.h"
#include "slurm_shim/mux/output.h"
#include "slurm_shim/plan/plan.h"
#include "slurm_shim/proto/step_spec.h"

#include <memory>
#include <string>
#include <vector>

namespace shim::commands::srun {

struct StepHost {
  std::string name;        // the layout's: envelope, HELLO, messages
  std::string engine_name; // for qrsh
  bool remote = false;
  std::vector<int> ranks; // ascending
};

struct StepPlan {
  Request request;
  Ground ground;
  plan::Placement placement;
  int step_id = 0;
  std::string name; // of the step: -J, else the command's base name
  std::string cwd;
  EnvList env; // srun's own, with invented job variables outside of a job
  std::vector<StepHost> hosts;
  std::vector<RankRoutes> routes;                 // by rank
  std::vector<std::vector<std::string>> programs; // by rank, --multi-prog only
  InputPlan input;
  bool any_remote = false;
  bool is_relay = false; // the one task is an srun inside of another job: it speaks for itself
  [[nodiscard]] std::string step_text() const; // "4711.2" for messages
};

// Where srun is. A directory that is removed is no place for tasks (Slurm's error), unless they are
// to run in another one.
[[nodiscard]] Result<std::string> directory_of_step(const Request& request);

// What can be said of the step before it has a number: where it runs, and where its ranks go as
// long as no other step is in the way. Nothing has happened yet. `notices`: Slurm's warnings.
[[nodiscard]] Result<StepPlan> draft_step(context::Context& ctx,
                                          LayoutHere& here,
                                          Request request,
                                          std::vector<std::string>& notices);
// With placement and number settled: hosts and files.
void complete_step(context::Context& ctx, StepPlan& plan);

// What `verbose` in --gpu-bind and --cpu-bind shows: lines for each task. "" without it.
[[nodiscard]] std::string binding_report(const context::Context& ctx, const StepPlan& plan);

struct ControlAddress {
  std::string host;
  std::vector<std::string> others;
  int port = 0;
};
// The specification without ranks, and one host's ranks. Spec environment 7, layers 1 to 3.
[[nodiscard]] proto::StepSpec
make_step_spec(const context::Context& ctx, const StepPlan& plan, const ControlAddress& control);
[[nodiscard]] std::vector<proto::RankSpec>
make_rank_specs(const context::Context& ctx, const StepPlan& plan, std::size_t host);

} // namespace shim::commands::srun
