#include "slurm_shim/ge/qconf.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/job_detail.h"
#include "slurm_shim/ge/qsub.h"

#include <algorithm>
#include <array>

namespace shim::ge {

namespace {

// What qconf says, on one line: both streams, first the errors.
std::string said(const posix::Output& output) {
  std::vector<std::string_view> lines;
  for (const std::string_view stream : {std::string_view(output.err), std::string_view(output.out)})
    for (const auto line : split(stream, '\n'))
      if (!trim(line).empty()) lines.push_back(trim(line));
  return join(lines, "; ");
}

// Texts of a qconf that reached the qmaster and found nothing.
bool tells_absence(const posix::Output& output) {
  constexpr std::array<std::string_view, 10> k_texts{
      "is not a parallel environment",
      "No cluster queue or queue instance matches",
      "no parallel environment defined",
      "no cluster queue",
      "no execution host defined",
      "no operator defined",
      "no manager defined",
      "no submit host defined",
      "no administrative host defined",
      "does not exist",
  };
  return std::any_of(k_texts.begin(), k_texts.end(), [&](std::string_view text) {
    return output.err.find(text) != std::string::npos || output.out.find(text) != std::string::npos;
  });
}

tl::unexpected<Error> failed(const std::string& what, const posix::Output& output) {
  auto reason = said(output);
  if (reason.empty()) reason = "exit status " + std::to_string(output.status);
  return fail(ErrorKind::unavailable, what + ": " + reason);
}

} // namespace

std::optional<std::string_view> Attributes::get(std::string_view key) const {
  for (const auto& [name, value] : m_entries)
    if (name == key) return value;
  return std::nullopt;
}

std::string Attributes::get_or(std::string_view key, std::string_view fallback) const {
  return std::string(get(key).value_or(fallback));
}

void Attributes::set(std::string_view key, std::string_view value) {
  for (auto& [name, current] : m_entries)
    if (name == key) {
      current = std::string(value);
      return;
    }
  m_entries.emplace_back(key, value);
}

std::string Attributes::text() const {
  std::string out;
  for (const auto& [name, value] : m_entries)
    out.append(name).append(" ").append(value).append("\n");
  return out;
}

Attributes parse_attributes(std::string_view text) {
  Attributes attributes;
  std::string line;
  for (const auto piece : split(text, '\n')) {
    const auto part = trim(piece);
    if (part.ends_with('\\')) {
      line += std::string(trim(part.substr(0, part.size() - 1))) + " ";
      continue;
    }
    line += part;
    const std::string whole(trim(line));
    line.clear();
    if (whole.empty() || whole.front() == '#') continue;
    const auto blank = whole.find_first_of(" \t");
    const auto value = blank == std::string::npos ? std::string_view{}
                                                  : trim(std::string_view(whole).substr(blank));
    attributes.set(whole.substr(0, blank), value);
  }
  return attributes;
}

HostValue parse_host_value(std::string_view text) {
  HostValue value;
  const auto first = text.find('[');
  auto fallback = trim(text.substr(0, first));
  while (fallback.ends_with(',') || fallback.ends_with(' '))
    fallback.remove_suffix(1);
  value.fallback = std::string(fallback);
  while (true) {
    const auto open = text.find('[');
    if (open == std::string_view::npos) return value;
    const auto close = text.find(']', open);
    const auto inside =
        text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
    const auto equals = inside.find('=');
    if (equals != std::string_view::npos)
      value.overrides.emplace_back(trim(inside.substr(0, equals)), trim(inside.substr(equals + 1)));
    if (close == std::string_view::npos) return value;
    text.remove_prefix(close + 1);
  }
}

bool is_none(std::string_view value) {
  return value.empty() || equals_ignore_case(value, "NONE");
}

std::vector<std::string> parse_name_list(std::string_view text) {
  std::vector<std::string> names;
  for (const auto part : split(text, ','))
    for (const auto word : split_words(part))
      if (!is_none(word)) names.emplace_back(word);
  return names;
}

std::vector<Complex> parse_complexes(std::string_view table) {
  std::vector<Complex> complexes;
  for (const auto line : split(table, '\n')) {
    const auto words = split_words(line);
    if (words.size() < 8 || words[0].starts_with('#')) continue;
    const auto word = [&](std::size_t i) { return std::string(words[i]); };
    complexes.push_back({word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)});
  }
  return complexes;
}

