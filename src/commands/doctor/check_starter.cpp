// C09 to C11: the queues' starter, what it does with each kind of start, and the command links.
#include "checks.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/starter.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include <sys/stat.h>

namespace shim::commands::doctor {

namespace {

// Where `install` puts the starter, below its prefix.
constexpr std::string_view k_place = "/libexec/starter_method.sh";

std::string script_text(const std::string& path) {
  return posix::read_file(path, std::size_t{1} << 20).value_or("");
}

bool hands_over(const std::string& text) {
  return text.find(k_place) != std::string::npos;
}

// Ours, or a site's that hands over to ours or does its work.
bool mentions_shim(const std::string& text) {
  return text.find("slurm_shim") != std::string::npos || hands_over(text);
}

// The starter of the installation that is in use.
std::string installed_starter(Survey& s) {
  return posix::dir_name(s.installed_bin()) + std::string(k_place);
}

// `install` with the words that make it mend the installation of this starter and nothing else.
std::string install_again(Survey& s, const std::string& starter, const std::string& more = {}) {
  std::string command = "slurm-shim install --apply" + more;
  const auto prefix = starter.substr(0, starter.size() - k_place.size());
  if (prefix != s.ctx.env.get_or("SGE_ROOT", "") + "/slurm-shim") command += " --prefix=" + prefix;
  if (const auto& pe = s.config().pe_name; pe != config::Config{}.pe_name) command += " --pe=" + pe;
  return command;
}

// What is written at the place of ours. Jobs of a user who may not read it put the queue into error
// state, for everybody.
void judge_installed(Survey& s, const std::string& path, Verdict& verdict) {
  if (!posix::is_executable_file(path)) {
    verdict.fail("starter " + path +
                     ", to which the site's own hands over, is not an executable file",
                 install_again(s, path));
    return;
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 0555U) != 0555U)
    verdict.warn(fmt::format("starter {} has mode {:04o}: a job of a user who may not run it puts "
                             "its queue into error state",
                             path,
                             info.st_mode & 07777U),
                 "chmod 755 " + path);
  const auto text = posix::read_file(path, std::size_t{1} << 20);
  if (!text || *text == records::starter_text()) return;
  if (mentions_shim(*text))
    verdict.warn("starter " + path +
                     " is not that of slurm-shim " SHIM_VERSION ": edited, or of another version",
                 install_again(s, path));
  else
    verdict.fail("starter " + path + " is no starter of slurm-shim any more",
                 install_again(s, path, " --force-files"));
}

struct Starter {
  std::string place, path; // "batch.q" or "batch.q@host"
};

Result<std::vector<Starter>> all_starters(Survey& s) {
  std::vector<Starter> out;
  TRY_ASSIGN(const auto names, s.used_queues());
  for (const auto& name : names) {
    TRY_ASSIGN(const auto queue, s.queue(name));
    if (!queue) continue;
    const auto value = ge::parse_host_value(queue->get_or("starter_method", "NONE"));
    out.push_back({name, value.fallback});
    for (const auto& [host, path] : value.overrides)
      out.push_back({name + "@" + host, path});
  }
  return out;
}

// A folder for one check, gone at its end.
class Folder {
public:
  explicit Folder(const EnvList& env)
      : m_path(env.get_or("TMPDIR", "/tmp") + "/slurm-shim-doctor." + posix::random_hex(8)) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    for (const auto* file : {"/slurm_shim/environment", "/slurm_shim", ""})
      (void)::remove((m_path + file).c_str());
  }
  Result<void> make() {
    TRY(posix::make_directories(m_path + "/slurm_shim", 0700));
    return posix::write_file_atomic(m_path + "/slurm_shim/environment",
                                    "export SLURM_SHIM_DOCTOR='seen it'\n");
  }
  [[nodiscard]] const std::string& path() const { return m_path; }

private:
  std::string m_path;
};

struct Trial {
  const char* what;
  std::vector<std::string> words;
  std::vector<std::string> env;
  std::string wanted;
};

bool same_file(const std::string& a, const std::string& b) {
  struct stat x {};
  struct stat y {};
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

// First executable of that name on PATH.
std::string on_path(const EnvList& env, const std::string& name) {
  const auto path = env.get_or("PATH", "");
  for (const auto folder : split(path, ':'))
    if (auto file = std::string(folder) + "/" + name; posix::is_executable_file(file)) return file;
  return "";
}

} // namespace

