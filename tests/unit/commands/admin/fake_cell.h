#pragma once
// A Grid Engine cell in memory, behind the Runner: the objects that qconf reads and changes, in the
// formats and with the texts of 8.1.9 and 9.x.

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"
#include "slurm_shim/posix/runner.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/temp_dir.h"
#include <sys/stat.h>

namespace shim::test {

class FakeCell final : public posix::Runner {
public:
  explicit FakeCell(bool ocs) {
    engine = ocs ? "OCS 9.1.5" : "SGE 8.1.9";
    has_par = ocs;
    for (const auto* tool : {"qconf", "qstat", "qsub", "qrsh"}) {
      const auto path = m_dir / tool;
      std::ofstream(path) << "#!/bin/false\n";
      ::chmod(path.c_str(), 0755);
    }
    std::string site_pe =
        "pe_name make\nslots 999\nuser_lists NONE\nxuser_lists NONE\n"
        "start_proc_args NONE\nstop_proc_args NONE\nallocation_rule $round_robin\n"
        "control_slaves FALSE\njob_is_first_task TRUE\nurgency_slots min\n"
        "accounting_summary TRUE\n";
    site_pe +=
        ocs ? "ign_sreq_on_mhost TRUE\nmaster_forks_slaves FALSE\ndaemon_forks_slaves FALSE\n"
            : "qsort_args NONE\n";
    pes["make"] = ge::parse_attributes(site_pe);
    add_queue("batch.q");
    add_queue("gpu.q");
  }

  void add_queue(const std::string& name) {
    queues[name] = ge::parse_attributes("qname " + name +
                                        "\nqtype BATCH INTERACTIVE\npe_list make\nslots 4\n"
                                        "starter_method NONE\nprolog NONE\n");
  }

  Result<posix::Output> run(const posix::RunRequest& request) override {
    const auto tool = std::string(posix::base_name(request.argv.at(0)));
    const std::vector<std::string> args(request.argv.begin() + 1, request.argv.end());
    const auto line = tool + " " + join(args, " ");
    if (tool == "qconf") return qconf(args, line);
    if (tool == "qstat" && args == std::vector<std::string>{"-help"})
      return posix::Output{0, engine + "\nusage: qstat [options]\n", ""};
    if (tool == "qstat") return posix::Output{0, running_jobs, ""};
    if (tool == "qrsh" || tool == "runuser") return on_host(line);
    if (tool == "sha256sum") return m_real.run(request);
    if (tool == "qsub")
      return posix::Output{0, engine + "\n" + (has_par ? "   [-par allocation_rule]\n" : ""), ""};
    if (tool == "getent") return posix::Output{0, "boss:x:0:0::/:/bin/sh\n", ""};
    if (tool == "slurm-shim")
      return posix::Output{version_status, "slurm-shim 0.1.0 (slurm)\n", ""};
    return posix::Output{127, "", tool + ": not here"};
  }

  [[nodiscard]] std::string tools() const { return m_dir.path(); }
  // Everything that an installation may change.
  [[nodiscard]] std::string state() const {
    std::string text;
    for (const auto& [name, pe] : pes)
      text += pe.text();
    for (const auto& [name, queue] : queues)
      text += queue.text();
    return text;
  }

  std::string engine;
  bool has_par;
  std::map<std::string, ge::Attributes> pes, queues;
  std::vector<std::string> managers{"root", "boss"};
  std::vector<std::string> admin_hosts{posix::host_name()};
  std::string running_jobs;
  std::string complexes = "#name shortcut type relop requestable consumable default urgency\n"
                          "gpu gpu INT <= YES YES 0 0\n"
                          "h_vmem h_vmem MEMORY <= YES YES 2G 0\n";
  std::set<std::string> failing;    // call lines that end with 1
  std::set<std::string> pretending; // call lines that end with 0 and do nothing
  bool lists_at_once = true;        // -aattr takes several names
  bool unreachable = false;
  std::map<std::string, posix::Output> host_answers; // instead of the version: "n2" -> ...
  int version_status = 0;
  std::string min_uid = "0";
  std::vector<std::string> visited; // hosts on which something was tried
  std::vector<std::string> changes; // call lines that changed something

private:
  // What the starter's trial prints on a host.
  posix::Output on_host(const std::string& line) {
    const auto at = line.find("h=") + 2;
    const auto host = line.substr(at, line.find(' ', at) - at);
    visited.push_back(host);
    if (const auto found = host_answers.find(host); found != host_answers.end())
      return found->second;
    return {0, "slurm-shim " SHIM_VERSION " (slurm 24.05.0)\n", ""};
  }
  static posix::Output no(const std::string& text) { return {1, "", text + "\n"}; }
  template <class Range> static posix::Output lines(const Range& names) {
    return {0, join(names, "\n") + "\n", ""};
  }
  static std::vector<std::string> keys(const std::map<std::string, ge::Attributes>& objects) {
    std::vector<std::string> names;
    for (const auto& [name, object] : objects)
      names.push_back(name);
    return names;
  }

