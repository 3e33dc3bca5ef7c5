#pragma once
// What a check found out: its status, one line, advice that can be followed, and what was asked for
// it. Pure.

#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::doctor {

enum class Status { pass, info, skip, warn, fail };
[[nodiscard]] std::string_view status_name(Status status);

// A command that was run for a check; its output is masked and cut.
struct Evidence {
  std::string command;
  int status = 0; // exit code; -1: not run, or no answer in time
  std::string output;
};

struct Finding {
  Status status = Status::pass;
  std::string message;
  std::vector<std::string> advice;
};

// Collects what is wrong; the worst of it is the finding.
class Verdict {
public:
  void fail(std::string message, std::string advice = {});
  void warn(std::string message, std::string advice = {});
  void info(std::string message, std::string advice = {});
  // Nothing but infos, or nothing at all: `fine` is the message.
  [[nodiscard]] Finding finish(std::string fine) const;
  [[nodiscard]] bool is_fine() const { return m_findings.empty(); }

private:
  std::vector<Finding> m_findings;
};

// What evidence may show: values of variables that look secret, and anything that looks like a
// token, become <redacted>; long texts are cut.
[[nodiscard]] std::string masked(std::string_view text);

} // namespace shim::commands::doctor
