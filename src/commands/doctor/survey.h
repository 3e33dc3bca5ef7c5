#pragma once
// What the checks ask: Grid Engine, other programs, the configuration. Every answer is asked for
// once, is evidence of the check that uses it, and comes within the check's time or not at all.

#include "finding.h"
#include "options.h"

#include "slurm_shim/config/lines.h"
#include "slurm_shim/context/context.h"
#include "slurm_shim/ge/qconf.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace shim::commands::doctor {

// A runner in front of the real one: bounds, remembers and records.
class Recorder final : public posix::Runner {
public:
  Recorder(posix::Runner& runner, posix::Clock& clock) : m_runner(runner), m_clock(clock) {}
  [[nodiscard]] Result<posix::Output> run(const posix::RunRequest& request) override;

  void begin(std::chrono::milliseconds limit);
  [[nodiscard]] std::vector<Evidence> take_evidence() { return std::move(m_evidence); }
  // From now on the engine's clients are not called any more.
  void give_up_engine() { m_engine_is_down = true; }
  [[nodiscard]] bool engine_is_down() const { return m_engine_is_down; }

private:
  Result<posix::Output> run_in_time(posix::RunRequest request);
  void record(const posix::RunRequest& request, const Result<posix::Output>& answer);

  posix::Runner& m_runner;
  posix::Clock& m_clock;
  std::int64_t m_deadline = 0;
  bool m_engine_is_down = false;
  std::vector<Evidence> m_evidence;
  std::map<std::string, Result<posix::Output>> m_answers;
};

// What one execution host told about itself (host_report.h).
struct HostReport {
  std::string error; // why there is no report; "" = there is one
  std::string version, binary_sum, config_sum;
  std::int64_t time_difference_ms = 0; // its clock less ours
  std::string spool_finding;           // "closed", "open" or "unknown: ..."
  std::string spool_text;
  std::string dial; // "" = the listener here was reached
};

class Survey {
public:
  Survey(context::Context& context, const Options& given, std::vector<std::string> names);

  context::Context& ctx;
  const Options& options;
  std::vector<std::string> links; // names of the command links
  Recorder recorder;
  ge::Tools tools;
  ge::Qconf qconf;

  // The configuration as the commands find it.
  std::string config_path;           // "" = built-in defaults
  std::optional<Error> config_error; // it does not load: defaults are checked instead
  std::vector<std::string> config_warnings;
  config::Lines config_lines; // where its values stand
  [[nodiscard]] const config::Config& config() const { return ctx.config; }
  [[nodiscard]] bool is_configured(const std::string& key) const {
    return config_lines.contains(key);
  }

  // Names, each once: parallel environments and cluster queues that the configuration uses. Without
  // partitions the queues are those of the engine that have our PE.
  [[nodiscard]] std::vector<std::string> used_pes() const;
  [[nodiscard]] Result<std::vector<std::string>> used_queues() const;
  [[nodiscard]] std::vector<std::string> pes_of(const config::Partition& partition) const;

  // Nothing when there is no such object.
  [[nodiscard]] Result<std::optional<ge::Attributes>> pe(const std::string& name) const;
  [[nodiscard]] Result<std::optional<ge::Attributes>> queue(const std::string& name) const;
  // The global configuration, and a host's own over it.
  [[nodiscard]] Result<ge::Attributes> engine_config(const std::string& host = {}) const;
  // Folder of the installed binary: the PE hook's, the usual one, the running one's.
  [[nodiscard]] std::string installed_bin() const;

  // One report per host of --hosts (host_report.cpp).
  std::map<std::string, HostReport> host_reports;
};

} // namespace shim::commands::doctor
