#include "requests.h"

#include "slurm_shim/base/strings.h"

namespace shim::history {

std::string requested(std::string_view category, std::string_view complex) {
  bool list = false;
  for (const auto word : split_words(category)) {
    if (!list) {
      list = word == "-l";
      continue;
    }
    list = false;
    for (const auto item : split(word, ',')) {
      const auto equals = item.find('=');
      if (equals != std::string_view::npos && item.substr(0, equals) == complex)
        return std::string(item.substr(equals + 1));
    }
  }
  return {};
}

std::int64_t duration_of(std::string_view text) {
  std::int64_t seconds = 0;
  for (const auto part : split(text, ':')) {
    const auto number = parse_int<std::uint32_t>(part);
    if (!number) return 0;
    seconds = seconds * 60 + *number;
  }
  return seconds;
}

} // namespace shim::history
