#include "slurm_shim/submit/script.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>

namespace shim::submit {

std::string shell_for_queue(std::string_view text) {
  const auto line = text.substr(0, text.find('\n'));
  const auto words = split_words(line.substr(std::min<std::size_t>(2, line.size())));
  if (words.size() == 1 && words[0].starts_with('/')) return std::string(words[0]);
  return "/usr/bin/env";
}

} // namespace shim::submit
