// C05 to C08: the parallel environments and which queues offer them.
#include "checks.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>
#include <set>

#include <sys/stat.h>

namespace shim::commands::doctor {

namespace {

// Users other than owner and group could put another program in its place.
bool is_open_to_all(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0 &&
         (S_ISREG(info.st_mode) || (info.st_mode & S_ISVTX) == 0);
}

bool is_true(const ge::Attributes& pe, std::string_view key) {
  return equals_ignore_case(pe.get_or(key, ""), "TRUE");
}

} // namespace

Result<Finding> check_control_slaves(Survey& s) {
  Verdict verdict;
  const auto names = s.used_pes();
  for (const auto& name : names) {
    TRY_ASSIGN(const auto pe, s.pe(name));
    if (!pe)
      verdict.fail("there is no PE " + name, k_install_advice);
    else if (!is_true(*pe, "control_slaves"))
      verdict.fail("PE " + name + ": control_slaves is " + pe->get_or("control_slaves", "missing") +
                       ": steps on several hosts cannot start",
                   "qconf -mattr pe control_slaves TRUE " + name);
  }
  return verdict.finish(join(names, ", ") + ": control_slaves TRUE");
}

Result<Finding> check_hook(Survey& s) {
  Verdict verdict;
  std::set<std::string> folders;
  for (const auto& name : s.used_pes()) {
    TRY_ASSIGN(const auto pe, s.pe(name));
    if (!pe) continue; // C05 tells
    const auto value = pe->get_or("start_proc_args", "NONE");
    const auto words = split_words(value);
    auto path = words.empty() ? std::string() : std::string(words.front());
    if (const auto at = path.find('@'); at != std::string::npos) path.erase(0, at + 1);
    if (ge::is_none(value)) {
      verdict.fail("PE " + name + " has no start_proc_args: its jobs get no SLURM_* variables",
                   k_install_advice);
    } else if (posix::base_name(path) != "slurm-shim-env") {
      verdict.fail("PE " + name + ": start_proc_args is the site's own: " + masked(value),
                   "use another PE for the shim: slurm-shim install --pe NAME, and pe_name in the "
                   "configuration; or call slurm-shim-env from that script");
    } else if (!posix::is_executable_file(path)) {
      verdict.fail(path + " (start_proc_args of " + name + ") is not an executable file here",
                   "put the files back (`slurm-shim install --apply`), and mount their folder on "
                   "every execution host");
    } else if (is_open_to_all(path) || is_open_to_all(posix::dir_name(path))) {
      verdict.fail(path + " can be replaced by everybody",
                   "chmod o-w " + path + " " + posix::dir_name(path));
    } else {
      folders.insert(posix::dir_name(path));
    }
  }
  if (folders.size() > 1)
    verdict.warn("the PEs start different installations: " + join(folders, ", "),
                 "let all start_proc_args name the same folder: qconf -mp PE");
  return verdict.finish(folders.empty() ? "" : "slurm-shim-env of " + *folders.begin());
}

Result<Finding> check_forks(Survey& s) {
  Verdict verdict;
  bool seen = false;
  for (const auto& name : s.used_pes()) {
    TRY_ASSIGN(const auto pe, s.pe(name));
    if (!pe) continue;
    seen = true;
    const auto wrong = [&](std::string_view key, bool wanted, const std::string& effect) {
      if (!pe->get(key) || is_true(*pe, key) == wanted) return;
      const std::string value = wanted ? "TRUE" : "FALSE";
      verdict.warn("PE " + name + ": " + std::string(key) + " " + (wanted ? "FALSE" : "TRUE") +
                       ": " + effect,
                   "qconf -mattr pe " + std::string(key) + " " + value + " " + name);
    };
    if (const auto slots = parse_int<long>(pe->get_or("slots", "")); slots && *slots == 0)
      verdict.fail("PE " + name + " has no slots: its jobs wait for ever",
                   "qconf -mattr pe slots 999999 " + name);
    for (const auto* key : {"user_lists", "xuser_lists"})
      if (const auto lists = pe->get_or(key, "NONE"); !ge::is_none(lists))
        verdict.warn(
            "PE " + name + ": " + key + " " + masked(lists) +
                (std::string_view(key) == "xuser_lists" ? ": jobs of these users wait for ever"
                                                        : ": jobs of other users wait for ever"),
            "when that is not meant: qconf -rattr pe " + std::string(key) + " NONE " + name);
    wrong("daemon_forks_slaves", false, "steps side by side on a remote host fail");
    wrong("master_forks_slaves", false, "the limits of the master host's task are multiplied");
    wrong("job_is_first_task", false, "one slot of the master host is lost to steps");
    wrong("accounting_summary", true, "accounting has a record for every step and host");
  }
  if (!seen) return Finding{Status::skip, "none of the PEs exists (C05)", {}};
  return verdict.finish("as installed; a remote step runs under the memory limit of one slot");
}

Result<Finding> check_pe_lists(Survey& s) {
  Verdict verdict;
  const auto check = [&](const std::string& name,
                         const std::vector<std::string>& wanted) -> Result<void> {
    TRY_ASSIGN(const auto queue, s.queue(name));
    if (!queue) return {}; // C14 tells
    const auto value = ge::parse_host_value(queue->get_or("pe_list", "NONE"));
    const auto missing_in = [&](std::string_view text) {
      const auto present = ge::parse_name_list(text);
      std::vector<std::string> missing;
      for (const auto& pe : wanted)
        if (std::find(present.begin(), present.end(), pe) == present.end()) missing.push_back(pe);
      return missing;
    };
    if (const auto missing = missing_in(value.fallback); !missing.empty())
      verdict.fail("queue " + name + " does not offer PE " + join(missing, ", "),
                   "qconf -aattr queue pe_list " + join(missing, ",") + " " + name);
    for (const auto& [host, text] : value.overrides)
      if (const auto missing = missing_in(text); !missing.empty())
        verdict.warn("queue " + name + " at " + host + " does not offer PE " + join(missing, ", "),
                     "qconf -aattr queue pe_list " + join(missing, ",") + " " + name + "@" + host);
    return {};
  };
  std::vector<std::string> queues;
  for (const auto& partition : s.config().partitions) {
    if (partition.queue.empty()) continue;
    TRY(check(partition.queue, s.pes_of(partition)));
    queues.push_back(partition.queue);
  }
  if (s.config().partitions.empty()) {
    TRY_ASSIGN(queues, s.used_queues());
    if (queues.empty()) verdict.fail("no queue offers PE " + s.config().pe_name, k_install_advice);
  }
  if (queues.empty() && verdict.is_fine())
    return Finding{Status::skip, "no partition names a queue", {}};
  return verdict.finish("offered by " + join(queues, ", "));
}

} // namespace shim::commands::doctor
