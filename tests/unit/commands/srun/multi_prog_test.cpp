#include "multi_prog.h"

#include <gtest/gtest.h>

namespace shim::commands::srun {
namespace {

using Commands = std::vector<std::vector<std::string>>;

TEST(MultiProg, gives_each_task_its_program) {
  const struct {
    const char* text;
    int ntasks;
    Commands want;
  } rows[] = {
      {"# comment\n0 echo zero\n\n1-2\techo  %t %o\n",
       3,
       {{"echo", "zero"}, {"echo", "1", "0"}, {"echo", "2", "1"}}},
      {"0 a\n* b %t-%o\n", 3, {{"a"}, {"b", "1-1"}, {"b", "2-2"}}},
      {"* b\n1 a", 2, {{"b"}, {"a"}}},
      {"0,2 a %o\n1 b", 3, {{"a", "0"}, {"b"}, {"a", "1"}}},
      {"0 sh -c \"echo x\"", 1, {{"sh", "-c", "\"echo", "x\""}}},
      {"0 sh -c 'echo  %t' don't", 1, {{"sh", "-c", "echo  0", "don't"}}},
      {"0 a \\\n  b\n1 c", 2, {{"a", "b"}, {"c"}}},
      {"0 a 100% %x %%t", 1, {{"a", "100%", "%x", "%0"}}},
  };
  for (const auto& row : rows) {
    const auto got = parse_multi_prog(row.text, "f", row.ntasks, {});
    ASSERT_TRUE(got) << row.text << got.error().message;
    EXPECT_EQ(*got, row.want) << row.text;
  }
}

TEST(MultiProg, words_of_the_command_line_follow_every_program) {
  const auto got = parse_multi_prog("0 a\n1 b x", "f", 2, {"extra", "%t"});
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, (Commands{{"a", "extra", "%t"}, {"b", "x", "extra", "%t"}}));
}

TEST(MultiProg, refuses_in_slurms_words) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"0 a", "Configuration file f invalid, no record for task id 1"},
      {"", "Configuration file f invalid, no record for task id 0"},
      {"*\n", "Configuration file f invalid, no record for task id 0"},
      {"0 a\n0 b\n1 c", "Duplicate record for task 0\nLine 2 of configuration file f invalid"},
      {"#\n0-3 a", "Invalid task id, 3 >= ntasks\nLine 2 of configuration file f invalid"},
      {"0-99999999999 a", "Line 1 of configuration file f invalid"},
      {"0-2000000000 a", "Line 1 of configuration file f invalid"},
      {"x a", "Line 1 of configuration file f invalid"},
      {"1-0 a", "Line 1 of configuration file f invalid"},
      {"0 a\n1", "Line 2 of configuration file f invalid"},
      {"0 a \\\nb\n1", "Line 3 of configuration file f invalid"},
  };
  for (const auto& row : rows) {
    const auto got = parse_multi_prog(row.text, "f", 2, {});
    ASSERT_FALSE(got) << row.text;
    EXPECT_EQ(got.error().message, row.error) << row.text;
    EXPECT_EQ(got.error().exit_code, 1);
  }
}

TEST(MultiProg, names_a_file_that_is_not_there) {
  const auto got = read_multi_prog({"/nonexistent/mp.conf"}, 1);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, "Could not open multi_prog config file /nonexistent/mp.conf");
}

} // namespace
} // namespace shim::commands::srun
