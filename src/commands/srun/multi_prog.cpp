#include "multi_prog.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace shim::commands::srun {

namespace {

using Command = std::vector<std::string>;

// A line of the file, continuations joined.
struct Line {
  int number = 0;
  std::string text;
};

std::vector<Line> join_lines(std::string_view text) {
  std::vector<Line> lines;
  int number = 0;
  bool continues = false;
  for (auto piece : split(text, '\n')) {
    ++number;
    if (!continues) lines.push_back({number, {}});
    continues = piece.ends_with('\\');
    if (continues) piece.remove_suffix(1);
    lines.back().text += piece;
  }
  return lines;
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const auto closing = c == '\'' ? line.find('\'', i + 1) : std::string_view::npos;
    if (c == ' ' || c == '\t' || c == '\r') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (closing == std::string_view::npos) {
      words.back() += c;
    } else {
      words.back() += line.substr(i + 1, closing - i - 1);
      i = closing;
    }
  }
  return words;
}

std::string expand(std::string_view word, int task, int offset) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char next = word[i] == '%' && i + 1 < word.size() ? word[i + 1] : '\0';
    if (next != 't' && next != 'o') {
      out += word[i];
      continue;
    }
    out += std::to_string(next == 't' ? task : offset);
    ++i;
  }
  return out;
}

// "0,2-5"; nothing when it is no list of numbers.
std::optional<std::vector<int>> parse_tasks(std::string_view text) {
  std::vector<int> tasks;
  for (const auto part : split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = parse_int<int>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_int<int>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) return std::nullopt;
    constexpr int k_most = 1 << 20; // far above any step
    if (*last - *first >= k_most) return std::nullopt;
    for (int task = *first; task <= *last; ++task)
      tasks.push_back(task);
  }
  return tasks;
}

class Programs {
public:
  Programs(int ntasks, const Command& extra)
      : m_commands(static_cast<std::size_t>(ntasks)), m_extra(extra) {}

  // A text is what Slurm says of the line before it calls it invalid.
  Result<void> add(const Command& words) {
    if (words[0] == "*") {
      m_rest = words;
      return {};
    }
    const auto tasks = parse_tasks(words[0]);
    if (!tasks || words.size() < 2) return fail(ErrorKind::usage, "");
    const int highest = *std::max_element(tasks->begin(), tasks->end());
    if (highest >= static_cast<int>(m_commands.size()))
      return fail(ErrorKind::usage, fmt::format("Invalid task id, {} >= ntasks\n", highest));
    int offset = 0;
    for (const int task : *tasks) {
      if (!m_commands[static_cast<std::size_t>(task)].empty())
        return fail(ErrorKind::usage, fmt::format("Duplicate record for task {}\n", task));
      set(task, words, offset++);
    }
    return {};
  }

  // Gives the tasks that are left to the line of `*`. The first one without a program, or -1.
  int finish() {
    for (int task = 0; task < static_cast<int>(m_commands.size()); ++task) {
      if (!m_commands[static_cast<std::size_t>(task)].empty()) continue;
      if (m_rest.size() < 2) return task;
      set(task, m_rest, task);
    }
    return -1;
  }
  std::vector<Command> take() && { return std::move(m_commands); }

private:
  void set(int task, const Command& words, int offset) {
    auto& command = m_commands[static_cast<std::size_t>(task)];
    for (std::size_t i = 1; i < words.size(); ++i)
      command.push_back(expand(words[i], task, offset));
    command.insert(command.end(), m_extra.begin(), m_extra.end());
  }

  std::vector<Command> m_commands;
  const Command& m_extra;
  Command m_rest;
};

} // namespace

Result<std::vector<Command>>
parse_multi_prog(std::string_view text, const std::string& file, int ntasks, const Command& extra) {
  Programs programs(ntasks, extra);
  for (const auto& line : join_lines(text)) {
    const auto words = words_of(line.text);
    if (words.empty() || words[0].starts_with('#')) continue;
    if (auto added = programs.add(words); !added)
      return fail(ErrorKind::usage,
                  added.error().message +
                      fmt::format("Line {} of configuration file {} invalid", line.number, file));
  }
  if (const int task = programs.finish(); task >= 0)
    return fail(ErrorKind::usage,
                fmt::format("Configuration file {} invalid, no record for task id {}", file, task));
  return std::move(programs).take();
}

Result<std::vector<Command>> read_multi_prog(const Command& command, int ntasks) {
  const auto& file = command.at(0);
  const auto text = posix::read_file(file);
  if (!text) return fail(ErrorKind::usage, "Could not open multi_prog config file " + file);
  return parse_multi_prog(*text, file, ntasks, {command.begin() + 1, command.end()});
}

} // namespace shim::commands::srun
