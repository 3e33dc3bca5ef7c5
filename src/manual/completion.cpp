#include "completion.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/manual/documents.h"
#include "slurm_shim/slurm/signals.h"
#include "slurm_shim/slurm/states.h"

#include <algorithm>

namespace shim::manual {

namespace {

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// "yes|no" of "yes|no" and of "{yes|no}"; "" when it is no list of plain words.
std::string words_in(std::string_view metavar) {
  if (metavar.starts_with('{') && metavar.ends_with('}'))
    metavar = metavar.substr(1, metavar.size() - 2);
  const auto words = split(metavar, '|');
  return words.size() > 1 && std::ranges::all_of(words, is_word) ? std::string(metavar) : "";
}

// 'sbatch' lists its options as "name:arity:values:letter", one blank between two.
std::string rows_of(const Topic& topic) {
  std::string out;
  for (const auto& row : topic.options) {
    if (row.hidden) continue;
    constexpr std::string_view k_arities = "nro";
    if (!out.empty()) out += ' ';
    out += std::string(row.name) + ":" + k_arities[static_cast<std::size_t>(row.arity)] + ":" +
           values_of(topic, row) + ":";
    if (row.letter != 0) out += row.letter;
  }
  return out;
}

// In single quotes, in which fish knows two escapes.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string called(const Topic& topic) {
  return topic.name.starts_with("slurm-shim ") ? topic.name.substr(11) : topic.name;
}

// "[help]" of zsh's _arguments: brackets and colons are its own.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : unfolded(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    if (c == '\'') out += "'\\'";
    out += c;
  }
  return out;
}

std::string zsh_action(const std::string& values) {
  if (values.empty()) return " ";
  if (values == "files") return "_files";
  if (values == "states" || values == "nodestates" || values == "signals")
    return "(" + names_of(values) + ")";
  if (values.find('|') == std::string::npos) return "->" + values;
  std::string words = values;
  std::ranges::replace(words, '|', ' ');
  return "(" + words + ")";
}

std::string zsh_spec(const Topic& topic, const cli::Option& row) {
  const std::string help = "[" + zsh_text(row.help) + "]";
  std::string value;
  if (row.arity != cli::Arity::none)
    value = (row.arity == cli::Arity::optional ? "::" : ":") + zsh_text(row.metavar) + ":" +
            zsh_action(values_of(topic, row));
  std::string out;
  const auto add = [&](const std::string& spelling) {
    out += "      '" + spelling + help + value + "' \\\n";
  };
  const bool valued = row.arity != cli::Arity::none;
  const bool optional = row.arity == cli::Arity::optional;
  if (row.letter != 0)
    add("*" + (std::string("-") + row.letter) + (optional ? "-" : valued ? "+" : ""));
  if (!row.name.empty()) add("*--" + std::string(row.name) + (optional ? "=-" : valued ? "=" : ""));
  return out;
}

std::string fish_values(const std::string& values) {
  if (values.empty()) return "";
  if (values == "files") return " -F";
  if (values == "partitions") return " -a '(sinfo -h -o %R 2>/dev/null)'";
  if (values == "nodes") return " -a '(sinfo -h -N -o %N 2>/dev/null)'";
  if (values == "jobs") return " -a '(squeue --me -h -o %i 2>/dev/null)'";
  if (values == "fields") return " -a '(sacct --helpformat 2>/dev/null | string split -n \" \")'";
  if (values == "states" || values == "nodestates" || values == "signals")
    return " -a '" + names_of(values) + "'";
  std::string words = values;
  std::ranges::replace(words, '|', ' ');
  return " -a '" + words + "'";
}

} // namespace

std::string values_of(const Topic& topic, const cli::Option& row) {
  if (row.arity == cli::Arity::none) return "";
  if (row.name == "partition") return "partitions";
  if (row.metavar == "hosts") return "nodes";
  if (row.metavar == "ids" || (row.name == "jobid" && row.metavar == "id")) return "jobs";
  if (row.metavar == "fields" && (topic.name == "sacct" || topic.name == "sstat")) return "fields";
  if (row.metavar == "states") return topic.name == "sinfo" ? "nodestates" : "states";
  if (row.name == "signal" && topic.name == "scancel") return "signals";
  if (row.metavar == "file" || row.metavar == "path") return "files";
  return words_in(row.metavar);
}

