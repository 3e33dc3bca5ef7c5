#pragma once
// Everything about a step that is decided before the first process exists: hosts, ranks, their
// files, and the parts of the step specification. Built once; the supervisor only reads it.

#include "allocation.h"
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
  std::vector<RankRoutes> routes; // by rank
  bool any_remote = false;
  [[nodiscard]] std::string step_text() const; // "4711.2" for messages
};

[[nodiscard]] Result<StepPlan>
make_step_plan(context::Context& ctx, Request request, std::vector<std::string>& notices);

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
