#include "slurm_shim/cli/admin_parser.h"

#include "slurm_shim/base/strings.h"

#include <CLI/CLI.hpp>

namespace shim::cli {

namespace {

void hide_without_help(CLI::Option* option, const std::string& help) {
  if (help.empty()) option->group("");
}

} // namespace

AdminParser::AdminParser(const std::string& description, const std::string& name)
    : m_own(std::make_unique<CLI::App>(description, name)), m_app(m_own.get()) {}

AdminParser::AdminParser(CLI::App& app) : m_app(&app) {}

AdminParser::~AdminParser() = default;
AdminParser::AdminParser(AdminParser&&) noexcept = default;

void AdminParser::footer(const std::string& text) {
  m_app->footer(text);
}

void AdminParser::flag(const std::string& name, bool& value, const std::string& help) {
  hide_without_help(m_app->add_flag(name, value, help), help);
}

void AdminParser::option(const std::string& name, std::string& value, const std::string& help) {
  hide_without_help(m_app->add_option(name, value, help), help);
}

void AdminParser::option(const std::string& name, int& value, const std::string& help) {
  hide_without_help(m_app->add_option(name, value, help), help);
}

void AdminParser::option(const std::string& name,
                         std::vector<std::string>& values,
                         const std::string& help) {
  hide_without_help(m_app->add_option(name, values, help), help);
}

void AdminParser::list(const std::string& name,
                       std::vector<std::string>& values,
                       const std::string& help) {
  const auto take = [name, &values](const std::vector<std::string>& texts) {
    for (const auto& text : texts)
      for (const auto part : split(text, ',')) {
        if (part.empty() || part.starts_with('-'))
          throw CLI::ValidationError(name, "bad entry in \"" + text + "\"");
        values.emplace_back(part);
      }
  };
  hide_without_help(
      m_app->add_option_function<std::vector<std::string>>(name, take, help)->type_name("TEXT"),
      help);
}

void AdminParser::operand(const std::string& name, std::string& value, const std::string& help) {
  m_app->add_option(name, value, help)->required();
}

AdminParser AdminParser::subcommand(const std::string& name, const std::string& help) {
  m_app->require_subcommand(1);
  return AdminParser(*m_app->add_subcommand(name, help));
}

Result<std::optional<std::string>> AdminParser::parse(const std::vector<std::string>& words) {
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend()); // taken from the end
    m_app->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return std::optional(m_app->help());
  } catch (const CLI::ParseError& e) {
    return fail(ErrorKind::usage, e.what());
  }
  return std::optional<std::string>{};
}

bool AdminParser::given(const std::string& name) const {
  return m_app->count(name) > 0;
}

bool AdminParser::chosen() const {
  return m_app->parsed();
}

} // namespace shim::cli
