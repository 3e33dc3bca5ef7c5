#include "explanation.h"

#include "slurm_shim/base/strings.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace shim::commands::sbatch {

namespace {

using Json = nlohmann::ordered_json;
using cli::Support;

bool is_plain(char c) {
  constexpr std::string_view k_safe = "%+,-./:=@_";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         k_safe.find(c) != std::string_view::npos;
}

// For a shell, as far as reading goes.
std::string quoted(const std::string& word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string out = "'";
  for (const char c : word)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_line(const std::vector<std::string>& words) {
  std::vector<std::string> shown;
  shown.reserve(words.size());
  for (const auto& word : words)
    shown.push_back(quoted(word));
  return join(shown, " ");
}

std::string where(const cli::Origin& origin) {
  using Kind = cli::Origin::Kind;
  switch (origin.kind) {
  case Kind::command_line: return "command line";
  case Kind::environment: return origin.name;
  case Kind::directive:
    return (origin.name.empty() ? "stdin" : origin.name) + ":" + std::to_string(origin.line);
  case Kind::config: return "configuration";
  }
  return "";
}

std::string_view kind_name(cli::Origin::Kind kind) {
  using Kind = cli::Origin::Kind;
  switch (kind) {
  case Kind::command_line: return "command_line";
  case Kind::environment: return "environment";
  case Kind::directive: return "directive";
  case Kind::config: return "config";
  }
  return "";
}

// The option of qsub and what follows it: "-pe slurm-shim 8".
std::string words_from(const std::vector<std::string>& qsub, std::string_view option) {
  constexpr std::array<std::string_view, 5> k_alone{"-h", "-V", "-terse", "-cwd", "-notify"};
  std::string out;
  for (std::size_t at = 0; at < qsub.size(); ++at) {
    if (qsub[at] != option) continue;
    const std::size_t values = std::ranges::count(k_alone, option) > 0 ? 0
                               : option == "-pe" || option == "-soft"  ? 2
                                                                       : 1;
    for (std::size_t i = at; i <= at + values && i < qsub.size(); ++i)
      out += (out.empty() ? "" : " ") + quoted(qsub[i]);
  }
  return out;
}

// Of the list behind -l what an option has to do with: limit, memory and hosts have words of their
// own, what is left is about devices and the like.
std::string requests_of(std::string_view option, const Asked& asked) {
  const std::string_view memory = asked.memory_complex;
  const auto own = [&](std::string_view item) {
    const auto name = item.substr(0, item.find('='));
    if (option == "time") return name == "h_rt";
    if (option.starts_with("mem")) return name == memory;
    if (option == "exclude") return name == "h";
    return name != "h_rt" && name != memory && name != "h";
  };
  std::vector<std::string> items;
  for (std::size_t at = 0; at + 1 < asked.qsub.size(); ++at)
    if (asked.qsub[at] == "-l")
      for (const auto item : split(asked.qsub[at + 1], ','))
        if (own(item)) items.emplace_back(item);
  return items.empty() ? "" : "-l " + quoted(join(items, ","));
}

// A table row names qsub's options ("qsub -pe, -par"): those that the call has.
std::string became(const cli::Option& option, const Asked& asked) {
  if (!option.maps_to.starts_with("qsub ")) return std::string(option.maps_to);
  std::vector<std::string> found;
  const auto add = [&](std::string_view word) {
    auto text = word == "-l" ? requests_of(option.name, asked) : words_from(asked.qsub, word);
    if (word == "-o" && text == "-o " + quoted(asked.log)) return;
    if (!text.empty() && std::ranges::count(found, text) == 0) found.push_back(std::move(text));
  };
  for (auto word : split_words(option.maps_to)) {
    while (word.ends_with(','))
      word.remove_suffix(1);
    if (!word.starts_with('-')) continue;
    add(word);
    if (word == "-pe") add("-par");
    if (word == "-q") add("-masterq");
  }
  return join(found, " ");
}

bool is_about(std::string_view warning, std::string_view option) {
  const auto prefix = "--" + std::string(option) + ":";
  return warning.starts_with(prefix);
}

std::string fate_of(const cli::Option& option, const std::string& becomes) {
  switch (option.support) {
  case Support::accepted: return "accepted";
  case Support::later: return "warned";
  case Support::rejected: return "refused";
  case Support::full:
  case Support::approximate: break;
  }
  return becomes.empty() ? "kept" : "translated";
}

Json origin_json(const cli::Origin& origin) {
  Json out{{"kind", kind_name(origin.kind)}};
  if (!origin.name.empty()) out["name"] = origin.name;
  if (origin.line > 0) out["line"] = origin.line;
  return out;
}

std::string rule_text(const submit::Rule& rule) {
  using Kind = submit::Rule::Kind;
  switch (rule.kind) {
  case Kind::none: return "as the parallel environment lays out";
  case Kind::pe_slots: return "all on one host";
  case Kind::fill_up: return "on as few hosts as have room";
  case Kind::round_robin: return "spread over hosts";
  case Kind::fixed: return fmt::format("{} on each host", rule.count);
  case Kind::scoped:
    return fmt::format("{} on the first host, {} on each other", rule.master, rule.count);
  }
  return "";
}

std::string tasks_text(const std::vector<int>& tasks) {
  std::vector<std::string> out;
  out.reserve(tasks.size());
  for (const int n : tasks)
    out.push_back(std::to_string(n));
  return join(out, ",");
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void option_lines(const Explanation& e, std::string& out) {
  std::size_t widest = 0;
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& option : e.options) {
    auto text = "--" + option.name + (option.value.empty() ? "" : "=" + quoted(option.value));
    widest = std::max(widest, std::min<std::size_t>(text.size(), 40));
    auto fate = option.fate + (option.becomes.empty() ? "" : ": " + option.becomes);
    if (!option.in_force) fate = "replaced";
    rows.emplace_back(std::move(text), where(option.origin) + "  " + fate);
  }
  for (const auto& [text, rest] : rows)
    out += fmt::format("  {:<{}}  {}\n", text, widest, rest);
}

} // namespace

std::vector<OptionFate>
fates_of(const Values& values, const Asked& asked, const std::vector<std::string>& warnings) {
  std::vector<OptionFate> fates;
  for (std::size_t i = 0; i < values.given.size(); ++i) {
    const auto& given = values.given[i];
    OptionFate fate;
    fate.name = given.option->name;
    fate.value = given.value.value_or("");
    fate.origin = given.origin;
    fate.in_force =
        std::none_of(values.given.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                     values.given.end(),
                     [&](const cli::Given& later) { return later.option == given.option; });
    fate.becomes = became(*given.option, asked);
    fate.fate = fate_of(*given.option, fate.becomes);
    if (fate.fate != "translated") fate.becomes.clear();
    for (const auto& warning : warnings)
      if (is_about(warning, fate.name)) fate.notes.push_back(warning);
    if (given.option->support == Support::later && !given.option->note.empty())
      fate.notes.emplace_back(given.option->note);
    fates.push_back(std::move(fate));
  }
  for (std::size_t i = 0; i < values.ignored.size(); ++i) {
    const auto& word = values.ignored[i];
    const auto text = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    const auto equals = std::min(text.find('='), text.size());
    fates.push_back({text.substr(0, equals),
                     text.substr(std::min(equals + 1, text.size())),
                     values.ignored_from[i],
                     true,
                     "ignored",
                     "",
                     {"not an option of Slurm's sbatch: taken for a site plugin's"}});
  }
  return fates;
}

std::string explanation_text(const Explanation& e) {
  std::string out;
  const auto line = [&](std::string_view key, const std::string& text) {
    out += fmt::format("{:<14}{}\n", key, text);
  };
  const auto& g = e.geometry;
  line("partition",
       e.partition.empty() ? "none: any queue" : e.partition + " (" + e.partition_from + ")");
  line("queues", e.queues.empty() ? "any" : join(e.queues, ", "));
  line("nodes", g.nodes == 0 ? "as the scheduler finds room" : std::to_string(g.nodes));
  line("tasks",
       fmt::format("{}{}",
                   g.ntasks,
                   g.tasks_per_node.empty() ? ""
                                            : ", on the nodes: " + tasks_text(g.tasks_per_node)));
  line("cpus per task", std::to_string(e.cpus_per_task));
  line("slots", fmt::format("{} of {}: {}", g.slots, e.pe, rule_text(g.rule)));
  line("time limit", e.minutes ? fmt::format("{} minutes ({})", *e.minutes, e.time_from) : "none");
  line("config", e.config_file.empty() ? "built-in defaults" : e.config_file);
  line("engine",
       e.engine_answered
           ? (e.has_par ? "qsub has -par" : "qsub has no -par")
           : "did not answer (" + e.engine_trouble + "): a qsub with -par is assumed");
  out += "\noptions:\n";
  if (e.options.empty()) out += "  none\n";
  option_lines(e, out);
  if (!e.notices.empty() || !e.warnings.empty()) out += "\napproximated or left out:\n";
  for (const auto& text : e.notices)
    out += "  " + text + "\n";
  for (const auto& text : e.warnings)
    out += "  " + text + "\n";
  out += "\n" + command_line(e.qsub) + "\n";
  return out;
}

std::string explanation_json(const Explanation& e) {
  const auto& g = e.geometry;
  Json options = Json::array();
  for (const auto& o : e.options)
    options.push_back({{"name", o.name},
                       {"value", o.value},
                       {"origin", origin_json(o.origin)},
                       {"in_force", o.in_force},
                       {"fate", o.fate},
                       {"becomes", o.becomes},
                       {"notes", o.notes}});
  const Json out{
      {"command", "sbatch"},
      {"accepted", true},
      {"script", e.script},
      {"partition", {{"name", e.partition}, {"from", e.partition_from}, {"queues", e.queues}}},
      {"geometry",
       {{"nodes", g.nodes},
        {"ntasks", g.ntasks},
        {"cpus_per_task", e.cpus_per_task},
        {"tasks_per_node", g.tasks_per_node},
        {"slots", g.slots},
        {"layout", g.layout},
        {"rule", rule_text(g.rule)},
        {"pe", e.pe}}},
      {"time_limit", {{"minutes", e.minutes ? Json(*e.minutes) : Json()}, {"from", e.time_from}}},
      {"qsub", e.qsub},
      {"record", e.record},
      {"config", e.config_file},
      {"engine",
       {{"answered", e.engine_answered}, {"par", e.has_par}, {"trouble", e.engine_trouble}}},
      {"options", std::move(options)},
      {"notices", e.notices},
      {"warnings", e.warnings}};
  return dumped(out);
}

std::string refusal_json(const std::string& message, int exit_code) {
  return dumped(
      {{"command", "sbatch"}, {"accepted", false}, {"error", message}, {"exit_code", exit_code}});
}

} // namespace shim::commands::sbatch
