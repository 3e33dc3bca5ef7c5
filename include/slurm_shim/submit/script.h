#pragma once
// The batch script of a submission, however it was found. Spec sbatch-translate 2.

#include <string>
#include <string_view>

namespace shim::submit {

struct Script {
  std::string name;    // as the user wrote it; "" for stdin and --wrap
  std::string path;    // absolute path of a regular file; "" = the text must be spooled
  std::string command; // what scontrol shows as Command; "" = none
  std::string text;
  bool wrapped = false;
};

// The interpreter for `qsub -S`, which a queue in posix_compliant mode starts instead of looking at
// the first line: the interpreter itself when it stands alone, else env(1), which executes the
// script and so leaves the line to the kernel.
[[nodiscard]] std::string shell_for_queue(std::string_view text);

} // namespace shim::submit
