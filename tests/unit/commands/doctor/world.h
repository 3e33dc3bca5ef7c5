#pragma once
// A healthy installation for doctor: folders and files for real, Grid Engine's answers as captured
// (tests/fixtures), with the shim wired in. Tests break one thing and look at what doctor says.

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/doctor.h"
#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/temp_dir.h"
#include <sys/stat.h>

namespace shim::test {

class DoctorWorld final : public posix::Runner {
public:
  explicit DoctorWorld(bool ocs = false)
      : root(m_dir.path()), prefix(root + "/ge/slurm-shim"), host(posix::host_name()) {
    write("ge/default/common/act_qmaster", host + "\n");
    write("ge/default/common/accounting", "");
    write("ge/default/common/bootstrap", "admin_user sgeadmin\n");
    for (const auto* tool :
         {"qsub", "qstat", "qdel", "qconf", "qhost", "qacct", "qrsh", "qmod", "qhold", "qrls"})
      write(std::string("tools/") + tool, "#!/bin/false\n", 0755);
    write("ge/slurm-shim/bin/slurm-shim", "#!/bin/sh\n", 0755);
    for (const auto& link : links)
      std::filesystem::create_symlink("slurm-shim", prefix + "/bin/" + link);
    write("ge/slurm-shim/libexec/starter_method.sh",
          posix::read_file(SHIM_TEST_DATA "/../scripts/starter_method.sh").value(),
          0755);
    std::filesystem::create_directories(root + "/spool/" + short_host() + "/active_jobs");
    std::filesystem::create_directories(root + "/tmp");
    ::chmod((root + "/tmp").c_str(), 01777);
    config("pe_name: slurm-shim\ndefault_partition: batch\npartitions:\n"
           "  batch: {queue: batch.q, pe_by_layout: {round_robin: slurm-shim}}\n"
           "gpu: {gres_complex: gpu}\nmemory_complex: h_vmem\n");
    env = EnvList({"SGE_ROOT=" + root + "/ge",
                   "SGE_CELL=default",
                   "SGE_QMASTER_PORT=6444",
                   "SGE_EXECD_PORT=6445",
                   "SLURM_SHIM_GE_BIN=" + root + "/tools",
                   "SLURM_SHIM_CONFIG=" + root + "/config.yaml",
                   "HOME=" + root + "/home",
                   "USER=alice",
                   "TMPDIR=" + root + "/tmp",
                   "PATH=" + prefix + "/bin:/usr/bin:/bin"});
    engine_answers(ocs);
  }

  // ---- what a test changes

  void config(const std::string& text) { write("config.yaml", text, 0644); }
  void write(const std::string& name, const std::string& text, unsigned mode = 0644) {
    const auto path = root + "/" + name;
    std::filesystem::create_directories(posix::dir_name(path));
    SHIM_ASSERT(posix::write_file_atomic(path, text, mode));
  }
  void answer(const std::string& call, int status, std::string text, std::string complaint = {}) {
    answers[call] = {status, std::move(text), std::move(complaint)};
  }
  // One attribute of an object that qconf shows.
  void set(const std::string& call, const std::string& key, const std::string& value) {
    auto attributes = ge::parse_attributes(answers.at(call).out);
    attributes.set(key, value);
    answers[call].out = attributes.text();
  }
  // A line of `qconf -sc`.
  void complex(const std::string& line) {
    const auto name = std::string(split_words(line).front());
    std::string table;
    for (const auto row : split(answers.at("qconf -sc").out, '\n'))
      if (!row.starts_with(name + " ")) table += std::string(row) + "\n";
    answers["qconf -sc"].out = table + line + "\n";
  }

  // ---- running it

  int doctor(std::vector<std::string> words) {
    StringSink out_sink;
    StringSink err_sink;
    context::Context ctx{"slurm-shim", env, out_sink, err_sink, *this, clock, {}};
    const int code = commands::run_doctor(ctx, words, links);
    out = out_sink.text();
    err = err_sink.text();
    return code;
  }
  // One check's entry of the JSON report.
  nlohmann::json check(const std::string& id, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--json", "--check", id});
    doctor(more);
    auto json = nlohmann::json::parse(out, nullptr, false);
    if (!json.is_object() || json["checks"].size() != 1)
      return {{"status", "no report"}, {"message", out + err}, {"advice", nlohmann::json::array()}};
    return json["checks"][0];
  }

  Result<posix::Output> run(const posix::RunRequest& request) override {
    auto call = join(request.argv, " ");
    // As root: qrsh runs as somebody who may submit.
    if (const std::string other = "runuser -u sgeadmin -- "; call.starts_with(other))
      call.erase(0, other.size());
    if (call.starts_with(root + "/tools/")) call.erase(0, root.size() + 7);
    calls.push_back(call);
    clock.now += slow[call];
    for (const auto& hanging_call : hanging)
      if (call.starts_with(hanging_call)) {
        clock.now += request.timeout.count();
        return fail(ErrorKind::unavailable, call + ": no answer within 10 s");
      }
    // In reverse order a longer beginning comes before a shorter one.
    for (auto it = answers.rbegin(); it != answers.rend(); ++it)
      if (call.starts_with(it->first)) return it->second;
    if (call.starts_with("getent")) return posix::Output{2, "", ""};
    if (request.argv[0].starts_with('/') || request.argv[0] == "sha256sum")
      return m_real.run(request);
    return posix::Output{1, "", call + ": not known to the test"};
  }

