#pragma once
// --multi-prog: which program each task runs, out of a file of lines `TASKS PROGRAM ARGS...`. TASKS
// is a list (0,2-5) or *, which is for the tasks that no other line names; %t in an argument is the
// task's number, %o its place in the line's list. Words are split at blanks; double quotes mean
// nothing (as in Slurm), single quotes keep blanks together; a backslash at the end of a line
// continues it. Pure. Vectors 06 multi.*.

#include "slurm_shim/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::srun {

// The command of each task. `extra`: words of the command line, behind every program's own. Errors
// (exit 1) are Slurm's lines; `file` is its name as given.
[[nodiscard]] Result<std::vector<std::vector<std::string>>>
parse_multi_prog(std::string_view text,
                 const std::string& file,
                 int ntasks,
                 const std::vector<std::string>& extra);

// The same from the file, whose name is the first word of `command`.
[[nodiscard]] Result<std::vector<std::vector<std::string>>>
read_multi_prog(const std::vector<std::string>& command, int ntasks);

} // namespace shim::commands::srun
