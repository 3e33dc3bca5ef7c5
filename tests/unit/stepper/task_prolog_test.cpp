// What a task prolog says, and how it may end.
#include "task_prolog.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_dir.h"
#include <sys/stat.h>

namespace shim::stepper {
namespace {

TEST(TaskProlog, lines_change_the_environment) {
  EnvList env({"OLD=1", "KEPT=1", "PATH=/bin"});
  const auto printed = apply_prolog_lines("export NEW=a = b \n"
                                          "export  TWO=2\n"
                                          "unset OLD\n"
                                          "print hello  world\n"
                                          "print\n"
                                          "exported KEPT=9\n"
                                          "export KEPT\n"
                                          "export =x\n"
                                          "unset\n"
                                          "chatter\n"
                                          "export LAST=without an end of line",
                                          env);
  EXPECT_EQ(printed, "hello  world\n\n");
  EXPECT_EQ(env.entries(),
            (std::vector<std::string>{
                "KEPT=1", "PATH=/bin", "NEW=a = b ", "TWO=2", "LAST=without an end of line"}));
}

class TaskPrologRun : public testing::Test {
protected:
  std::string program(const std::string& text) {
    const auto path = dir / "prolog";
    std::ofstream(path) << "#!/bin/sh\n" << text;
    ::chmod(path.c_str(), 0755);
    return path;
  }
  test::TempDir dir;
  EnvList env{{"PATH=/usr/bin:/bin", "SLURM_TASK_PID=7"}};
};

TEST_F(TaskPrologRun, sees_the_tasks_environment_and_nothing_on_stdin) {
  const auto path = program("echo export SEEN=$SLURM_TASK_PID:$(cat)\n");
  const auto done = run_task_prolog(path, env);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(env.get("SEEN"), "7:");
}

TEST_F(TaskPrologRun, does_not_wait_for_what_it_leaves_behind) {
  const auto path = program("echo export A=1\nsleep 1000 &\necho export B=$!\n");
  const auto done = run_task_prolog(path, env);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(env.get("A"), "1");
  ASSERT_TRUE(env.has("B"));
  ::kill(std::stoi(std::string(*env.get("B"))), SIGKILL);
}

TEST_F(TaskPrologRun, failures_are_named) {
  const auto failing = program("echo export A=1\nexit 3\n");
  EXPECT_EQ(run_task_prolog(failing, env).error().message,
            "task prolog " + failing + ": exit code 3");
  EXPECT_FALSE(env.has("A"));
  const auto killed = program("kill -TERM $$\n");
  EXPECT_EQ(run_task_prolog(killed, env).error().message, "task prolog " + killed + ": signal 15");
  EXPECT_EQ(run_task_prolog("/no/such", env).error().message,
            "task prolog /no/such: No such file or directory");
}

} // namespace
} // namespace shim::stepper
