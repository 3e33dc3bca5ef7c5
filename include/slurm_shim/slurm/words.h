#pragma once
// Options whose value is a word out of a set, and --export. Pure. vectors/03 geo.*, misc.*,
// dep.kill*

#include "slurm_shim/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim::slurm {

// A text as Slurm prints it: "(null)" where it is not set.
[[nodiscard]] inline std::string or_null(std::string text) {
  return text.empty() ? "(null)" : std::move(text);
}

// --open-mode: append, truncate or a first part of them. 255: "Invalid --open-mode specification".
enum class OpenMode { append, truncate };
[[nodiscard]] Result<OpenMode> parse_open_mode(std::string_view text);

// --kill-on-invalid-dep yes|no. 255: "Invalid --kill-on-invalid-dep specification".
[[nodiscard]] Result<bool> parse_yes_no(std::string_view text, std::string_view option);

// --exclusive[=user|mcs]. 255: "Invalid --exclusive specification".
enum class Exclusive { node, user, mcs };
[[nodiscard]] Result<Exclusive> parse_exclusive(std::optional<std::string_view> text);

// --hint. exit 1: `unrecognized --hint argument "bogus", see --hint=help`. "help" is the caller's:
// it prints hint_help() on stdout and exits 1.
[[nodiscard]] Result<void> check_hint(std::string_view text);
[[nodiscard]] std::string_view hint_help();

// --profile: none, all, or a list of energy,task,lustre,network,filesystem. 255: "invalid
// --profile=bogus option".
[[nodiscard]] Result<void> check_profile(std::string_view text);

// --propagate[=ALL|NONE|names]. exit 1, two lines: "Bad rlimit name: X" and "--propagate=X is not
// valid." (each is printed with the prefix).
[[nodiscard]] Result<void> check_propagate(std::string_view text);

// --mail-type. 255: "Invalid --mail-type specification".
struct MailTypes {
  bool begin = false, end = false, fail = false, requeue = false, stage_out = false;
  bool invalid_depend = false, time_limit = false, time_limit_90 = false, time_limit_80 = false;
  bool time_limit_50 = false, array_tasks = false;
  [[nodiscard]] bool any() const {
    return begin || end || fail || requeue || stage_out || invalid_depend || time_limit ||
           time_limit_90 || time_limit_80 || time_limit_50;
  }
};
[[nodiscard]] Result<MailTypes> parse_mail_types(std::string_view text);
// Names in Slurm's order: "INVALID_DEPEND,BEGIN,END,FAIL,REQUEUE,STAGE_OUT".
[[nodiscard]] std::string format_mail_types(const MailTypes& types);

// --export: ALL, NONE, NIL, NAME, NAME=value, comma-separated; a value may be quoted ('..' or "..")
// and then hold commas. Error (usage, exit 255): `Invalid --export specification`.
struct ExportSpec {
  bool all = true;   // the caller's environment travels (ALL in the list, or no --export)
  bool none = false; // NONE or NIL alone
  std::vector<std::string> names;                            // NAME: the caller's value
  std::vector<std::pair<std::string, std::string>> settings; // NAME=value, in order
};
[[nodiscard]] Result<ExportSpec> parse_export(std::string_view text);

} // namespace shim::slurm
