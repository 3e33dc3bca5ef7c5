#pragma once
// May other users of this host walk to the execution daemon's job folders? The engine writes the
// environment of a remote task there, the step token in it. Spec install-doctor-ports 2, C17.

#include <string>

namespace shim::commands::doctor {

struct SpoolFinding {
  enum class State { closed, open, unknown } state = State::unknown;
  std::string text; // the component that decides, or why nothing is known
};

// Walks every component of an absolute path, links component by component: the first folder
// without x for others (and without an ACL entry that gives it) closes it.
[[nodiscard]] SpoolFinding walk_spool(const std::string& path);

} // namespace shim::commands::doctor
