#pragma once
// --task-prolog: a program that runs in a task's place before the task does, with its environment.
// What it prints changes that environment: `export NAME=value`, `unset NAME`; `print text` goes to
// the task's stdout; other lines mean nothing. When it fails, the task is not started. Run by the
// rank-exec trampoline, so that the task has the pid that the prolog was told. Vectors 06
// step.taskepilog; srun's manual.

#include "slurm_shim/base/env_list.h"
#include "slurm_shim/base/result.h"

#include <string>
#include <string_view>

namespace shim::stepper {

// The text to print. Pure.
[[nodiscard]] std::string apply_prolog_lines(std::string_view text, EnvList& env);

// Runs it to its end; stdin is empty, stderr the task's. `env` is the task's and becomes what the
// program says. Errors: "task prolog /x: No such file or directory", "task prolog /x: exit code 3".
[[nodiscard]] Result<void> run_task_prolog(const std::string& program, EnvList& env);

} // namespace shim::stepper
