#include "slurm_shim/launch/preflight.h"

#include "slurm_shim/base/strings.h"

namespace shim::launch {

std::optional<bool> parse_control_slaves(std::string_view qconf_output) {
  for (const auto line : split(qconf_output, '\n')) {
    const auto words = split_words(line);
    if (words.size() >= 2 && words[0] == "control_slaves")
      return equals_ignore_case(words[1], "true");
  }
  return std::nullopt;
}

std::string ask_preflight(const ge::Tools& tools, const std::string& pe_name) {
  const auto answer = tools.run({"qconf", {"-sp", pe_name}});
  if (!answer) return "unknown " + answer.error().message;
  if (answer->status != 0) {
    const auto said = trim(answer->err.empty() ? answer->out : answer->err);
    return "unknown qconf -sp " + pe_name + ": " + std::string(said.substr(0, said.find('\n')));
  }
  const auto allowed = parse_control_slaves(answer->out);
  if (!allowed) return "unknown qconf -sp " + pe_name + ": no control_slaves line";
  return *allowed ? "TRUE" : "FALSE";
}

PreflightVerdict judge_preflight(std::string_view answer, const std::string& pe_name) {
  if (answer == "TRUE") return {};
  if (answer == "FALSE")
    return {false,
            "parallel environment \"" + pe_name +
                "\" has control_slaves FALSE: no tasks can be started on other hosts",
            {}};
  const auto reason = answer.substr(answer.find(' ') + 1);
  return {
      true, {}, "cannot check parallel environment \"" + pe_name + "\": " + std::string(reason)};
}

} // namespace shim::launch
