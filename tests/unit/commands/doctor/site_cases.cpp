// C17, C18, C29, C30: this host.
#include "check_cases.h"

#include <fstream>

namespace shim::test {

namespace {

using W = DoctorWorld;

// The kernel's own range, or a usual one where it tells none.
std::string ephemeral_range() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  int first = 32768;
  int last = 60999;
  file >> first >> last;
  return std::to_string(first + 100) + "-" + std::to_string(first + 110);
}
bool has_reserved_ports() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_reserved_ports");
  std::string text;
  file >> text;
  return !text.empty();
}

void open_spool(W& w) {
  ::chmod(w.root.c_str(), 0755);
}

} // namespace

std::vector<DoctorCase> site_cases() {
  return {
      {"C17", "closed", [](W&) {}, "pass", "has mode 0700", ""},
      {"C17", "open", open_spool, "warn", "walked through by every user", "chmod 0750"},
      {"C17",
       "no_job_yet",
       [](W& w) {
         open_spool(w);
         std::filesystem::remove_all(w.root + "/spool/" + w.short_host());
       },
       "warn",
       "does not exist yet",
       "chmod 0750"},
      {"C17",
       "of_this_host",
       [](W& w) {
         open_spool(w);
         std::filesystem::create_directories(w.root + "/own/" + w.short_host() + "/active_jobs");
         ::chmod((w.root + "/own").c_str(), 0750);
         w.answer("qconf -sconf " + w.host, 0, w.host + ":\nexecd_spool_dir " + w.root + "/own\n");
       },
       "pass",
       "/own has mode 0750",
       ""},
      {"C17",
       "no_execution_host",
       [](W& w) { w.answer("qconf -sel", 0, "n2\n"); },
       "skip",
       "runs no jobs",
       ""},
      {"C17",
       "relative",
       [](W& w) { w.set("qconf -sconf", "execd_spool_dir", "spool"); },
       "skip",
       "no absolute path",
       ""},
      {"C18",
       "kernel_range",
       [](W& w) { w.config("control_port: " + ephemeral_range() + "\n"); },
       has_reserved_ports() ? "pass" : "warn",
       has_reserved_ports() ? "" : "the kernel hands out",
       has_reserved_ports() ? "" : "ip_local_reserved_ports"},
      {"C18",
       "qmaster_within",
       [](W& w) { w.env.set("SGE_QMASTER_PORT", "61001"); },
       "warn",
       "SGE_QMASTER_PORT 61001 lies within",
       "another range"},
      {"C18", "any_port", [](W& w) { w.config("control_port: 0\n"); }, "info", "any free port", ""},
      {"C29", "known", [](W&) {}, "info", "getent knows alice", ""},
      {"C29",
       "unknown",
       [](W& w) { w.answer("getent passwd", 2, ""); },
       "info",
       "does not know",
       ""},
      {"C30", "plain", [](W&) {}, "info", "open files", ""},
      {"C30",
       "cgroup_isolation",
       [](W& w) { w.config("gpu: {isolation: cgroup}\n"); },
       "info",
       "execd_params say nothing",
       ""},
      {"C22", "without_hosts", [](W&) {}, "skip", "needs --hosts", ""},
  };
}

} // namespace shim::test