  posix::Output qconf(const std::vector<std::string>& args, const std::string& line) {
    if (unreachable)
      return no("error: commlib error: got select error (Connection refused)\n"
                "unable to send message to qmaster using port 6444 on host \"m\": got send error");
    if (failing.contains(line)) return no("denied: the test said so");
    const auto& verb = args.at(0);
    if (verb == "-sm") return lines(managers);
    if (verb == "-sh") return lines(admin_hosts);
    if (verb == "-sel") return lines(std::vector<std::string>{"n1", "n2"});
    if (verb == "-sconf") return {0, "#global:\nmin_uid " + min_uid + "\nport_range none\n", ""};
    if (verb == "-sc") return {0, complexes, ""};
    if (verb == "-sql")
      return queues.empty() ? no("no cluster queue list defined") : lines(keys(queues));
    if (verb == "-spl")
      return pes.empty() ? no("no parallel environment defined") : lines(keys(pes));
    if (verb == "-sp")
      return pes.contains(args.at(1)) ? posix::Output{0, pes.at(args[1]).text(), ""}
                                      : no(args[1] + " is not a parallel environment");
    if (verb == "-sq")
      return queues.contains(args.at(1))
                 ? posix::Output{0, queues.at(args[1]).text(), ""}
                 : no("No cluster queue or queue instance matches the phrase \"" + args[1] + "\"");
    if (pretending.contains(line)) return {0, "", ""};
    changes.push_back(line);
    if (verb == "-Ap") return add_pe(args.at(1));
    if (verb == "-Mp") {
      const auto pe = ge::parse_attributes(posix::read_file(args.at(1)).value());
      pes[pe.get_or("pe_name", "")] = pe;
      return {0, "", ""};
    }
    if (verb == "-dp") return delete_pe(args.at(1));
    if (verb == "-mattr" && args.at(1) == "pe") {
      pes.at(args.at(4)).set(args.at(2), args.at(3));
      return {0, "", ""};
    }
    return change_queue(args);
  }

  posix::Output add_pe(const std::string& file) {
    const auto pe = ge::parse_attributes(posix::read_file(file).value());
    const auto name = pe.get_or("pe_name", "");
    if (pes.contains(name)) return no("parallel environment \"" + name + "\" already exists");
    const std::string wanted = engine.starts_with("OCS") ? "ign_sreq_on_mhost" : "qsort_args";
    const std::string unknown = engine.starts_with("OCS") ? "qsort_args" : "ign_sreq_on_mhost";
    if (!pe.get(wanted)) return no("error: required attribute \"" + wanted + "\" is missing");
    if (pe.get(unknown)) return no("error: unknown attribute name \"" + unknown + "\"");
    pes[name] = pe;
    return {0, "", "boss added \"" + name + "\" to parallel environment list\n"};
  }

  posix::Output delete_pe(const std::string& name) {
    for (const auto& [queue, object] : queues)
      if (const auto names = ge::parse_name_list(object.get_or("pe_list", ""));
          std::find(names.begin(), names.end(), name) != names.end())
        return no("Parallel environment \"" + name + "\" is still referenced in queue \"" + queue +
                  "\"");
    if (pes.erase(name) == 0) return no("parallel environment \"" + name + "\" does not exist");
    return {0, "", "boss removed \"" + name + "\" from parallel environment list\n"};
  }

  // -aattr|-dattr|-mattr queue ATTRIBUTE VALUE QUEUE[@HOST]
  posix::Output change_queue(const std::vector<std::string>& args) {
    const auto& object = args.at(4);
    const auto at = object.find('@');
    const auto found = queues.find(object.substr(0, at));
    if (found == queues.end()) return no("denied: cluster queue \"" + object + "\" does not exist");
    auto value = ge::parse_host_value(found->second.get_or(args[2], ""));
    std::string* part = &value.fallback;
    if (at != std::string::npos) {
      auto& overrides = value.overrides;
      const auto host = object.substr(at + 1);
      auto entry = std::find_if(
          overrides.begin(), overrides.end(), [&](const auto& o) { return o.first == host; });
      if (entry == overrides.end()) entry = overrides.insert(overrides.end(), {host, ""});
      part = &entry->second;
    }
    if (args[0] == "-mattr") {
      *part = args[3];
    } else if (args[0] == "-dattr") {
      auto names = ge::parse_name_list(*part);
      for (const auto& name : ge::parse_name_list(args[3]))
        std::erase(names, name);
      *part = names.empty() ? "NONE" : join(names, " ");
    } else {
      auto names = ge::parse_name_list(*part);
      for (const auto& name : ge::parse_name_list(args[3])) {
        if (!pes.contains(name)) return no("Parallel environment \"" + name + "\" does not exist");
        names.push_back(name);
        if (!lists_at_once) break;
      }
      *part = join(names, " ");
    }
    auto text = value.fallback;
    for (const auto& [host, override_value] : value.overrides)
      text += ",[" + host + "=" + override_value + "]";
    found->second.set(args[2], text);
    return {0, "boss modified \"" + object + "\" in cluster queue list\n", ""};
  }

  TempDir m_dir;
  posix::ProcessRunner m_real;
};

} // namespace shim::test
