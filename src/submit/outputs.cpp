#include "outputs.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <fmt/core.h>

namespace shim::submit {

namespace {

// "" = unknown to the engine.
std::string_view engine_word(char verb) {
  switch (verb) {
  case 'j':
  case 'A': return "$JOB_ID";
  case 'a': return "$TASK_ID";
  case 'x': return "$JOB_NAME";
  case 'u': return "$USER";
  case 'N': return "$HOSTNAME";
  case 'n':
  case 't': return "0";
  case '%': return "%";
  default: return "";
  }
}

} // namespace

EnginePath engine_path(std::string_view pattern, const std::string& directory) {
  EnginePath result;
  if (pattern == "/dev/null") {
    result.path = "/dev/null";
    return result;
  }
  std::string path;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%' || at + 1 == pattern.size()) {
      path += pattern[at];
      continue;
    }
    std::size_t verb = at + 1;
    while (verb + 1 < pattern.size() && is_digits(pattern.substr(verb, 1)))
      ++verb;
    const auto word = engine_word(pattern[verb]);
    const auto whole = pattern.substr(at, verb - at + 1);
    if (word.empty() || (whole.size() > 2 && pattern[verb] != '%'))
      result.warnings.push_back(fmt::format("the engine cannot write {} into a file name", whole));
    path += word.empty() ? whole : word;
    at = verb;
  }
  // host:path is the engine's syntax: a leading colon keeps colons of the path what they are.
  result.path = ":" + posix::absolute(path, directory);
  return result;
}

} // namespace shim::submit
