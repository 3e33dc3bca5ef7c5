#include "install_apply.h"

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

constexpr std::size_t k_max_binary = std::size_t{1} << 30;

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

tl::unexpected<Error> not_taken(const std::string& what, const std::string& found) {
  return fail(ErrorKind::refused,
              what + ": qconf reported success, but the value read back is " +
                  (found.empty() ? "missing" : found));
}

// A cluster queue's or queue instance's value: "all.q" or "all.q@host".
Result<std::string>
read_queue_value(const ge::Qconf& qconf, const std::string& object, const std::string& attribute) {
  const auto at = object.find('@');
  const auto queue_name = object.substr(0, at);
  TRY_ASSIGN(const auto queue, qconf.show("-sq", queue_name));
  if (!queue) return fail(ErrorKind::not_found, "queue " + queue_name + " is gone");
  const auto value = ge::parse_host_value(queue->get_or(attribute, ""));
  if (at == std::string::npos) return value.fallback;
  for (const auto& [host, text] : value.overrides)
    if (host == object.substr(at + 1)) return text;
  return std::string{};
}

class Applier {
public:
  Applier(const InstallFacts& facts, const ge::Qconf& qconf, posix::Runner& runner)
      : m_facts(facts), m_qconf(qconf), m_runner(runner) {}

  Result<void> apply(const Action& action) {
    switch (action.kind) {
    case Kind::file:
    case Kind::config: return write_file(action, m_facts);
    case Kind::link: return make_link(action);
    case Kind::pe: return action.op == Op::create ? create_pe(action) : modify_pe(action);
    case Kind::queue:
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

  Result<void> modify_pe(const Action& action) {
    TRY(m_qconf.change(action.qconf_args));
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
  bool m_tried = false;
};

std::string describe(const Action& action) {
  std::string text = action.op == Op::create ? "created " : "modified ";
  text += action.target;
  if (!action.attribute.empty()) text += " " + action.attribute;
  if (action.attribute == "pe_list") text += " " + action.new_value;
  return text;
}

} // namespace

Applied apply_plan(const Plan& plan,
                   const InstallFacts& facts,
                   const InstallOptions& /*options*/,
                   const ge::Qconf& qconf,
                   posix::Runner& runner,
                   const std::function<void(const std::string&)>& say) {
  Applier applier(facts, qconf, runner);
  Applied applied;
  for (const auto& action : plan.actions) {
    if (action.op == Op::create || action.op == Op::modify) {
      if (auto result = applier.apply(action); !result) {
        applied.error = std::move(result).error();
        return applied;
      }
      say(describe(action));
    }
    ++applied.done;
  }
  return applied;
}

} // namespace shim::commands::admin
