#pragma once
// Grid Engine's configuration objects: reading (qconf -s*), their texts as plain structs, and the
// few changes `slurm-shim install` makes. Owns qconf's formats of 8.1.9 and 9.x; knows nothing of
// what is to be installed. Spec ge-commands 6.

#include "slurm_shim/base/result.h"
#include "slurm_shim/ge/tools.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim::ge {

// `key value` lines in their order; values without the blanks around them.
class Attributes {
public:
  [[nodiscard]] std::optional<std::string_view> get(std::string_view key) const;
  [[nodiscard]] std::string get_or(std::string_view key, std::string_view fallback) const;
  void set(std::string_view key, std::string_view value); // in place, else appended
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& entries() const {
    return m_entries;
  }
  // The file form that qconf -A* reads.
  [[nodiscard]] std::string text() const;

private:
  std::vector<std::pair<std::string, std::string>> m_entries;
};
// Joins lines that end in a backslash; skips comments and empty lines.
[[nodiscard]] Attributes parse_attributes(std::string_view text);

// A queue's value with its parts for hosts and host groups: "NONE,[node1=/x],[@big=/y]".
struct HostValue {
  std::string fallback;
  std::vector<std::pair<std::string, std::string>> overrides; // host or @group -> value
};
[[nodiscard]] HostValue parse_host_value(std::string_view text);
// Grid Engine's word for "nothing there", or nothing.
[[nodiscard]] bool is_none(std::string_view value);
// "a b,c" -> a, b, c; NONE -> nothing.
[[nodiscard]] std::vector<std::string> parse_name_list(std::string_view text);

struct Complex {
  std::string name, shortcut, type, relop, requestable, consumable, default_value, urgency;
};
[[nodiscard]] std::vector<Complex> parse_complexes(std::string_view table);

// The value of a complex in a list of complex_values: "slots=4,gpu=2(0 1)" -> 2 for gpu.
[[nodiscard]] std::optional<double> complex_value(std::string_view values, std::string_view name);

class Qconf {
public:
  explicit Qconf(const Tools& tools) : m_tools(tools) {}

  // One name a line: `-spl`, `-sql`, `-sm`, `-sh`, `-sel`. Empty when qconf says that there is
  // none.
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& option) const;
  // `-sp NAME`, `-sq NAME`; nothing when there is no such object.
  [[nodiscard]] Result<std::optional<Attributes>> show(const std::string& option,
                                                       const std::string& name) const;
  // What these hosts have of a consumable, from their complex_values (`-se HOST` of each, in one
  // call for many). Hosts without a value are left out.
  [[nodiscard]] Result<std::map<std::string, double>>
  host_capacities(const std::vector<std::string>& hosts, std::string_view complex) const;
  [[nodiscard]] Result<Attributes> configuration() const;       // -sconf
  [[nodiscard]] Result<std::vector<Complex>> complexes() const; // -sc
  // First line of `qstat -help`: "SGE 8.1.9", "OCS 9.1.5".
  [[nodiscard]] Result<std::string> engine_version() const;
  // `qsub -help` lists -par (OCS 9.1.1 and later).
  [[nodiscard]] Result<bool> knows_par() const;
  // Any other call; a non-zero exit is an Error (refused) with what qconf said. Old versions end
  // with 0 on errors: read back what was changed.
  [[nodiscard]] Result<void> change(const std::vector<std::string>& args) const;

private:
  const Tools& m_tools;
};

} // namespace shim::ge
