#include "gentle.h"

#include "slurm_shim/queue/targets.h"
#include "slurm_shim/records/mailbox.h"

#include <algorithm>
#include <chrono>

namespace shim::commands::scancel {

namespace {

constexpr std::int64_t k_patience_ms = 3000; // a supervisor looks once a second

} // namespace

bool GentleEnd::ask(const queue::Job& job) {
  // One that the engine has stopped cannot listen.
  if (!m_engine.state || job.state != slurm::JobState::running) return false;
  if (!m_engine.self.empty() && job.user != m_engine.self) return false;
  auto request = records::post_request(*m_engine.state, queue::record_key(job), "cancel", {});
  if (!request) return false;
  if (m_deadline_ms == 0) m_deadline_ms = m_engine.ctx.clock.unix_ms() + k_patience_ms;
  m_asked.push_back({job, std::move(*request)});
  return true;
}

std::vector<queue::Job> GentleEnd::without_answer() {
  std::vector<queue::Job> left;
  for (const auto& asked : m_asked) {
    const auto remaining = std::max<std::int64_t>(0, m_deadline_ms - m_engine.ctx.clock.unix_ms());
    const auto answer = records::await_answer(*m_engine.state,
                                              queue::record_key(asked.job),
                                              asked.request,
                                              m_engine.ctx.clock,
                                              std::chrono::milliseconds(remaining));
    if (!answer || answer->rc != 0) left.push_back(asked.job);
  }
  return left;
}

} // namespace shim::commands::scancel
