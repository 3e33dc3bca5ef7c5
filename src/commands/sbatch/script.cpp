#include "script.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/submit/refusal.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace shim::commands::sbatch {

using submit::refuse;
using submit::refuse_submission;

namespace {

bool is_directory(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

bool is_regular(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
}

// A name without a slash that is not in the working directory is looked for in PATH, among
// executable files.
std::string resolve(const std::string& word, const EnvList& env, const std::string& directory) {
  auto local = posix::absolute(word, directory);
  if (posix::exists(local) || word.find('/') != std::string::npos) return local;
  const auto search_path = env.get_or("PATH", "");
  for (const auto folder : split(search_path, ':')) {
    if (folder.empty()) continue;
    auto candidate = posix::absolute(std::string(folder) + "/" + word, directory);
    if (is_regular(candidate) && posix::is_executable_file(candidate)) return candidate;
  }
  return local;
}

Result<std::string> read_all(int fd) {
  auto text = posix::read_fd(fd, k_max_script_bytes);
  if (!text && text.error().kind == ErrorKind::malformed)
    return refuse_submission("Pathname of a file, directory or other parameter too long");
  if (!text) return refuse(text.error().message);
  return std::move(*text);
}

} // namespace

Result<Script>
load_script(const std::string& word, const EnvList& env, const std::string& directory) {
  Script script;
  if (word.empty()) {
    TRY_ASSIGN(script.text, read_all(0));
    return script;
  }
  script.name = word;
  const auto path = resolve(word, env, directory);
  if (!is_directory(path)) { // Slurm reads nothing from a directory and calls it empty
    auto fd = posix::open_file(path, O_RDONLY);
    if (!fd) return refuse("Unable to open file " + word);
    TRY_ASSIGN(script.text, read_all(fd->get()));
  }
  // As Slurm: a plain name becomes absolute, a path stays as it was written.
  script.command = word.find('/') == std::string::npos ? path : word;
  if (is_regular(path)) script.path = path; // a pipe has been drained: the text is spooled
  return script;
}

Script wrap_script(std::string_view command) {
  Script script;
  script.text =
      "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + std::string(command) + "\n";
  script.wrapped = true;
  return script;
}

Result<void> check_script(std::string_view text) {
  if (text.empty()) return refuse("Batch script is empty!");
  if (text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos)
    return refuse("Batch script contains only whitespace!");
  if (!text.starts_with("#!"))
    return refuse("This does not look like a batch script.  The first\n"
                  "line must start with #! followed by the path to an interpreter.\n"
                  "For instance: #!/bin/sh");
  if (text.find('\0') != std::string_view::npos)
    return refuse("The Slurm controller does not allow scripts that\n"
                  "contain a NULL character '\\0'.");
  if (text.find("\r\n") != std::string_view::npos)
    return refuse("Batch script contains DOS line breaks (\\r\\n)\n"
                  "instead of expected UNIX line breaks (\\n).");
  return {};
}

} // namespace shim::commands::sbatch
