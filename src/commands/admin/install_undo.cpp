#include "install_undo.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>
#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

namespace shim::commands::admin {

namespace {

using Op = Action::Op;
using Kind = Action::Kind;

constexpr std::size_t k_max_file = std::size_t{1} << 30;

bool is_file(const Action& action) {
  return action.kind == Kind::file || action.kind == Kind::link || action.kind == Kind::config;
}

// Folders on the way to `path` that are not there, outermost first.
std::vector<std::string> missing_folders(const std::string& path) {
  std::vector<std::string> folders;
  for (auto folder = posix::dir_name(path); folder != "/" && !posix::exists(folder);
       folder = posix::dir_name(folder))
    folders.insert(folders.begin(), folder);
  return folders;
}

} // namespace

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

Result<void> replace_pe(const ge::Qconf& qconf, const std::string& text) {
  const auto file = "/tmp/slurm-shim-pe." + posix::random_hex(8);
  TRY(posix::write_file_atomic(file, text));
  auto changed = qconf.change({"-Mp", file});
  ::unlink(file.c_str());
  return changed;
}

std::string undo_command(const Action& action) {
  if (is_file(action)) return action.op == Op::create ? "rm " + action.target : "";
  if (action.undo.empty()) return "";
  auto text = "qconf " + join(action.undo, " ");
  if (action.undo.front() == "-mp")
    text += "   # and set " + action.attribute + " to " + action.old_value;
  return text;
}

Result<void> Journal::before(const Action& action) {
  Entry entry;
  entry.action = &action;
  if (is_file(action)) {
    struct stat info {};
    if (::lstat(action.target.c_str(), &info) == 0) {
      if (S_ISLNK(info.st_mode)) {
        char target[4096];
        const auto size = ::readlink(action.target.c_str(), target, sizeof target);
        if (size <= 0) return fail_errno(action.target, errno);
        entry.link_target.assign(target, static_cast<std::size_t>(size));
      } else {
        TRY_ASSIGN(entry.bytes, posix::read_file(action.target, k_max_file));
        entry.mode = info.st_mode & 07777;
      }
    }
    entry.made_folders = missing_folders(action.target);
  }
  m_entries.push_back(std::move(entry));
  return {};
}

Result<void> Journal::restore_file(const Entry& entry) {
  const auto& path = entry.action->target;
  if (entry.bytes) return posix::write_file_atomic(path, *entry.bytes, entry.mode);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno(path, errno);
  if (!entry.link_target.empty() && ::symlink(entry.link_target.c_str(), path.c_str()) != 0)
    return fail_errno(path, errno);
  for (auto folder = entry.made_folders.rbegin(); folder != entry.made_folders.rend(); ++folder)
    ::rmdir(folder->c_str()); // what is not empty stays
  return {};
}

Result<void> Journal::undo(const Entry& entry) {
  const auto& action = *entry.action;
  if (is_file(action)) return restore_file(entry);
  if (action.kind == Kind::pe && action.op == Op::modify) {
    const auto pe = m_facts.pes.find(action.target);
    if (pe != m_facts.pes.end()) return replace_pe(m_qconf, pe->second.text());
  }
  if (action.kind == Kind::pe) return remove_pe(action);
  return unwire_queue(action);
}

// Only the one that was made: what somebody else made of that name in the meantime is theirs.
Result<void> Journal::remove_pe(const Action& action) {
  TRY_ASSIGN(const auto pe, m_qconf.show("-sp", action.target));
  const auto made = ge::parse_attributes(action.bytes);
  if (!pe || pe->get_or("start_proc_args", "") != made.get_or("start_proc_args", "")) return {};
  return m_qconf.change(action.undo);
}

// The action may have failed before, in, or after its change.
Result<void> Journal::unwire_queue(const Action& action) {
  if (action.undo.empty()) return {};
  TRY_ASSIGN(const auto value, read_queue_value(m_qconf, action.target, action.attribute));
  if (action.attribute != "pe_list")
    return value == action.new_value ? m_qconf.change(action.undo) : Result<void>{};
  const auto present = ge::parse_name_list(value);
  for (const auto& name : action.names)
    if (std::find(present.begin(), present.end(), name) != present.end())
      TRY(m_qconf.change({"-dattr", "queue", "pe_list", name, action.target}));
  return {};
}

Journal::Report Journal::roll_back() {
  Report report;
  // A queue whose starter is gone goes into error state with the next job: while an object of the
  // engine may still name our files, these stay.
  bool is_wired = false;
  for (auto entry = m_entries.rbegin(); entry != m_entries.rend(); ++entry) {
    const auto& action = *entry->action;
    const auto command = undo_command(action);
    auto text = action.target + (action.attribute.empty() ? "" : " " + action.attribute);
    const bool is_object = action.kind == Kind::pe || action.kind == Kind::queue;
    const Result<void> undone =
        is_wired && !is_object
            ? Result<void>(fail(ErrorKind::refused, "not before the commands above"))
            : undo(*entry);
    if (undone) {
      report.undone.push_back(std::move(text));
      continue;
    }
    is_wired = is_wired || is_object;
    report.left.push_back((command.empty() ? "# " + text : command) + "   # " +
                          undone.error().message);
  }
  m_entries.clear();
  return report;
}

} // namespace shim::commands::admin
