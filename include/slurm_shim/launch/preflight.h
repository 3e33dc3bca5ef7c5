#pragma once
// Before the first remote stepper: does the job's parallel environment allow `qrsh -inherit` at
// all? The answer is kept by the caller (records::write_preflight): one qconf per job, not per
// step. Spec launch 1 step 11, decision 12.

#include "slurm_shim/ge/tools.h"

#include <optional>
#include <string>
#include <string_view>

namespace shim::launch {

// control_slaves of `qconf -sp` output; nothing when there is no such line.
[[nodiscard]] std::optional<bool> parse_control_slaves(std::string_view qconf_output);

// "TRUE", "FALSE", or "unknown <reason>" when qconf is absent, too slow or refused: the form that
// the job's folder keeps.
[[nodiscard]] std::string ask_preflight(const ge::Tools& tools, const std::string& pe_name);

struct PreflightVerdict {
  bool ok = true;
  std::string error;   // ok is false
  std::string warning; // go on, but say this
};
[[nodiscard]] PreflightVerdict judge_preflight(std::string_view answer, const std::string& pe_name);

} // namespace shim::launch