Result<Finding> check_starters(Survey& s) {
  TRY_ASSIGN(const auto starters, all_starters(s));
  if (starters.empty()) return Finding{Status::skip, "no queue to look at (C14)", {}};
  // Without starter and supervisor jobs work in part, where the configuration says so.
  const bool can_do_without =
      s.config().env_transport == "qsub" && s.config().batch_supervisor == "needed";
  Verdict verdict;
  std::set<std::string> paths;
  std::set<std::string> ours;
  const auto wrong = [&](const std::string& text, const std::string& advice) {
    can_do_without ? verdict.warn(text, advice) : verdict.fail(text, advice);
  };
  const auto installed = installed_starter(s);
  const auto back = [&](const std::string& place, const std::string& path) {
    return (path.ends_with(k_place) ? install_again(s, path)
                                    : "put it back, or take ours: qconf -mattr queue "
                                      "starter_method " +
                                          installed + " " + place) +
           ", then: qmod -cq '" + place + "'";
  };
  for (const auto& [place, path] : starters) {
    if (ge::is_none(path)) {
      wrong("queue " + place + " has no starter_method: scripts start without SLURM_* variables",
            k_install_advice);
      continue;
    }
    if (!posix::is_executable_file(path)) {
      verdict.fail("queue " + place + ": starter_method " + path +
                       " is not an executable file: every job puts the queue into error state",
                   back(place, path));
      continue;
    }
    const auto text = script_text(path);
    if (!path.ends_with(k_place) && !mentions_shim(text)) {
      wrong("queue " + place + ": starter_method is the site's own: " + path,
            "call " + installed +
                " from it as its last step; "
                "or set env_transport: qsub and batch_supervisor: needed, and source the job's "
                "environment file in it");
      continue;
    }
    paths.insert(path);
    if (path.ends_with(k_place))
      ours.insert(path);
    else if (hands_over(text))
      ours.insert(installed);
  }
  for (const auto& path : ours)
    judge_installed(s, path, verdict);
  return verdict.finish(join(paths, ", "));
}

Result<Finding> check_starter_contract(Survey& s) {
  TRY_ASSIGN(const auto starters, all_starters(s));
  std::set<std::string> paths;
  for (const auto& starter : starters)
    if (posix::is_executable_file(starter.path) && mentions_shim(script_text(starter.path)))
      paths.insert(starter.path);
  if (paths.empty()) return Finding{Status::skip, "no starter of ours is wired (C09)", {}};
  Folder folder(s.ctx.env);
  TRY(folder.make());
  const std::string print = R"(echo "[${SLURM_SHIM_DOCTOR-}]" "$@")";
  const std::vector<Trial> trials{
      {"a stepper's start",
       {"/bin/echo", "stepper", "--envelope", "e30="},
       {"SGE_PE_TASK_ID=1.host"},
       "stepper --envelope e30=\n"},
      {"a foreign task's start",
       {"/bin/sh", "-c", print, "sh", "a  b", "*"},
       {"SGE_PE_TASK_ID=1.host"},
       "[] a  b *\n"},
      {"a batch script's start", {"/bin/sh", "-c", print, "sh", "a  b"}, {}, "[seen it] a  b\n"},
  };
  Verdict verdict;
  for (const auto& path : paths)
    for (const auto& trial : trials) {
      posix::RunRequest request;
      request.argv = trial.words;
      request.argv.insert(request.argv.begin(), path);
      request.env = EnvList({"PATH=/usr/bin:/bin", "TMPDIR=" + folder.path()});
      for (const auto& entry : trial.env)
        request.env->set_entry(entry);
      const auto answer = s.recorder.run(request);
      if (answer && answer->status == 0 && answer->out == trial.wanted) continue;
      verdict.fail(path + " does not pass " + trial.what +
                       (answer ? " as it should" : ": " + answer.error().message),
                   (path.ends_with(k_place)
                        ? install_again(s, path, " --force-files")
                        : "let its last step be: exec " + installed_starter(s) + " \"$@\"") +
                       "; needed on every execution host: /bin/bash and stat");
    }
  return verdict.finish(
      "passes steppers and foreign tasks untouched, gives scripts their variables");
}

Result<Finding> check_links(Survey& s) {
  const auto bin = s.installed_bin();
  const auto program = bin + "/slurm-shim";
  Verdict verdict;
  std::vector<std::string> missing;
  std::vector<std::string> foreign;
  std::vector<std::string> shadowed;
  std::vector<std::string> absent;
  for (const auto& name : s.links) {
    const auto file = bin + "/" + name;
    if (!posix::is_executable_file(file)) {
      missing.push_back(name);
    } else if (posix::exists(program) && !same_file(file, program)) {
      foreign.push_back(name);
    } else if (!name.starts_with("slurm-shim")) {
      const auto found = on_path(s.ctx.env, name);
      if (found.empty())
        absent.push_back(name);
      else if (!same_file(found, file))
        shadowed.push_back(found);
    }
  }
  if (!missing.empty())
    verdict.fail("missing in " + bin + ": " + join(missing, ", "),
                 "slurm-shim install --apply (or: slurm-shim links --create " + bin + ")");
  if (!foreign.empty())
    verdict.fail("not the same program as " + program + ": " + join(foreign, ", "),
                 "slurm-shim install --apply --force-files");
  if (!shadowed.empty())
    verdict.warn("other commands come first on PATH: " + join(shadowed, ", "),
                 "put " + bin + " in front of PATH (" + posix::dir_name(bin) + "/etc/profile.sh)");
  if (!absent.empty())
    verdict.warn(absent.size() > 3 ? "the commands of " + bin + " are not on PATH"
                                   : "not on PATH: " + join(absent, ", "),
                 "put " + bin + " in front of PATH (" + posix::dir_name(bin) +
                     "/etc/profile.sh, for everybody: a link to it in /etc/profile.d)");
  return verdict.finish(fmt::format("{} commands in {}", s.links.size(), bin));
}

} // namespace shim::commands::doctor
