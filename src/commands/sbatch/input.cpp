#include "input.h"

#include "foreign.h"
#include "lexer.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/sbatch.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/submit/refusal.h"
#include "slurm_shim/submit/values.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace shim::commands::sbatch {

using submit::refuse;

namespace {

// Options that only the command line can give: Slurm has looked at them before it reads a script.
constexpr std::array<std::string_view, 6> k_early{
    "help", "quiet", "usage", "verbose", "version", "wrap"};

bool is_early(const cli::Option& option) {
  return std::ranges::count(k_early, option.name) > 0;
}

Result<void> refuse_hetjobs(const std::vector<DirectiveWord>& words) {
  int line = 0;
  for (const auto& word : words) {
    const bool first = word.line != line;
    line = word.line;
    if (first && (word.text == "hetjob" || word.text == "packjob"))
      return refuse("heterogeneous jobs are not supported", slurm::k_exit_usage);
  }
  return {};
}

Result<void>
add_words(const std::vector<DirectiveWord>& words, const std::string& script, Values& values) {
  std::vector<std::string> texts;
  texts.reserve(words.size());
  for (const auto& word : words)
    texts.push_back(word.text);
  TRY_ASSIGN(auto parsed, parse_words(texts));
  if (!parsed.rest.empty())
    return refuse("Invalid directive found in batch script: " + parsed.rest.front(),
                  slurm::k_exit_usage);
  for (auto& given : parsed.given) {
    if (is_early(*given.option)) continue;
    given.origin = {cli::Origin::Kind::directive, script, words[given.word].line};
    values.given.push_back(std::move(given));
  }
  auto word = words.begin();
  for (auto& text : parsed.ignored) {
    word = std::ranges::find(word, words.end(), text, &DirectiveWord::text);
    values.ignored_from.push_back(
        {cli::Origin::Kind::directive, script, word == words.end() ? 0 : word->line});
    values.ignored.push_back(std::move(text));
    if (word != words.end()) ++word;
  }
  return {};
}

Result<void> add_directives(const Script& script, bool ignore_pbs, Values& values) {
  TRY_ASSIGN(const auto words, read_directives(script.text, "#SBATCH", script.name));
  TRY(refuse_hetjobs(words));
  TRY(add_words(words, script.name, values));
  if (const auto late = late_directives(script.text, "#SBATCH"); !late.empty())
    values.warnings.push_back(
        fmt::format("{}: line {}: #SBATCH behind the first command has no effect{}",
                    script.name.empty() ? "stdin" : script.name,
                    late.front(),
                    late.size() > 1 ? fmt::format(" ({} such lines)", late.size()) : ""));
  TRY_ASSIGN(const auto bsub_words, read_directives(script.text, "#BSUB", script.name));
  TRY_ASSIGN(const auto pbs_words, read_directives(script.text, "#PBS", script.name));
  auto foreign = {translate_bsub(bsub_words),
                  ignore_pbs ? ForeignOptions{} : translate_pbs(pbs_words)};
  for (const auto& options : foreign) {
    TRY(add_words(options.words, script.name, values));
    values.warnings.insert(values.warnings.end(), options.warnings.begin(), options.warnings.end());
  }
  return {};
}

} // namespace

Result<cli::Parsed> parse_words(const std::vector<std::string>& words) {
  auto parsed =
      cli::parse(sbatch_options(), words, {.command = "sbatch", .tolerate_unknown_long = true});
  if (!parsed) parsed.error().exit_code = slurm::k_exit_usage;
  return parsed;
}

Result<Values>
collect_values(const cli::Parsed& command_line, const EnvList& env, const Script& script) {
  Values values;
  const bool ignore_pbs = command_line.has("ignore-pbs") || env.has("SBATCH_IGNORE_PBS");
  if (!script.wrapped) TRY(add_directives(script, ignore_pbs, values));
  const auto from_environment = submit::environment_values(sbatch_options(), env);
  values.given.insert(values.given.end(), from_environment.begin(), from_environment.end());
  values.given.insert(values.given.end(), command_line.given.begin(), command_line.given.end());
  values.ignored.insert(
      values.ignored.end(), command_line.ignored.begin(), command_line.ignored.end());
  values.ignored_from.resize(values.ignored.size()); // the command line
  return values;
}

} // namespace shim::commands::sbatch
