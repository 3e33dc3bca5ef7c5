#pragma once
// The plan of an installation: what is there stays, what is missing is made, what belongs to the
// site blocks. Pure: facts in, actions out. Spec install-doctor-ports 1.2 to 1.4, decisions E7, 24.

#include "install_facts.h"

#include <string>
#include <vector>

namespace shim::commands::admin {

struct Action {
  enum class Op { create, modify, remove, keep, blocked } op = Op::keep;
  enum class Kind { file, link, config, pe, queue } kind = Kind::file;
  std::string target;    // path, PE or queue
  std::string attribute; // of a PE or queue
  std::string old_value, new_value;
  std::string reason;                  // of blocked and keep
  std::vector<std::string> qconf_args; // PE and queue; a PE's file name is filled in by apply
  std::string bytes;                   // file, config: contents; PE: the object's file
  unsigned mode = 0644;
  bool copies_self = false;
  std::vector<std::string> names; // pe_list: the PEs to add
  std::vector<std::string> undo;  // qconf arguments that take it back; files: rm
  [[nodiscard]] bool changes() const {
    return op == Op::create || op == Op::modify || op == Op::remove;
  }
};

struct Manifest; // install_manifest.h

struct Plan {
  std::vector<Action> actions; // in order of execution, starter_method last
  std::vector<std::string> notes;
  [[nodiscard]] std::size_t count(Action::Op op) const;
  [[nodiscard]] bool changes_anything() const;
};

[[nodiscard]] Plan make_plan(const InstallFacts& facts,
                             const InstallOptions& options,
                             const std::vector<std::string>& links);

// The reverse, by what the manifest says was made: what is the site's, or was changed since, stays.
// `sums`: SHA-256 of the manifest's files as they are. With --queue: only these queues are unwired.
[[nodiscard]] Plan make_uninstall_plan(const InstallFacts& facts,
                                       const InstallOptions& options,
                                       const Manifest& manifest,
                                       const std::map<std::string, std::string>& sums);

// The PE as a file for `qconf -Ap`: the attributes of this engine's version, ours set.
[[nodiscard]] std::string pe_file(const InstallFacts& facts,
                                  const std::string& name,
                                  const std::string& rule,
                                  const std::string& hook);

// config.yaml for this cluster: one partition per queue, the first is the default.
[[nodiscard]] std::string generate_config(const InstallFacts& facts, const InstallOptions& options);

} // namespace shim::commands::admin
