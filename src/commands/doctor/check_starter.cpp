// C09 to C11: the queues' starter, what it does with each kind of start, and the command links.
#include "checks.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include <sys/stat.h>

namespace shim::commands::doctor {

namespace {

const std::string k_install =
    "run `slurm-shim install`, look at its plan, then `slurm-shim install "
    "--apply`";

// Ours, or a site's that hands over to ours.
bool mentions_shim(const std::string& path) {
  const auto text = posix::read_file(path, std::size_t{1} << 20);
  return text && text->find("slurm_shim") != std::string::npos;
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
      ::remove((m_path + file).c_str());
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
  const auto wrong = [&](const std::string& text, const std::string& advice) {
    can_do_without ? verdict.warn(text, advice) : verdict.fail(text, advice);
  };
  for (const auto& [place, path] : starters) {
    if (path.empty() || equals_ignore_case(path, "NONE")) {
      wrong("queue " + place + " has no starter_method: scripts start without SLURM_* variables",
            k_install);
    } else if (!posix::is_executable_file(path)) {
      verdict.fail("queue " + place + ": starter_method " + path +
                       " is not an executable file: every job puts the queue into error state",
                   "put it back (`slurm-shim install --apply`), then: qmod -cq '" + place + "'");
    } else if (!mentions_shim(path)) {
      wrong("queue " + place + ": starter_method is the site's own: " + path,
            "call " + s.installed_bin() +
                "/../libexec/starter_method.sh from it as its last step; "
                "or set env_transport: qsub and batch_supervisor: needed, and source the job's "
                "environment file in it");
    } else {
      paths.insert(path);
    }
  }
  return verdict.finish(join(paths, ", "));
}

Result<Finding> check_starter_contract(Survey& s) {
  TRY_ASSIGN(const auto starters, all_starters(s));
  std::set<std::string> paths;
  for (const auto& starter : starters)
    if (posix::is_executable_file(starter.path) && mentions_shim(starter.path))
      paths.insert(starter.path);
  if (paths.empty()) return Finding{Status::skip, "no starter of ours is wired (C09)", {}};
  Folder folder(s.ctx.env);
  TRY(folder.make());
  const std::string print = "echo \"[${SLURM_SHIM_DOCTOR-}]\" \"$@\"";
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
                   "put the starter of this version in its place: `slurm-shim install --apply "
                   "--force-files`; needed on every execution host: /bin/bash and stat");
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
