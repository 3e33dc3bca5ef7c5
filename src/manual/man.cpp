#include "slurm_shim/base/strings.h"
#include "slurm_shim/manual/documents.h"

namespace shim::manual {

namespace {

// Text as troff shows it unchanged: a minus that can be copied, quotes that stay straight, and no
// line that looks like a request.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool line_start = out.empty() || out.back() == '\n';
    switch (c) {
    case '\\': out += "\\e"; break;
    case '-': out += "\\-"; break;
    case '\'': out += line_start ? "\\&\\(aq" : "\\(aq"; break;
    case '`': out += "\\(ga"; break;
    case '^': out += "\\(ha"; break;
    case '~': out += "\\(ti"; break;
    case '.': out += line_start ? "\\&." : "."; break;
    default: out += c;
    }
  }
  return out;
}

std::string header(std::string_view page, int section, std::string_view version) {
  return ".TH " + to_upper(page) + " " + std::to_string(section) + R"( "" "slurm\-shim )" +
         std::string(version) + "\" \"Slurm commands on Grid Engine\"\n";
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}
std::string italic(std::string_view text) {
  return "\\fI" + escaped(text) + "\\fR";
}

// Paragraphs are filled; indented lines stay as they are.
std::string lines_text(const std::vector<std::string_view>& lines) {
  std::string out;
  bool literal = false;
  bool fresh = true;
  for (const auto line : lines) {
    const bool indented = line.starts_with(' ');
    if (indented != literal && !line.empty()) {
      out += indented ? ".PP\n.nf\n" : ".fi\n";
      literal = indented;
      if (!indented) fresh = true;
    }
    if (line.empty()) {
      fresh = true;
      continue;
    }
    if (fresh && !literal && !out.empty()) out += ".PP\n";
    fresh = false;
    out += escaped(line) + "\n";
  }
  return literal ? out + ".fi\n" : out;
}

std::string tag_of(const cli::Option& row) {
  std::string tag;
  if (row.letter != 0) tag += bold(std::string("-") + row.letter);
  if (row.letter != 0 && !row.name.empty()) tag += ", ";
  if (!row.name.empty()) tag += bold("--" + std::string(row.name));
  if (row.arity == cli::Arity::required) tag += "=" + italic(row.metavar);
  if (row.arity == cli::Arity::optional) tag += "[=" + italic(row.metavar) + "]";
  return tag;
}

std::string sentence(std::string_view text) {
  auto out = unfolded(text);
  if (!out.empty() && out.back() != '.') out += '.';
  return out;
}

std::string entry(const cli::Option& row) {
  std::string out = ".TP\n" + tag_of(row) + "\n";
  std::string text = sentence(row.help);
  if (text.empty()) text = "Accepted.";
  out += escaped(text) + "\n";
  if (!row.maps_to.empty()) out += "Becomes " + italic(row.maps_to) + ".\n";
  if (const auto limit = limit_of(row.support); !limit.empty())
    out += bold(limit) +
           (row.note.empty() ? std::string(".\n") : ": " + escaped(sentence(row.note)) + "\n");
  else if (!row.note.empty())
    out += escaped(sentence(row.note)) + "\n";
  return out;
}

std::string options_section(const Topic& topic) {
  std::string out;
  for (const auto& row : topic.options)
    if (!row.hidden) out += entry(row);
  return out.empty() ? out : ".SH OPTIONS\n" + out;
}

std::string environment_section(const Topic& topic) {
  std::string out;
  for (const auto& row : topic.options)
    if (!row.env.empty() && !row.hidden)
      for (const auto name : split(row.env, ','))
        out += ".TP\n" + bold(trim(name)) + "\nThe same as " + bold("--" + std::string(row.name)) +
               ".\n";
  if (topic.section == 1)
    out += ".TP\n" + bold("SLURM_SHIM_CONFIG") +
           "\nThe configuration file to read instead of the site\\(aqs.\n";
  return out.empty() ? out : ".SH ENVIRONMENT\n" + out;
}

std::string subcommands_section(const Topic& topic) {
  std::string out;
  for (const auto& sub : topic.subcommands)
    out += ".TP\n" + bold(unfolded(sub.word)) + "\n" + escaped(sentence(sub.help)) + "\n";
  return out.empty() ? out : ".SH COMMANDS\n" + out;
}

} // namespace

std::string man_page(const Topic& topic, std::string_view version) {
  std::string out = header(topic.page, topic.section, version);
  out += ".SH NAME\n" + escaped(topic.page) + " \\- " + escaped(topic.summary) + "\n";
  const auto rest = topic.synopsis.substr(std::min(topic.name.size(), topic.synopsis.size()));
  out += ".SH SYNOPSIS\n" + bold(topic.name) + escaped(rest) + "\n";
  out += ".SH DESCRIPTION\n" + lines_text(topic.description);
  out += subcommands_section(topic) + options_section(topic);
  if (!topic.epilogue.empty()) out += ".SH NOTES\n" + lines_text(topic.epilogue);
  out += environment_section(topic);
  out += ".SH SEE ALSO\n.BR slurm\\-shim (8)\n";
  return out;
}

std::string root_page(const std::vector<Topic>& topics, std::string_view version) {
  std::string out = header("slurm-shim", 8, version);
  out += ".SH NAME\nslurm\\-shim \\- Slurm\\(aqs commands on Grid Engine\n"
         ".SH SYNOPSIS\n\\fBslurm\\-shim\\fR \\fIcommand\\fR [\\fIoptions\\fR]\n"
         ".SH DESCRIPTION\nOne binary is all commands, chosen by the name it is called by or by "
         "its first word.\n"
         ".SH COMMANDS\n";
  for (const auto& topic : topics)
    out += ".TP\n.BR " + escaped(topic.page) + " (" + std::to_string(topic.section) + ")\n" +
           escaped(sentence(topic.summary)) + "\n";
  out += ".SH FILES\n"
         "The first of these that exists is the configuration:\n"
         ".TP\n\\fB$SLURM_SHIM_CONFIG\\fR\nof the calling user\n"
         ".TP\n\\fB/etc/slurm\\-shim/config.yaml\\fR\nof this host\n"
         ".TP\n\\fI<prefix>\\fB/etc/config.yaml\\fR\nbeside the folder of the binary\n";
  return out;
}

} // namespace shim::manual