std::vector<Verb> verbs_of(const Topic& topic) {
  std::vector<Verb> verbs;
  for (const auto& sub : topic.subcommands)
    for (const auto part : split(sub.word, ',')) {
      const auto words = split_words(part);
      if (words.empty() || !is_word(words[0])) continue;
      // The second word is part of the command where it is one: "show node|partition [NAME]".
      std::vector<std::string_view> objects;
      if (words.size() > 1) objects = split(words[1], '|');
      if (!objects.empty() && std::ranges::all_of(objects, is_word))
        for (const auto object : objects)
          verbs.push_back({std::string(words[0]), std::string(object)});
      else
        verbs.push_back({std::string(words[0]), ""});
    }
  return verbs;
}

std::string names_of(std::string_view values) {
  std::vector<std::string> names;
  if (values == "signals") {
    for (int number = 1; number < 32; ++number)
      if (auto name = slurm::signal_name(number); !is_digits(name)) names.push_back(name);
  } else if (values == "states") {
    for (int i = 0; i <= static_cast<int>(slurm::JobState::stopped); ++i)
      names.emplace_back(slurm::long_name(static_cast<slurm::JobState>(i)));
  } else if (values == "nodestates") {
    for (int i = 0; i <= static_cast<int>(slurm::NodeState::reserved); ++i)
      names.emplace_back(slurm::long_name(static_cast<slurm::NodeState>(i)));
  }
  return join(names, " ");
}

std::string bash_completion(const std::vector<Topic>& topics) {
  std::string out =
      "\n# What the option tables say. name:arity (n none, r required, o optional):values:letter\n"
      "_slurm_shim_table() {\n  case $1 in\n";
  std::vector<std::string> commands;
  std::vector<std::string> called_alone{"slurm-shim"};
  for (const auto& topic : topics) {
    const auto name = called(topic);
    std::string verbs;
    for (const auto& [word, object] : verbs_of(topic))
      verbs += (verbs.empty() ? "" : " ") + word + ":" + object;
    out +=
        "    " + name + ")\n      rows='" + rows_of(topic) + "'\n      verbs='" + verbs + "' ;;\n";
    commands.push_back(name);
    if (topic.has_own_name()) called_alone.push_back(name);
  }
  out += "    *) rows='' verbs='' ;;\n  esac\n}\n";
  out += "_slurm_shim_commands='" + join(commands, " ") + "'\n";
  for (const auto* kind : {"states", "nodestates", "signals"})
    out += "_slurm_shim_" + std::string(kind) + "='" + names_of(kind) + "'\n";
  return out + "complete -F _slurm_shim " + join(called_alone, " ") + "\n";
}

std::string zsh_completion(const std::vector<Topic>& topics) {
  std::vector<std::string> names;
  for (const auto& topic : topics)
    if (topic.has_own_name()) names.push_back(topic.name);
  std::string out = "#compdef " + join(names, " ") +
                    "\n# Made from the option tables.\nlocal curcontext=$curcontext state ret=1\n"
                    "typeset -A opt_args\ncase $service in\n";
  for (const auto& topic : topics) {
    if (!topic.has_own_name()) continue;
    out += "  " + topic.name + ")\n    _arguments -C \\\n";
    for (const auto& row : topic.options)
      if (!row.hidden) out += zsh_spec(topic, row);
    out += "      '*:file:_files' && ret=0 ;;\n";
  }
  return out +
         "esac\n"
         "case $state in\n"
         "  partitions) _values -s , partition ${(f)\"$(sinfo -h -o %R 2>/dev/null)\"} && ret=0 "
         ";;\n"
         "  nodes) _values -s , node ${(uf)\"$(sinfo -h -N -o %N 2>/dev/null)\"} && ret=0 ;;\n"
         "  jobs) _values -s , job ${(f)\"$(squeue --me -h -o %i 2>/dev/null)\"} && ret=0 ;;\n"
         "  fields) _values -s , field ${=\"$($service --helpformat 2>/dev/null)\"} && ret=0 ;;\n"
         "esac\nreturn ret\n";
}

std::string fish_completion(const Topic& topic) {
  std::string out = "# Made from the option tables.\n";
  for (const auto& row : topic.options) {
    if (row.hidden) continue;
    out += "complete -c " + topic.name;
    if (row.letter != 0) out += std::string(" -s ") + row.letter;
    if (!row.name.empty()) out += " -l " + std::string(row.name);
    const auto values = values_of(topic, row);
    if (row.arity == cli::Arity::required) out += values == "files" ? " -r" : " -x";
    out += fish_values(values) + " -d " + fish_quoted(unfolded(row.help)) + "\n";
  }
  return out;
}

} // namespace shim::manual
