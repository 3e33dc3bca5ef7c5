// C22, C27 to C30: clocks, accounting, folders for temporary files, users, the kernel.
#include "checks.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/posix/identity.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace shim::commands::doctor {

namespace {

// Magic numbers of statfs(2): NFS, SMB, CIFS, SMB2, Lustre, GPFS, Ceph, BeeGFS.
constexpr std::array<unsigned long, 8> k_shared{
    0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x0bd00bd0, 0x47504653, 0x00c36400, 0x19830326};

bool is_shared(const std::string& folder) {
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return false;
  const auto type = static_cast<unsigned long>(info.f_type) & 0xffffffffUL;
  return std::find(k_shared.begin(), k_shared.end(), type) != k_shared.end();
}

// "a=b c=d" or comma separated: the value of one.
std::string parameter(std::string_view parameters, std::string_view name) {
  for (const auto word : split_words(parameters))
    for (const auto part : split(word, ','))
      if (const auto equals = part.find('='); part.substr(0, equals) == name)
        return equals == std::string_view::npos ? "" : std::string(part.substr(equals + 1));
  return "";
}

// "0:1:30" or "90" as seconds.
int to_seconds(std::string_view text) {
  int seconds = 0;
  for (const auto part : split(text, ':'))
    seconds = seconds * 60 + parse_int<int>(part).value_or(0);
  return seconds;
}

} // namespace

Result<Finding> check_clocks(Survey& s) {
  if (s.options.hosts.empty()) return Finding{Status::skip, "needs --hosts", {}};
  std::vector<std::string> texts;
  for (const auto& [host, report] : s.host_reports)
    if (report.error.empty())
      texts.push_back(
          fmt::format("{} {:+.1f} s", host, static_cast<double>(report.time_difference_ms) / 1e3));
  if (texts.empty()) return Finding{Status::skip, "no host answered (C12)", {}};
  return Finding{Status::info, "clocks against this host: " + join(texts, ", "), {}};
}

Result<Finding> check_accounting(Survey& s) {
  TRY_ASSIGN(const auto values, s.engine_config());
  const auto parameters = values.get_or("reporting_params", "");
  const auto folder =
      s.ctx.env.get_or("SGE_ROOT", "") + "/" + s.ctx.env.get_or("SGE_CELL", "default") + "/common";
  Verdict verdict;
  if (equals_ignore_case(parameter(parameters, "accounting"), "false"))
    verdict.fail("accounting is switched off (reporting_params): sacct knows no job without a "
                 "record",
                 "qconf -mconf: accounting=true in reporting_params");
  const auto flush = to_seconds(parameter(parameters, "accounting_flush_time"));
  if (flush > 60)
    verdict.warn(fmt::format("accounting is written every {} s: jobs are unknown for as long after "
                             "their end",
                             flush),
                 "qconf -mconf: accounting_flush_time=00:00:05 in reporting_params");
  std::vector<std::string> files;
  for (const auto* name : {"/accounting.jsonl", "/accounting"}) {
    const auto file = folder + name;
    if (!posix::exists(file)) continue;
    if (::access(file.c_str(), R_OK) != 0)
      verdict.warn(file + " cannot be read: sacct asks qacct, which cannot read it either",
                   "chmod a+r " + file);
    else
      files.push_back(file);
  }
  if (files.empty() && verdict.is_fine())
    verdict.info("no accounting file in " + folder +
                 " (no job has ended yet, or it is kept on the "
                 "qmaster's host only)");
  return verdict.finish(join(files, ", "));
}

Result<Finding> check_tmpdir(Survey& s) {
  TRY_ASSIGN(const auto names, s.used_queues());
  const auto own = posix::host_name();
  std::set<std::string> folders;
  for (const auto& name : names) {
    TRY_ASSIGN(const auto queue, s.queue(name));
    if (!queue) continue;
    const auto value = ge::parse_host_value(queue->get_or("tmpdir", "/tmp"));
    auto folder = value.fallback;
    for (const auto& [host, text] : value.overrides)
      if (host == own) folder = text;
    folders.insert(folder);
  }
  if (folders.empty()) return Finding{Status::skip, "no queue to look at (C14)", {}};
  Verdict verdict;
  for (const auto& folder : folders) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
      verdict.fail("tmpdir " + folder + " is no folder here: jobs cannot start",
                   "mkdir -m 1777 " + folder + " on every execution host");
    else if ((info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0)
      verdict.warn("tmpdir " + folder +
                       " is open to everybody without the sticky bit: users can "
                       "remove each other's job folders",
                   "chmod +t " + folder);
    else if (is_shared(folder))
      verdict.warn("tmpdir " + folder +
                       " is on a shared file system: slow, and one job's hosts "
                       "share it",
                   "qconf -mattr queue tmpdir /tmp QUEUE (a local folder)");
  }
  return verdict.finish(join(folders, ", "));
}

Result<Finding> check_users(Survey& s) {
  const auto uid = std::to_string(::geteuid());
  const auto user = posix::lookup_user(s.recorder, uid);
  return Finding{Status::info,
                 user ? fmt::format("getent knows {} ({}), home {}", user->name, uid, user->home)
                      : "getent does not know user " + uid + ": names are taken from USER and HOME",
                 {}};
}

Result<Finding> check_kernel(Survey& s) {
  struct rlimit files {};
  ::getrlimit(RLIMIT_NOFILE, &files);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::sched_getaffinity(0, sizeof cpus, &cpus);
  const bool unified = posix::exists("/sys/fs/cgroup/cgroup.controllers");
  auto text = fmt::format("{} open files (hard {}), {} CPUs, cgroup {}",
                          files.rlim_cur,
                          files.rlim_max,
                          CPU_COUNT(&cpus),
                          unified ? "v2" : "v1");
  if (!s.config().gpu.isolation_shim) {
    const auto values = s.engine_config();
    const auto parameters = values ? values->get_or("execd_params", "") : "";
    if (to_lower(parameters).find("cgroup") == std::string::npos)
      text += "; gpu.isolation is cgroup, but execd_params say nothing of cgroups: nothing keeps "
              "ranks from devices of others";
  }
  return Finding{Status::info, text, {}};
}

} // namespace shim::commands::doctor