Result<std::vector<std::string>> Qconf::list(const std::string& option) const {
  TRY_ASSIGN(const auto output, m_tools.run({"qconf", {option}}));
  std::vector<std::string> names;
  if (output.status != 0) {
    if (tells_absence(output)) return names;
    return failed("qconf " + option, output);
  }
  for (const auto line : split(output.out, '\n'))
    if (!trim(line).empty()) names.emplace_back(trim(line));
  return names;
}

Result<std::optional<Attributes>> Qconf::show(const std::string& option,
                                              const std::string& name) const {
  TRY_ASSIGN(const auto output, m_tools.run({"qconf", {option, name}}));
  auto attributes = parse_attributes(output.out);
  if (output.status == 0 && attributes.entries().size() > 1) return attributes;
  if (tells_absence(output)) return std::optional<Attributes>{};
  return failed("qconf " + option + " " + name, output);
}

std::optional<double> complex_value(std::string_view values, std::string_view name) {
  std::size_t depth = 0; // ids of a resource map may hold commas
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= values.size(); ++i) {
    if (i < values.size() && values[i] == '(') ++depth;
    if (i < values.size() && values[i] == ')' && depth > 0) --depth;
    if (i < values.size() && (values[i] != ',' || depth > 0)) continue;
    const auto item = trim(values.substr(begin, i - begin));
    begin = i + 1;
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || trim(item.substr(0, equals)) != name) continue;
    return parse_memory_value(item.substr(equals + 1, item.find('(') - equals - 1));
  }
  return std::nullopt;
}

Result<std::map<std::string, double>> Qconf::host_capacities(const std::vector<std::string>& hosts,
                                                             std::string_view complex) const {
  std::map<std::string, double> capacities;
  constexpr std::size_t k_at_once = 200;
  for (std::size_t at = 0; at < hosts.size(); at += k_at_once) {
    std::vector<std::string> args;
    for (std::size_t i = at; i < std::min(hosts.size(), at + k_at_once); ++i) {
      args.emplace_back("-se");
      args.push_back(hosts[i]);
    }
    TRY_ASSIGN(const auto output, m_tools.run({.tool = "qconf", .args = args}));
    if (output.status != 0) return failed("qconf -se", output);
    // One object behind the other, each beginning with its name.
    std::string one;
    const auto take = [&] {
      const auto attributes = parse_attributes(one);
      if (const auto value = complex_value(attributes.get_or("complex_values", ""), complex))
        capacities[attributes.get_or("hostname", "")] = *value;
      one.clear();
    };
    for (const auto line : split(output.out, '\n')) {
      if (line.starts_with("hostname")) take();
      one += std::string(line) + "\n";
    }
    take();
  }
  return capacities;
}

Result<Attributes> Qconf::configuration() const {
  TRY_ASSIGN(const auto output, m_tools.run({"qconf", {"-sconf"}}));
  if (output.status != 0) return failed("qconf -sconf", output);
  return parse_attributes(output.out);
}

Result<std::vector<Complex>> Qconf::complexes() const {
  TRY_ASSIGN(const auto output, m_tools.run({"qconf", {"-sc"}}));
  if (output.status != 0) return failed("qconf -sc", output);
  return parse_complexes(output.out);
}

Result<std::string> Qconf::engine_version() const {
  TRY_ASSIGN(const auto output, m_tools.run({"qstat", {"-help"}}));
  const auto line = trim(std::string_view(output.out).substr(0, output.out.find('\n')));
  if (line.empty()) return failed("qstat -help", output);
  return std::string(line);
}

Result<bool> Qconf::knows_par() const {
  TRY_ASSIGN(const auto output, m_tools.run({"qsub", {"-help"}}));
  if (trim(output.out).empty()) return failed("qsub -help", output);
  return parse_qsub_help(output.out).par;
}

Result<void> Qconf::change(const std::vector<std::string>& args) const {
  TRY_ASSIGN(const auto output, m_tools.run({"qconf", args}));
  if (output.status == 0) return {};
  auto error = failed("qconf " + join(args, " "), output).value();
  error.kind = ErrorKind::refused;
  return tl::unexpected<Error>(std::move(error));
}

} // namespace shim::ge