  struct MovingClock final : posix::Clock {
    [[nodiscard]] std::int64_t unix_ms() const override { return now; }
    void sleep_for(std::chrono::milliseconds duration) override { now += duration.count(); }
    std::int64_t now = 1796000000000;
  };

private:
  TempDir m_dir;
  posix::ProcessRunner m_real;

  static std::string fixture(const std::string& name, const std::string& engine = "8.1.9") {
    return posix::read_file(SHIM_TEST_DATA "/fixtures/" + engine + "/" + name).value();
  }

  void engine_answers(bool ocs) {
    answer("qstat -help", 0, ocs ? "OCS 9.1.5\n" : "SGE 8.1.9\n");
    answer("qconf -sss", 0, host + "\n");
    answer("qconf -sm", 0, "root\n");
    answer("qconf -so", 1, "", "no operator defined\n");
    answer("qconf -ss", 0, host + "\nn2\n");
    answer("qconf -sh", 0, host + "\n");
    answer("qconf -sel", 0, host + "\nn2\n");
    answer("qconf -spl", 0, "make\nslurm-shim\n");
    answer("qconf -sql", 0, "batch.q\n");
    answer("qconf -sp ", 1, "", fixture("qconf-sp-missing.stderr"));
    answer("qconf -sq ", 1, "", fixture("qconf-sq-missing.stderr"));
    answer("qconf -sp slurm-shim", 0, fixture("qconf-sp-smp.stdout"));
    set("qconf -sp slurm-shim", "pe_name", "slurm-shim");
    set("qconf -sp slurm-shim", "start_proc_args", prefix + "/bin/slurm-shim-env");
    set("qconf -sp slurm-shim", "control_slaves", "TRUE");
    set("qconf -sp slurm-shim", "job_is_first_task", "FALSE");
    set("qconf -sp slurm-shim", "accounting_summary", "TRUE");
    answer("qconf -sq batch.q", 0, fixture("qconf-sq-batch.q.stdout"));
    set("qconf -sq batch.q", "pe_list", "make slurm-shim");
    set("qconf -sq batch.q", "starter_method", prefix + "/libexec/starter_method.sh");
    set("qconf -sq batch.q", "tmpdir", root + "/tmp");
    answer("qconf -sconf", 0, fixture("qconf-sconf.stdout"));
    set("qconf -sconf", "execd_spool_dir", root + "/spool");
    answer("qconf -sconf " + host, 1, "", "configuration " + host + " not defined\n");
    answer("qconf -sc", 0, fixture("qconf-sc.stdout"));
    complex(ocs ? "gpu gpu RSMAP <= YES HOST 0 0" : "gpu gpu INT <= YES YES 0 0");
    complex("h_vmem h_vmem MEMORY <= YES YES 2G 0");
    const auto values = ocs ? "gpu=2(0 1)" : "slots=4,gpu=2,h_vmem=64G";
    answer("qconf -se " + host + " -se",
           0,
           "hostname " + host + "\ncomplex_values " + values +
               "\nhostname n2\ncomplex_values NONE\n");
    answer("qconf -se " + host, 0, "hostname " + host + "\ncomplex_values " + values + "\n");
    answer("qconf -ssconf", 0, fixture("qconf-ssconf.stdout", ocs ? "9.1.5" : "8.1.9"));
    set("qconf -ssconf", "max_reservation", "32");
    if (!ocs) set("qconf -ssconf", "weight_priority", "1.000000");
    answer("qstat -f", 0, instances({{"batch.q@" + host, ""}, {"batch.q@n2", ""}}));
    answer("getent hosts " + host, 0, "10.0.0.1 " + host + "\n");
    answer("getent hosts n2", 0, "10.0.0.2 n2\n");
    answer("getent hosts 10.0.0.1", 0, "10.0.0.1 " + host + "\n");
    answer("getent hosts 10.0.0.2", 0, "10.0.0.2 n2.site n2\n");
    answer("getent passwd", 0, "alice:x:1500:1500::/home/alice:/bin/bash\n");
    answer("getent ahostsv4", 0, "10.0.0.1 STREAM x\n");
  }

public:
  // `qstat -f` of these instances and their states.
  static std::string instances(const std::vector<std::pair<std::string, std::string>>& all) {
    std::string text = "queuename                      qtype resv/used/tot. load_avg arch          "
                       "states\n";
    for (const auto& [name, state] : all) {
      text += std::string(81, '-') + "\n";
      text += name + "           BIP   0/0/4          0.50     lx-amd64      " + state + "\n";
    }
    return text;
  }
  [[nodiscard]] std::string short_host() const { return host.substr(0, host.find('.')); }

  std::string root, prefix, host, out, err;
  std::vector<std::string> links{"sbatch", "slurm-shim-env", "srun"};
  EnvList env;
  MovingClock clock;
  std::map<std::string, posix::Output> answers; // by how the call begins
  std::map<std::string, std::int64_t> slow;     // call -> milliseconds
  std::set<std::string> hanging;                // beginnings of calls
  std::vector<std::string> calls;
};

} // namespace shim::test
