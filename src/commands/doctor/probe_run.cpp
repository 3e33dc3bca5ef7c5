// Submits the probe, waits for it, asks what became of it, and leaves nothing behind.
#include "probe.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/paths.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include <unistd.h>

namespace shim::commands::doctor {

namespace {

constexpr std::chrono::milliseconds k_probe_call_limit{30000};
constexpr std::chrono::milliseconds k_accounting_limit{60000};
constexpr std::chrono::milliseconds k_pause{500};

class ProbeRun {
public:
  explicit ProbeRun(Survey& s) : m_s(s), m_bin(s.installed_bin()) {}
  ProbeRun(const ProbeRun&) = delete;
  ProbeRun& operator=(const ProbeRun&) = delete;
  ~ProbeRun() {
    for (const auto* name : {"/probe.sh", "/probe.out", ""})
      if (!m_folder.empty()) (void)::remove((m_folder + name).c_str());
  }

  Probe run() {
    Probe probe;
    if (const auto made = prepare(); !made) {
      probe.submit_said = made.error().message;
      return probe;
    }
    probe.nodes = node_count();
    probe.wants_gpu = wants_gpu();
    submit(probe);
    if (probe.job.empty()) return probe;
    wait(probe);
    probe.output = parse_probe_output(output());
    if (!probe.in_time) {
      if (!probe.output.began) probe.reasons = reasons(probe.job);
      call({"scancel", probe.job});
    } else {
      ask_accounting(probe);
    }
    return probe;
  }

private:
  // On a file system that all hosts share, by definition of the state folder.
  Result<void> prepare() {
    TRY_ASSIGN(const auto state,
               records::locate_state(m_s.recorder, m_s.ctx.env, m_s.config().job_records));
    TRY(records::make_state_folders(state));
    m_folder = state.root() + "/doctor." + posix::random_hex(8);
    TRY(posix::make_directories(m_folder, 0700));
    return posix::write_file_atomic(m_folder + "/probe.sh", probe_script(m_bin), 0700);
  }

  [[nodiscard]] std::string partition() const {
    return m_s.options.partition.empty() ? m_s.config().default_partition_name()
                                         : m_s.options.partition;
  }

  // Not more than the partition's queue has hosts.
  int node_count() {
    const auto* found = m_s.config().find_partition(partition());
    const auto queue = found == nullptr ? partition() : found->queue;
    m_s.recorder.begin(k_probe_call_limit);
    const auto answer = m_s.tools.run({"qstat", {"-f"}});
    if (!answer || queue.empty()) return m_s.options.nodes;
    std::set<std::string_view> hosts;
    for (const auto line : split(answer->out, '\n'))
      if (line.starts_with(queue + "@")) hosts.insert(split_words(line).front());
    if (hosts.empty()) return m_s.options.nodes;
    return std::min(m_s.options.nodes, static_cast<int>(hosts.size()));
  }

  bool wants_gpu() {
    const auto* found = m_s.config().find_partition(partition());
    if (found == nullptr || found->gpus_per_node == 0) return false;
    const auto complexes = m_s.qconf.complexes();
    return complexes && std::any_of(complexes->begin(), complexes->end(), [&](const auto& complex) {
             return complex.name == m_s.config().gpu.gres_complex && complex.type == "RSMAP";
           });
  }

  Result<posix::Output> call(std::vector<std::string> words) {
    m_s.recorder.begin(k_probe_call_limit);
    posix::RunRequest request;
    words.front() = m_bin + "/" + words.front();
    request.argv = std::move(words);
    request.env = m_s.ctx.env;
    // The caller's own settings are not what is tried.
    request.env->unset_if([](std::string_view name) {
      return (name.starts_with("SLURM_") && !name.starts_with("SLURM_SHIM_")) ||
             name.starts_with("SBATCH_") || name.starts_with("SQUEUE_") ||
             name.starts_with("SACCT_");
    });
    request.timeout = k_probe_call_limit;
    return m_s.ctx.runner.run(request);
  }

  void submit(Probe& probe) {
    std::vector<std::string> words{"sbatch",
                                   "--parsable",
                                   "--job-name=slurm-shim-probe",
                                   fmt::format("--nodes={}", probe.nodes),
                                   fmt::format("--ntasks={}", probe.nodes),
                                   "--ntasks-per-node=1",
                                   "--time=5",
                                   "--no-requeue",
                                   "--chdir=" + m_folder,
                                   "--output=" + m_folder + "/probe.out"};
    if (!m_s.options.partition.empty()) words.push_back("--partition=" + m_s.options.partition);
    if (probe.wants_gpu) words.emplace_back("--gpus-per-node=1");
    words.push_back(m_folder + "/probe.sh");
    const auto answer = call(std::move(words));
    if (!answer) {
      probe.submit_said = answer.error().message;
      return;
    }
    probe.submit_said = answer->err + answer->out;
    const auto id = trim(answer->out);
    if (answer->status == 0 && is_digits(id)) probe.job = id;
  }

  [[nodiscard]] std::string output() const {
    return posix::read_file(m_folder + "/probe.out").value_or("");
  }

  // Until the job has left the queue.
  void wait(Probe& probe) {
    const auto deadline =
        m_s.ctx.clock.unix_ms() +
        std::chrono::duration_cast<std::chrono::milliseconds>(m_s.options.timeout).count();
    while (m_s.ctx.clock.unix_ms() < deadline) {
      const auto answer = call({"squeue", "--noheader", "--format=%T", "--jobs=" + probe.job});
      if (answer && trim(answer->out).empty() &&
          (answer->status == 0 || answer->err.find("Invalid job id") != std::string::npos)) {
        probe.in_time = true;
        return;
      }
      m_s.ctx.clock.sleep_for(k_pause);
    }
  }

  std::string reasons(const std::string& job) {
    m_s.recorder.begin(k_probe_call_limit);
    const auto answer = m_s.tools.run({"qstat", {"-j", job}});
    if (!answer) return "";
    const auto at = answer->out.find("scheduling info:");
    if (at == std::string::npos) return "";
    std::vector<std::string_view> lines;
    for (const auto line : split(std::string_view(answer->out).substr(at + 16), '\n'))
      if (!trim(line).empty()) lines.push_back(trim(line));
    return join(lines, "; ");
  }

  void ask_accounting(Probe& probe) {
    const auto deadline = m_s.ctx.clock.unix_ms() + k_accounting_limit.count();
    do {
      const auto answer =
          call({"sacct", "-X", "-n", "-P", "-o", "State,ExitCode", "-j", probe.job});
      probe.accounting = answer && answer->status == 0 ? std::string(trim(answer->out)) : "";
      if (!probe.accounting.empty() && !probe.accounting.starts_with("RUNNING") &&
          !probe.accounting.starts_with("PENDING"))
        return;
      m_s.ctx.clock.sleep_for(k_pause);
    } while (m_s.ctx.clock.unix_ms() < deadline);
  }

  Survey& m_s;
  std::string m_bin;
  std::string m_folder;
};

} // namespace

Probe run_probe(Survey& s) {
  return ProbeRun(s).run();
}

} // namespace shim::commands::doctor
