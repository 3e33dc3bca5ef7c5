#include "probe.h"

#include "slurm_shim/base/strings.h"

namespace shim::commands::doctor {

namespace {

constexpr std::string_view k_job = "slurm-shim-probe job";
constexpr std::string_view k_ranks = "slurm-shim-probe ranks";
constexpr std::string_view k_code = "slurm-shim-probe code ";
constexpr std::string_view k_end = "slurm-shim-probe end";

void set_variable(std::map<std::string, std::string>& out, std::string_view line) {
  if (const auto equals = line.find('='); equals != std::string_view::npos)
    out[std::string(line.substr(0, equals))] = std::string(line.substr(equals + 1));
}

} // namespace

std::string probe_script(const std::string& bin) {
  return "#!/bin/bash\n"
         "echo '" +
         std::string(k_job) +
         "'\n"
         "env | grep -E '^SLURM_'\n"
         "echo '" +
         std::string(k_ranks) + "'\n" + bin +
         "/srun --label bash -c 'echo HOST=$(uname -n); env | grep -E "
         "\"^(SLURM_|CUDA_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES)\"'\n" +
         bin +
         "/srun bash -c 'exit 3' 2>/dev/null\n" // its report of that is no line of a rank
         "echo \"" +
         std::string(k_code) +
         "$?\"\n"
         "echo '" +
         std::string(k_end) +
         "'\n"
         "exit 3\n";
}

ProbeOutput parse_probe_output(std::string_view text) {
  ProbeOutput out;
  enum class Part { before, job, ranks, after } part = Part::before;
  for (const auto line : split(text, '\n')) {
    if (line == k_job) {
      out.began = true;
      part = Part::job;
    } else if (line == k_ranks) {
      part = Part::ranks;
    } else if (line.starts_with(k_code)) {
      out.exit_code = line.substr(k_code.size());
      part = Part::after;
    } else if (line == k_end) {
      out.ended = true;
    } else if (part == Part::job) {
      set_variable(out.job, line);
    } else if (part == Part::ranks && !line.empty()) {
      const auto colon = line.find(": ");
      const auto rank = parse_int<int>(trim(line.substr(0, colon)));
      if (colon == std::string_view::npos || !rank)
        out.strange.emplace_back(line);
      else
        set_variable(out.ranks[*rank], line.substr(colon + 2));
    }
  }
  return out;
}

} // namespace shim::commands::doctor
