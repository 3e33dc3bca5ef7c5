#pragma once
// Options of the commands that are the shim's own (install, doctor, ports, config, records). CLI11
// takes the words apart, behind this front: each file that includes CLI11 builds its validators
// before main() of every command, srun's included. Values are written while parse() runs; what
// is bound must outlive it. docs/architecture.md section 3.

#include "slurm_shim/base/result.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace shim::cli {

class AdminParser {
public:
  AdminParser(const std::string& description, const std::string& name);
  ~AdminParser();
  AdminParser(AdminParser&&) noexcept;
  AdminParser& operator=(AdminParser&&) = delete;

  // Last paragraph of the help.
  void footer(const std::string& text);

  // Names with their dashes. An empty help hides the option.
  void flag(const std::string& name, bool& value, const std::string& help);
  void option(const std::string& name, std::string& value, const std::string& help);
  void option(const std::string& name, int& value, const std::string& help);
  // May be repeated.
  void option(const std::string& name, std::vector<std::string>& values, const std::string& help);
  // Comma-separated, and may be repeated. An entry that is empty or begins with '-' is an error.
  void list(const std::string& name, std::vector<std::string>& values, const std::string& help);
  // A word without dashes that must be there.
  void operand(const std::string& name, std::string& value, const std::string& help);

  // One of them must be named, once there is one. Lives as long as this parser.
  AdminParser subcommand(const std::string& name, const std::string& help);

  // The help that was asked for, to print instead of working, or nothing. Errors (usage, exit 1)
  // name the word that is wrong.
  [[nodiscard]] Result<std::optional<std::string>> parse(const std::vector<std::string>& words);

  // After parse(): was the option written? Was this subcommand the one?
  [[nodiscard]] bool given(const std::string& name) const;
  [[nodiscard]] bool chosen() const;

private:
  explicit AdminParser(CLI::App& app);

  std::unique_ptr<CLI::App> m_own; // none in a subcommand
  CLI::App* m_app;
};

} // namespace shim::cli
