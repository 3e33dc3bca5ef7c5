#include "input.h"

#include "foreign.h"
#include "lexer.h"
#include "refusal.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/sbatch.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <algorithm>
#include <array>

namespace shim::commands::sbatch {

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
  values.ignored.insert(values.ignored.end(), parsed.ignored.begin(), parsed.ignored.end());
  return {};
}

Result<void> add_directives(const Script& script, bool ignore_pbs, Values& values) {
  TRY_ASSIGN(const auto words, read_directives(script.text, "#SBATCH", script.name));
  TRY(refuse_hetjobs(words));
  TRY(add_words(words, script.name, values));
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

void add_environment(const EnvList& env, Values& values) {
  for (const auto& option : sbatch_options()) {
    for (const auto name : split(option.env, ',')) {
      const auto value = name.empty() ? std::nullopt : env.get(name);
      if (!value) continue;
      cli::Given given{&option, std::nullopt, {cli::Origin::Kind::environment, std::string(name)}};
      // A switch is on when the variable is there; --verbose takes its level from it.
      const bool takes_value = option.arity == cli::Arity::required || option.name == "verbose" ||
                               (option.arity == cli::Arity::optional && !value->empty());
      if (takes_value) given.value = std::string(*value);
      values.given.push_back(std::move(given));
      break;
    }
  }
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
  add_environment(env, values);
  values.given.insert(values.given.end(), command_line.given.begin(), command_line.given.end());
  values.ignored.insert(
      values.ignored.end(), command_line.ignored.begin(), command_line.ignored.end());
  return values;
}

} // namespace shim::commands::sbatch
