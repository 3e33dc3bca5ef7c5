#include "install_apply.h"

#include "install_verify.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <unistd.h>

namespace shim::commands::admin {

namespace {

using Op = Action::Op;
using Kind = Action::Kind;

Result<void> write_file(const Action& action, const InstallFacts& facts) {
  TRY(posix::make_directories(posix::dir_name(action.target), 0755));
  if (!action.copies_self)
    return posix::write_file_atomic(action.target, action.bytes, action.mode);
  TRY_ASSIGN(const auto bytes, posix::read_file(facts.self, k_max_binary));
  return posix::write_file_atomic(action.target, bytes, action.mode);
}

Result<void> make_link(const Action& action) {
  TRY(posix::make_directories(posix::dir_name(action.target), 0755));
  const auto temporary = action.target + "." + std::to_string(::getpid());
  if (::symlink(action.new_value.c_str(), temporary.c_str()) != 0)
    return fail_errno(temporary, errno);
  if (::rename(temporary.c_str(), action.target.c_str()) == 0) return {};
  const int error = errno;
  ::unlink(temporary.c_str());
  return fail_errno(action.target, error);
}

// The folders below the prefix go with their last file.
Result<void> remove_file(const Action& action) {
  if (::unlink(action.target.c_str()) != 0 && errno != ENOENT)
    return fail_errno(action.target, errno);
  auto folder = posix::dir_name(action.target);
  for (int i = 0; i < 2 && ::rmdir(folder.c_str()) == 0; ++i)
    folder = posix::dir_name(folder);
  return {};
}

tl::unexpected<Error> not_taken(const std::string& what, const std::string& found) {
  return fail(ErrorKind::refused,
              what + ": qconf reported success, but the value read back is " +
                  (found.empty() ? "missing" : found));
}

class Applier {
public:
  Applier(const InstallFacts& facts,
          const ge::Qconf& qconf,
          posix::Runner& runner,
          std::function<Result<void>()> verify)
      : m_facts(facts), m_qconf(qconf), m_runner(runner), m_verify(std::move(verify)) {}

  Result<void> apply(const Action& action) {
    switch (action.kind) {
    case Kind::file:
    case Kind::config:
      return action.op == Op::remove ? remove_file(action) : write_file(action, m_facts);
    case Kind::link: return action.op == Op::remove ? remove_file(action) : make_link(action);
    case Kind::pe:
      if (action.op == Op::remove) return remove_pe(action);
      return action.op == Op::create ? create_pe(action) : modify_pe(action);
    case Kind::queue:
      if (action.op == Op::remove) return unwire_queue(action);
      return action.attribute == "pe_list" ? add_to_pe_list(action) : set_starter(action);
    }
    return {};
  }

private:
  Result<void> create_pe(const Action& action) {
    const auto file = "/tmp/slurm-shim-pe." + posix::random_hex(8);
    TRY(posix::write_file_atomic(file, action.bytes));
    auto args = action.qconf_args;
    args.push_back(file);
    auto changed = m_qconf.change(args);
    ::unlink(file.c_str());
    TRY(std::move(changed));
    TRY_ASSIGN(const auto pe, m_qconf.show("-sp", action.target));
    if (!pe) return not_taken("PE " + action.target, "");
    const auto wanted = ge::parse_attributes(action.bytes);
    for (const auto* key : {"start_proc_args", "allocation_rule", "control_slaves"})
      if (pe->get_or(key, "") != wanted.get_or(key, ""))
        return not_taken("PE " + action.target + " " + key, pe->get_or(key, ""));
    return {};
  }

  Result<void> remove_pe(const Action& action) {
    TRY(m_qconf.change(action.qconf_args));
    TRY_ASSIGN(const auto pe, m_qconf.show("-sp", action.target));
    if (pe) return not_taken("PE " + action.target, "still there");
    return {};
  }

  // Takes PEs out of a list, or sets a starter back.
  Result<void> unwire_queue(const Action& action) {
    TRY(m_qconf.change(action.qconf_args));
    TRY_ASSIGN(const auto value, read_queue_value(m_qconf, action.target, action.attribute));
    if (action.attribute != "pe_list") {
      if (value != action.new_value && !(action.new_value == "NONE" && value.empty()))
        return not_taken(action.target + " " + action.attribute, value);
      return {};
    }
    // A version that takes only one name per call.
    const auto present = ge::parse_name_list(value);
    for (const auto& name : action.names)
      if (std::find(present.begin(), present.end(), name) != present.end())
        TRY(m_qconf.change({"-dattr", "queue", "pe_list", name, action.target}));
    TRY_ASSIGN(const auto missing, missing_pes(action));
    if (missing.size() != action.names.size()) return not_taken(action.target + " pe_list", value);
    return {};
  }

