#pragma once
// When time itself acts on a step: the signal of --signal some seconds before the end, and the end
// of its limit (-t). The end that --signal counts from is the step's own or the job's, whichever
// comes first. Time in which srun was stopped does not count, as in Slurm. Pure: times come from
// the caller, once per tick.

#include "slurm_shim/slurm/signals.h"

#include <chrono>
#include <optional>

namespace shim::commands::srun {

class StepLimits {
public:
  using Clock = std::chrono::steady_clock;
  struct Facts {
    std::optional<std::chrono::seconds> limit; // of the step; nothing = none
    std::optional<std::chrono::seconds>
        job_left; // until the job's limit; nothing = none or unknown
    std::optional<slurm::SignalSpec> signal;
  };
  StepLimits() = default;
  StepLimits(const Facts& facts, Clock::time_point begin);

  enum class Due { nothing, signal, end };
  // What has become due since the last call; each is told once, the signal before the end.
  [[nodiscard]] Due take_due(Clock::time_point now);
  [[nodiscard]] int signal() const { return m_signal; }
  // srun was stopped that long.
  void shift(Clock::duration gap);

private:
  int m_signal = 0;
  std::optional<Clock::time_point> m_signal_at, m_end;
};

} // namespace shim::commands::srun
