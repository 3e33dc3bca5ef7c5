#include "engine_defaults.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace shim::submit {

namespace {

constexpr std::size_t k_max_file = std::size_t{1} << 20;

} // namespace

std::vector<std::string> request_file_words(std::string_view text) {
  std::vector<std::string> words;
  for (const auto line : split(text, '\n')) {
    std::string word;
    char quote = 0;
    bool open = false;
    for (const char c : line) {
      if (quote != 0) {
        if (c == quote)
          quote = 0;
        else
          word += c;
      } else if (c == '"' || c == '\'') {
        quote = c;
        open = true;
      } else if (c == '#' && !open) {
        break;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        if (open) words.push_back(std::exchange(word, ""));
        open = false;
      } else {
        word += c;
        open = true;
      }
    }
    if (open) words.push_back(std::move(word));
  }
  return words;
}

std::vector<std::string>
standing_defaults(const std::vector<std::pair<std::string, std::string>>& files,
                  const std::vector<std::pair<std::string, std::string>>& resources) {
  std::vector<std::string> texts;
  for (const auto& [file, content] : files) {
    const auto words = request_file_words(content);
    for (std::size_t at = 0; at < words.size(); ++at) {
      const auto& option = words[at];
      if (option == "-notify" || option == "-soft" || option == "-h")
        texts.push_back(fmt::format("{} adds {} to the job", file, option));
      if (at + 1 == words.size()) continue;
      if (option == "-hold_jid" || option == "-hold_jid_ad" || option == "-masterq")
        texts.push_back(fmt::format("{} adds {} {} to the job", file, option, words[at + 1]));
      if (option != "-l") continue;
      for (const auto item : split(words[at + 1], ',')) {
        const auto name = item.substr(0, item.find('='));
        const bool replaced =
            std::ranges::any_of(resources, [&](const auto& pair) { return pair.first == name; });
        if (!replaced && !name.empty())
          texts.push_back(fmt::format("{} adds -l {} to the job", file, item));
      }
    }
  }
  return texts;
}

std::vector<std::pair<std::string, std::string>> read_request_files(const EnvList& env,
                                                                    const std::string& directory) {
  std::vector<std::pair<std::string, std::string>> files;
  const auto home = env.get_or("HOME", "");
  for (const auto& folder : {home, directory}) {
    const auto path = folder + "/.sge_request";
    const bool seen = !files.empty() && files.front().first == path;
    if (folder.empty() || seen) continue;
    if (auto text = posix::read_file(path, k_max_file)) files.emplace_back(path, std::move(*text));
  }
  return files;
}

} // namespace shim::submit