  Result<void> modify_pe(const Action& action) {
    if (action.bytes.empty())
      TRY(m_qconf.change(action.qconf_args));
    else
      TRY(replace_pe(m_qconf, action.bytes));
    TRY_ASSIGN(const auto pe, m_qconf.show("-sp", action.target));
    const auto found = pe ? pe->get_or(action.attribute, "") : "";
    if (found != action.new_value)
      return not_taken("PE " + action.target + " " + action.attribute, found);
    return {};
  }

  Result<std::vector<std::string>> missing_pes(const Action& action) {
    TRY_ASSIGN(const auto value, read_queue_value(m_qconf, action.target, "pe_list"));
    const auto present = ge::parse_name_list(value);
    std::vector<std::string> missing;
    for (const auto& name : action.names)
      if (std::find(present.begin(), present.end(), name) == present.end()) missing.push_back(name);
    return missing;
  }

  Result<void> add_to_pe_list(const Action& action) {
    TRY(m_qconf.change(action.qconf_args));
    TRY_ASSIGN(const auto missing, missing_pes(action));
    // A version that takes only one name per call.
    for (const auto& name : missing)
      TRY(m_qconf.change({"-aattr", "queue", "pe_list", name, action.target}));
    if (missing.empty()) return {};
    TRY_ASSIGN(const auto still, missing_pes(action));
    if (!still.empty()) return not_taken(action.target + " pe_list " + still.front(), "");
    return {};
  }

  // A starter that cannot be executed puts the queue into error for everybody: try it first.
  Result<void> set_starter(const Action& action) {
    if (!m_tried) {
      TRY(try_files(action.new_value));
      TRY(m_verify());
      m_tried = true;
    }
    TRY(m_qconf.change(action.qconf_args));
    TRY_ASSIGN(const auto found, read_queue_value(m_qconf, action.target, "starter_method"));
    if (found != action.new_value) return not_taken(action.target + " starter_method", found);
    return {};
  }

  Result<void> try_files(const std::string& starter) {
    if (!posix::is_executable_file(starter))
      return fail(ErrorKind::not_found, starter + " is not an executable file");
    const auto prefix = posix::dir_name(posix::dir_name(starter));
    for (const auto& program : {prefix + "/bin/slurm-shim", prefix + "/bin/slurm-shim-env"}) {
      if (!posix::is_executable_file(program))
        return fail(ErrorKind::not_found, program + " is not an executable file");
    }
    posix::RunRequest request;
    request.argv = {prefix + "/bin/slurm-shim", "--version"};
    request.timeout = std::chrono::seconds(30);
    TRY_ASSIGN(const auto output, m_runner.run(request));
    if (output.status != 0 || !output.out.starts_with("slurm-shim "))
      return fail(ErrorKind::refused, request.argv[0] + " does not run here");
    return {};
  }

  const InstallFacts& m_facts;
  const ge::Qconf& m_qconf;
  posix::Runner& m_runner;
  std::function<Result<void>()> m_verify;
  bool m_tried = false;
};

std::string describe(const Action& action) {
  std::string text = action.op == Op::create   ? "created "
                     : action.op == Op::remove ? "removed "
                                               : "modified ";
  if (action.kind == Kind::queue && action.op == Op::remove) text = "modified ";
  text += action.target;
  if (!action.attribute.empty()) text += " " + action.attribute;
  if (action.attribute == "pe_list") text += " " + action.new_value;
  return text;
}

} // namespace

Applied apply_plan(const Plan& plan,
                   const InstallFacts& facts,
                   const InstallOptions& options,
                   const ge::Qconf& qconf,
                   const ge::Tools& tools,
                   posix::Runner& runner,
                   const std::function<void(const std::string&)>& say,
                   const std::function<void(const std::string&)>& warn) {
  Applier applier(facts, qconf, runner, [&]() -> Result<void> {
    if (options.trust_shared) return {};
    return verify_on_hosts(facts, options, tools, say, warn);
  });
  Journal journal(facts, qconf);
  Applied applied;
  for (const auto& action : plan.actions) {
    if (!action.changes()) {
      ++applied.done;
      continue;
    }
    auto kept = options.uninstall ? Result<void>{} : journal.before(action);
    auto result = kept ? applier.apply(action) : std::move(kept);
    if (!result) {
      applied.error = std::move(result).error();
      // What was removed stays removed: a second run goes on where this one stopped.
      applied.undo = journal.roll_back();
      if (!options.uninstall && applied.undo.left.empty()) applied.done = 0;
      return applied;
    }
    say(describe(action));
    ++applied.done;
  }
  return applied;
}

} // namespace shim::commands::admin
