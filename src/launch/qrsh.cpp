#include "slurm_shim/launch/qrsh.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/proto/token.h"

namespace shim::launch {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t k_tail_bytes = 8192;

struct Policy {
  std::chrono::milliseconds delay, bound;
};
constexpr Policy k_slots{2s, 5min};
constexpr Policy k_race{500ms, 10s};

std::vector<std::string> args_with(const QrshTarget& target, std::string variable) {
  return {"-inherit",
          "-nostdin",
          "-noshell",
          "-v",
          std::move(variable),
          target.host,
          target.self,
          "stepper",
          "--envelope",
          target.envelope};
}

std::string on_one_line(std::string_view text) {
  std::string out;
  for (const auto line : split(text, '\n')) {
    const auto words = trim(line);
    if (words.empty()) continue;
    if (!out.empty()) out += "; ";
    out += words;
  }
  return out.empty() ? "no message" : out;
}

} // namespace

std::vector<std::string> build_qrsh_args(const QrshTarget& target) {
  return args_with(target, std::string(proto::k_token_variable));
}

std::vector<std::string> build_qrsh_args_with_token(const QrshTarget& target,
                                                    std::string_view token) {
  return args_with(target, std::string(proto::k_token_variable) + "=" + std::string(token));
}

std::string printable_qrsh_command(const std::vector<std::string>& args) {
  const auto prefix = std::string(proto::k_token_variable) + "=";
  std::string out = "qrsh";
  for (const auto& arg : args)
    out += ' ' + (arg.rfind(prefix, 0) == 0 ? prefix + "<redacted>" : arg);
  return out;
}

EnvList qrsh_environment(EnvList own) {
  own.unset("QRSH_WRAPPER");
  own.unset("SGE_RSH_COMMAND");
  return own;
}

Rejection classify_rejection(std::string_view stderr_tail) {
  static constexpr struct {
    std::string_view pattern;
    Rejection rejection;
  } k_table[] = {
      {"not set in environment", Rejection::fatal},
      {"missing \"sge_task_id\"", Rejection::fatal},
      {"missing \"job_id\"", Rejection::fatal},
      {"invalid \"job_id\"", Rejection::fatal},
      {"no suitable queues", Rejection::slots},
  };
  const auto text = to_lower(stderr_tail);
  for (const auto& row : k_table)
    if (text.find(row.pattern) != std::string::npos) return row.rejection;
  return Rejection::job_race;
}

std::string_view describe(Rejection rejection) {
  switch (rejection) {
  case Rejection::fatal: return "fatal";
  case Rejection::slots: return "slots";
  case Rejection::job_race: break;
  }
  return "job-race";
}

RetryPolicy::Decision RetryPolicy::after(Rejection rejection, Clock::time_point now) const {
  if (rejection == Rejection::fatal) return {true, 0ms};
  const auto& policy = rejection == Rejection::slots ? k_slots : k_race;
  if (now - m_first_try >= policy.bound) return {true, 0ms};
  return {false, policy.delay};
}

std::string give_up_message(Rejection rejection,
                            const std::string& host,
                            const std::vector<std::string>& args,
                            std::string_view stderr_tail) {
  const auto said = on_one_line(stderr_tail);
  const auto start = "qrsh launch on " + host;
  switch (rejection) {
  case Rejection::fatal:
    return start + " failed: " + said + " (command: " + printable_qrsh_command(args) + ")";
  case Rejection::slots:
    return start + " kept failing (slots unavailable past slot_retry bound): " + said;
  case Rejection::job_race: break;
  }
  return start + " kept failing (job not yet known to execd): " + said;
}

void StderrTail::append(std::string_view bytes) {
  if (bytes.size() > k_tail_bytes) bytes.remove_prefix(bytes.size() - k_tail_bytes);
  if (m_text.size() + bytes.size() > k_tail_bytes)
    m_text.erase(0, m_text.size() + bytes.size() - k_tail_bytes);
  m_text += bytes;
}

} // namespace shim::launch
