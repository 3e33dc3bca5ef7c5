#include "claim.h"

#include "slurm_shim/base/log.h"
#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/signals.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <chrono>
#include <csignal>

#include <unistd.h>

namespace shim::commands::srun {

namespace {

using Clock = std::chrono::steady_clock;
using Registration = std::optional<records::StepRegistration>;
constexpr int k_look_again_ms = 250;

// The step in a task of which this srun runs, -1 = none.
int enclosing_step(const EnvList& env) {
  return parse_int<int>(env.get_or("SLURM_STEP_ID", "")).value_or(-1);
}

std::string job_text(const StepPlan& plan) {
  return std::to_string(plan.ground.slurm_job_id);
}

tl::unexpected<Error> not_created(const StepPlan& plan, const std::string& why) {
  return fail(ErrorKind::refused, "Unable to create step for job " + job_text(plan) + ": " + why);
}

Registration register_step(context::Context& ctx, const StepPlan& plan) {
  records::RunningStep step;
  step.step = plan.step_id;
  step.pid = ::getpid();
  step.start_ms = ctx.clock.unix_ms();
  step.name = plan.name;
  for (const auto& node : plan.placement.nodes)
    step.hosts.push_back(node.host);
  step.ntasks = static_cast<int>(plan.placement.ranks.size());
  step.cpus = held_slots(plan);
  for (const auto& node : plan.placement.nodes)
    step.gpus.push_back(plan.request.placement.overlap ? plan::Devices() : node.gpus);
  step.parent = enclosing_step(ctx.env);
  auto made = records::StepRegistration::create(records::JobFolder(plan.ground.folder), step);
  if (made) return std::move(*made);
  log::debug("step is not registered: {}", made.error().message);
  return std::nullopt;
}

// True: the step has its place. False: other steps hold too much.
Result<bool> try_claim(context::Context& ctx, StepPlan& plan, Registration& registration) {
  const records::JobFolder folder(plan.ground.folder);
  const auto lock = records::take_claim_lock(folder);
  if (!lock) log::debug("step claims its slots unlocked: {}", lock.error().message);
  std::vector<std::string> said; // once is enough: when the step was planned
  TRY_ASSIGN(auto placed,
             plan::place_beside(crowded_allocation(plan, records::list_running_steps(folder)),
                                plan.request.placement,
                                said));
  if (!placed) return false;
  plan.placement = std::move(*placed);
  TRY_ASSIGN(plan.step_id, layout::next_step_id(plan.ground.folder));
  auto made = register_step(ctx, plan);
  if (made) registration.emplace(std::move(*made));
  return true;
}

// Signals that end the wait, kept off while this object lives.
class SignalWatch {
public:
  SignalWatch() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM})
      if (!posix::is_ignored(number)) ::sigaddset(&set, number);
    ::sigprocmask(SIG_BLOCK, &set, &m_before);
    m_set = set;
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch() { ::sigprocmask(SIG_SETMASK, &m_before, nullptr); }
  // The signal that came within that time, 0 = none.
  [[nodiscard]] int wait(int milliseconds) const {
    const timespec time{milliseconds / 1000, (milliseconds % 1000) * 1000000L};
    const int number = ::sigtimedwait(&m_set, nullptr, &time);
    return number > 0 ? number : 0;
  }

private:
  sigset_t m_before{}, m_set{};
};

Result<void> pause(context::Context& ctx, const StepPlan& plan, const SignalWatch& signals) {
  if (const int number = signals.wait(k_look_again_ms); number != 0) {
    ctx.say("srun: Cancelled pending job step with signal " + std::to_string(number) + "\n");
    return not_created(plan, "Job/step already completing or completed");
  }
  // The job was killed around us: only the script's process group hears of that.
  if (plan.ground.batch && records::supervisor_is_gone(records::JobFolder(plan.ground.folder)))
    return fail(ErrorKind::refused, "", slurm::signal_exit(SIGKILL));
  return {};
}

} // namespace

plan::Allocation crowded_allocation(const StepPlan& plan,
                                    const std::vector<records::RunningStep>& running) {
  auto allocation = to_allocation(plan.ground.layout);
  const int parent = enclosing_step(plan.env);
  const auto devices = records::devices_in_use(running, parent);
  for (auto& node : allocation.nodes)
    if (const auto found = devices.find(node.host); found != devices.end())
      node.gpus_held = found->second;
  if (plan.request.placement.overlap || plan.request.placement.overcommit) return allocation;
  const auto slots = records::slots_in_use(running, parent);
  for (auto& node : allocation.nodes)
    if (const auto found = slots.find(node.host); found != slots.end()) node.busy = found->second;
  return allocation;
}

std::vector<int> held_slots(const StepPlan& plan) {
  std::vector<int> out;
  for (const auto& node : plan.placement.nodes) {
    const int wanted = node.ntasks * plan.placement.cpus_per_task;
    out.push_back(plan.request.placement.overlap ? 0 : std::min(wanted, node.slots));
  }
  return out;
}

Result<Registration> claim_step(context::Context& ctx, StepPlan& plan) {
  Registration registration;
  if (plan.ground.standalone) return registration;
  TRY_ASSIGN(bool claimed, try_claim(ctx, plan, registration));
  if (claimed) return registration;
  const auto& limit = plan.request.immediate_s;
  const auto since = Clock::now();
  const auto tell = [&](const std::string& text) {
    if (!limit && !plan.request.quiet) ctx.say("srun: " + text + "\n");
  };
  const SignalWatch signals; // before anybody can know that we wait
  tell("Job " + job_text(plan) +
       " step creation temporarily disabled, retrying (Requested nodes are busy)");
  while (!claimed) {
    if (limit && Clock::now() - since >= std::chrono::seconds(*limit))
      return not_created(plan, "Requested nodes are busy");
    TRY(pause(ctx, plan, signals));
    TRY_ASSIGN(claimed, try_claim(ctx, plan, registration));
  }
  tell("Step created for job " + job_text(plan));
  return registration;
}

} // namespace shim::commands::srun
