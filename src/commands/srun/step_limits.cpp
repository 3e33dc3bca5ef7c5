#include "step_limits.h"

#include <algorithm>

namespace shim::commands::srun {

StepLimits::StepLimits(const Facts& facts, Clock::time_point begin) {
  if (facts.limit) m_end = begin + *facts.limit;
  if (!facts.signal) return;
  auto end = m_end;
  if (facts.job_left) end = end ? std::min(*end, begin + *facts.job_left) : begin + *facts.job_left;
  if (!end) return;
  m_signal = facts.signal->signal;
  m_signal_at = *end - std::chrono::seconds(facts.signal->seconds_before);
}

StepLimits::Due StepLimits::take_due(Clock::time_point now) {
  if (m_signal_at && now >= *m_signal_at) {
    m_signal_at.reset();
    return Due::signal;
  }
  if (m_end && now >= *m_end) {
    m_end.reset();
    return Due::end;
  }
  return Due::nothing;
}

void StepLimits::shift(Clock::duration gap) {
  if (m_signal_at) *m_signal_at += gap;
  if (m_end) *m_end += gap;
}

} // namespace shim::commands::srun
