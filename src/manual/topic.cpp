#include "slurm_shim/manual/topic.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/context/context.h"

#include <algorithm>

namespace shim::manual {

namespace {

constexpr std::string_view k_usage = "Usage: ";

bool is_option_line(std::string_view line) {
  return line.starts_with("  ") && trim(line).starts_with('-');
}

// "-h,--help", "--prefix TEXT", "--queue TEXT ..." and what follows two blanks.
cli::Option option_of(std::string_view line) {
  line = trim(line);
  const auto gap = line.find("  ");
  cli::Option row;
  row.help = gap == std::string_view::npos ? std::string_view{} : trim(line.substr(gap));
  auto names = line.substr(0, gap);
  if (!names.starts_with("--")) {
    row.letter = names[1];
    names = names.substr(std::min(names.find("--"), names.size()));
  }
  const auto blank = std::min(names.find(' '), names.size());
  row.name = names.substr(std::min<std::size_t>(2, blank), blank - 2);
  row.metavar = trim(names.substr(blank));
  if (row.metavar.ends_with(" ...")) row.metavar.remove_suffix(4);
  row.arity = row.metavar.empty() ? cli::Arity::none : cli::Arity::required;
  return row;
}

// "  show hostnames [LIST]    the hosts" or "  prune   remove": words before brackets and capitals.
void add_subcommands(std::vector<Subcommand>& out, std::string_view line) {
  line = trim(line);
  const auto gap = line.find("  ");
  const auto help = gap == std::string_view::npos ? std::string_view{} : trim(line.substr(gap));
  out.push_back({line.substr(0, gap), help});
}

void drop_outer_blank_lines(std::vector<std::string_view>& lines) {
  while (!lines.empty() && lines.back().empty())
    lines.pop_back();
  while (!lines.empty() && lines.front().empty())
    lines.erase(lines.begin());
}

// The parts of a help text that no option table stands behind.
class Reader {
public:
  explicit Reader(Topic& topic) : m_topic(topic) {}

  void take(std::string_view line) {
    if (line == "Options:" || line == "Subcommands:" || line == "Commands:") {
      m_part = line;
    } else if (m_topic.synopsis.empty() && line.starts_with(k_usage)) {
      m_topic.synopsis = line.substr(k_usage.size());
    } else if (is_option_line(line) && m_part != "Commands:") {
      m_topic.options.push_back(option_of(line));
      m_part = "Options:";
    } else if ((m_part == "Subcommands:" || m_part == "Commands:") && line.starts_with("  ")) {
      take_subcommand(line);
    } else if (m_part == "Options:" && line.starts_with(' ') && !m_topic.options.empty()) {
      m_topic.options.back().help = joined(m_topic.options.back().help, line);
    } else {
      auto& part = m_topic.options.empty() ? m_topic.description : m_topic.epilogue;
      part.push_back(line);
    }
  }

private:
  void take_subcommand(std::string_view line) {
    const bool goes_on = line.starts_with("     ") && !m_topic.subcommands.empty();
    if (!goes_on) return add_subcommands(m_topic.subcommands, line);
    m_topic.subcommands.back().help = joined(m_topic.subcommands.back().help, line);
  }

  // Both lie in one text: one view over both and the line break between.
  static std::string_view joined(std::string_view first, std::string_view line) {
    const auto rest = trim(line);
    if (first.empty()) return rest;
    return {first.data(), static_cast<std::size_t>(rest.data() + rest.size() - first.data())};
  }

  Topic& m_topic;
  std::string_view m_part;
};

} // namespace

Result<Topic> parse_topic(const app::Command& command, std::string help) {
  Topic topic;
  const bool own_name = command.kind == app::Kind::user || !command.link.empty();
  const std::string called{command.link.empty() ? command.name : command.link};
  topic.name = own_name ? called : "slurm-shim " + called;
  topic.page = own_name ? called : "slurm-shim-" + called;
  topic.section = command.kind == app::Kind::user ? 1 : 8;
  topic.summary = command.summary;
  topic.help = std::make_shared<const std::string>(std::move(help));
  std::string_view text = *topic.help;
  if (command.options != nullptr) {
    // The rows say more than the help text: skip what it prints of them.
    const auto table = command.options();
    const auto at = text.find("\n\nOptions:\n");
    if (at == std::string_view::npos)
      return fail(ErrorKind::malformed, topic.name + " --help: no list of options");
    const auto end = text.find("\n\n", at + 2);
    Reader reader(topic);
    for (const auto line : split(text.substr(0, at), '\n'))
      reader.take(line);
    topic.options.assign(table.begin(), table.end());
    if (end != std::string_view::npos)
      for (const auto line : split(text.substr(end + 2), '\n'))
        topic.epilogue.push_back(line);
  } else {
    Reader reader(topic);
    for (const auto line : split(text, '\n'))
      reader.take(line);
  }
  if (topic.synopsis.empty())
    return fail(ErrorKind::malformed, topic.name + " --help: no line \"Usage: ...\"");
  drop_outer_blank_lines(topic.description);
  drop_outer_blank_lines(topic.epilogue);
  return topic;
}

Result<std::vector<Topic>> read_topics() {
  std::vector<Topic> topics;
  posix::ProcessRunner runner;
  posix::SystemClock clock;
  for (const auto& command : app::commands()) {
    if (command.kind == app::Kind::internal) continue;
    StringSink out;
    StringSink err;
    context::Context ctx{std::string(command.kind == app::Kind::user ? command.name : "slurm-shim"),
                         EnvList(),
                         out,
                         err,
                         runner,
                         clock,
                         {}};
    if (const int code = command.run(ctx, {"--help"}); code != 0 || !err.text().empty())
      return fail(ErrorKind::malformed,
                  std::string(command.name) + " --help: exit " + std::to_string(code) + ": " +
                      err.text());
    TRY_ASSIGN(auto topic, parse_topic(command, out.text()));
    topics.push_back(std::move(topic));
  }
  std::ranges::sort(topics, {}, &Topic::page);
  return topics;
}

} // namespace shim::manual
