// What holds for every command's option table: parsing, help and warnings rely on it.
#include "slurm_shim/app/commands.h"
#include "slurm_shim/commands/sbatch.h"
#include "slurm_shim/commands/scontrol.h"
#include "slurm_shim/commands/squeue.h"
#include "slurm_shim/commands/srun.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace shim::app {
namespace {

using cli::Arity;
using cli::Option;
using cli::OptionTable;
using cli::Support;

const Option* find(OptionTable table, std::string_view name) {
  const auto it = std::ranges::find(table, name, &Option::name);
  return it == table.end() ? nullptr : &*it;
}

TEST(OptionTables, names_and_letters_are_unique_and_aliases_lead_somewhere) {
  for (const auto& command : commands()) {
    if (command.options == nullptr) continue;
    const auto table = command.options();
    ASSERT_FALSE(table.empty()) << command.name;
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const auto& row : table) {
      EXPECT_TRUE(names.insert(row.name).second) << command.name << " --" << row.name;
      EXPECT_TRUE(row.letter == 0 || letters.insert(row.letter).second)
          << command.name << " -" << row.letter;
      EXPECT_EQ(row.metavar.empty(), row.arity == Arity::none) << command.name << " " << row.name;
      if (row.alias_of.empty()) continue;
      const auto* meant = find(table, row.alias_of);
      ASSERT_NE(meant, nullptr) << command.name << " --" << row.name;
      EXPECT_EQ(meant->arity, row.arity) << command.name << " --" << row.name;
      EXPECT_TRUE(meant->alias_of.empty());
    }
  }
}

TEST(OptionTables, every_limit_has_words_and_every_visible_row_a_help_line) {
  for (const auto& command : commands()) {
    if (command.options == nullptr) continue;
    for (const auto& row : command.options()) {
      const bool limited = row.support == Support::later || row.support == Support::rejected;
      EXPECT_FALSE(limited && row.note.empty()) << command.name << " --" << row.name;
      EXPECT_TRUE(row.hidden || !row.help.empty()) << command.name << " --" << row.name;
    }
    for (const auto* name : {"help", "usage", "version"})
      EXPECT_NE(find(command.options(), name), nullptr) << command.name << " --" << name;
  }
}

// Help texts of Slurm show some of these with an arity that the parser does not have.
TEST(OptionTables, arities_that_are_easily_taken_wrong) {
  struct Case {
    OptionTable table;
    const char* name;
    char letter;
    Arity arity;
  };
  const Case cases[] = {
      {commands::sbatch_options(), "wrap", 0, Arity::required},
      {commands::sbatch_options(), "export", 0, Arity::required},
      {commands::sbatch_options(), "nice", 0, Arity::optional},
      {commands::sbatch_options(), "exclusive", 0, Arity::optional},
      {commands::sbatch_options(), "no-kill", 'k', Arity::optional},
      {commands::sbatch_options(), "parsable", 0, Arity::none},
      {commands::sbatch_options(), "ntasks-per-core", 0, Arity::required},
      {commands::srun_options(), "kill-on-bad-exit", 'K', Arity::optional},
      {commands::srun_options(), "immediate", 'I', Arity::optional},
      {commands::srun_options(), "chdir", 'D', Arity::required},
      {commands::squeue_options(), "jobs", 'j', Arity::optional},
      {commands::squeue_options(), "steps", 's', Arity::optional},
      {commands::scontrol_options(), "clusters", 'M', Arity::required},
  };
  for (const auto& c : cases) {
    const auto* row = find(c.table, c.name);
    ASSERT_NE(row, nullptr) << c.name;
    EXPECT_EQ(row->letter, c.letter) << c.name;
    EXPECT_EQ(row->arity, c.arity) << c.name;
  }
}

} // namespace
} // namespace shim::app
