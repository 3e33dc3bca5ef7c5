#include "lexer.h"

#include <gtest/gtest.h>

namespace shim::commands::sbatch {
namespace {

std::vector<std::string> texts(std::string_view script, std::string_view marker = "#SBATCH") {
  const auto words = read_directives(script, marker, "job.sh");
  EXPECT_TRUE(words.has_value());
  std::vector<std::string> out;
  if (words)
    for (const auto& word : *words)
      out.push_back(word.text);
  return out;
}

using Words = std::vector<std::string>;

struct Case {
  const char* name;
  const char* body; // below the first line
  Words words;
};

TEST(Lexer, splits_directive_lines_as_slurm_does) {
  const Case cases[] = {
      {"plain", "#SBATCH -J aa\n#SBATCH -t 7\ntrue\n", {"-J", "aa", "-t", "7"}},
      {"ends at the first command", "#SBATCH -J aa\ntrue\n#SBATCH -t 7\n", {"-J", "aa"}},
      {"a colon is a command", "#SBATCH -J aa\n:\n#SBATCH -t 9\n", {"-J", "aa"}},
      {"blank lines go on", "\n\n#SBATCH -J aa\n   \n#SBATCH -t 7\n", {"-J", "aa", "-t", "7"}},
      {"blank before the word is a comment", "# SBATCH -J aa\n#SBATCH -t 7\n", {"-t", "7"}},
      {"indented is a comment", "  #SBATCH -J aa\n\t#SBATCH -J b\n#SBATCH -t 7\n", {"-t", "7"}},
      {"no blank needed", "#SBATCH-J aa\n#SBATCH--time=7\n", {"-J", "aa", "--time=7"}},
      {"letters stick", "#SBATCHX -J aa\n", {"X", "-J", "aa"}},
      {"case counts", "#sbatch -J aa\n", {}},
      {"empty", "#SBATCH\n#SBATCH   \n", {}},
      {"comment at a word",
       "#SBATCH -J aa # my name\n#SBATCH -t 7 #seven\n",
       {"-J", "aa", "-t", "7"}},
      {"hash inside a word", "#SBATCH -J a#b\n", {"-J", "a#b"}},
      {"blanks at the end", "#SBATCH -J aa   \n#SBATCH -t 7\t\n", {"-J", "aa", "-t", "7"}},
      {"quotes", "#SBATCH --comment=\"x # y\" 'a  b'\n", {"--comment=x # y", "a  b"}},
      {"escapes", "#SBATCH --comment=\"a\\\"b\" c\\ d 'e\\f'\n", {"--comment=a\"b", "c d", "e\\f"}},
      {"no expansion", "#SBATCH -J $USER `id` ~\n", {"-J", "$USER", "`id`", "~"}},
      {"lone carriage return", "#SBATCH -J aa\r#SBATCH -t 7\n", {"-J", "aa"}},
      {"no line feed at the end", "#SBATCH -t 7", {"-t", "7"}},
      {"empty quotes are a word", "#SBATCH -J ''\n", {"-J", ""}},
  };
  for (const auto& c : cases)
    EXPECT_EQ(texts("#!/bin/bash\n" + std::string(c.body)), c.words) << c.name;
}

TEST(Lexer, tells_the_line_of_each_word) {
  const auto words = read_directives("#!/bin/sh\n\n#SBATCH -J a\n#SBATCH b\n", "#SBATCH", "x");
  ASSERT_TRUE(words.has_value());
  EXPECT_EQ(*words, (std::vector<DirectiveWord>{{"-J", 3}, {"a", 3}, {"b", 4}}));
}

TEST(Lexer, refuses_an_unmatched_quote_with_line_and_rest) {
  const auto words = read_directives(
      "#!/bin/bash\n#SBATCH -H --job-name=\"aa bb\n#SBATCH -t 7\ntrue\n", "#SBATCH", "job.sh");
  ASSERT_FALSE(words.has_value());
  EXPECT_EQ(words.error().message,
            "sbatch: fatal: job.sh: line 2: Unmatched `\"` in [--job-name=\"aa bb]");
  EXPECT_EQ(words.error().exit_code, 1);
}

TEST(Lexer, reads_other_markers) {
  const std::string script = "#!/bin/bash\n#PBS -N pbsname\n#SBATCH -J aa\n#BSUB -W 7\ntrue\n";
  EXPECT_EQ(texts(script, "#PBS"), (Words{"-N", "pbsname"}));
  EXPECT_EQ(texts(script, "#BSUB"), (Words{"-W", "7"}));
}

TEST(Lexer, knows_the_lines_that_come_too_late) {
  const struct {
    const char* name;
    const char* script;
    std::vector<int> lines;
  } cases[] = {
      {"none", "#!/bin/sh\n#SBATCH -n2\ntrue\n", {}},
      {"behind a command", "#!/bin/sh\nset -e\n#SBATCH -n2\n\n#SBATCH\t-t 1\n", {3, 5}},
      {"commented or stuck", "#!/bin/sh\ntrue\n##SBATCH -n2\n#SBATCH\n#SBATCH-n2\n # x\n", {}},
      {"of another script", "#!/bin/sh\ncat >job <<EOF\n#SBATCH -n2\nEOF\n#SBATCH -n3\n", {5}},
      {"quoted end", "#!/bin/sh\ncat <<-'END' >job\n#SBATCH -n2\n\tEND\ntrue\n", {}},
      {"a here-string is none", "#!/bin/sh\ncat <<<x\n#SBATCH -n2\n", {3}},
  };
  for (const auto& c : cases)
    EXPECT_EQ(late_directives(c.script, "#SBATCH"), c.lines) << c.name;
}

} // namespace
} // namespace shim::commands::sbatch
