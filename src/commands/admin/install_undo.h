#pragma once
// Takes back what an installation has done before it failed, newest first: files and links as they
// were, Grid Engine's objects as they were. Spec install-doctor-ports 1.4.

#include "install_plan.h"

#include "slurm_shim/ge/qconf.h"

#include <optional>
#include <string>
#include <vector>

namespace shim::commands::admin {

class Journal {
public:
  Journal(const InstallFacts& facts, const ge::Qconf& qconf) : m_facts(facts), m_qconf(qconf) {}

  // Before the action: keeps what it is going to replace.
  [[nodiscard]] Result<void> before(const Action& action);
  // Lines for people: what was taken back, and commands for what could not be.
  struct Report {
    std::vector<std::string> undone, left;
  };
  [[nodiscard]] Report roll_back();

private:
  struct Entry {
    const Action* action = nullptr;
    std::optional<std::string> bytes; // of a file that was there
    unsigned mode = 0;
    std::string link_target; // of a link that was there
    std::vector<std::string> made_folders;
  };
  [[nodiscard]] Result<void> undo(const Entry& entry);
  [[nodiscard]] static Result<void> restore_file(const Entry& entry);
  [[nodiscard]] Result<void> remove_pe(const Action& action);
  [[nodiscard]] Result<void> unwire_queue(const Action& action);

  const InstallFacts& m_facts;
  const ge::Qconf& m_qconf;
  std::vector<Entry> m_entries;
};

// The command that takes an action back.
[[nodiscard]] std::string undo_command(const Action& action);

// The value of a cluster queue or of one of its parts: "all.q" or "all.q@host".
[[nodiscard]] Result<std::string>
read_queue_value(const ge::Qconf& qconf, const std::string& object, const std::string& attribute);

// `qconf -Mp` of a whole PE.
[[nodiscard]] Result<void> replace_pe(const ge::Qconf& qconf, const std::string& text);

} // namespace shim::commands::admin
