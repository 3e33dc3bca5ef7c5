// Writes the man pages, the completion scripts and compatibility.md below a folder, at build time:
//   slurm-shim-manual FOLDER COMPLETION_BASH
// FOLDER is made anew, with man/, bash-completion/, zsh/ and fish/ as they lie below share/, and
// with compatibility.md.
#include "slurm_shim/manual/documents.h"
#include "slurm_shim/manual/topic.h"
#include "slurm_shim/posix/fd_sink.h"
#include "slurm_shim/posix/files.h"

#include <filesystem>
#include <string>

namespace {

using shim::Result;

Result<void> write(const std::string& path, const std::string& text) {
  TRY(shim::posix::make_directories(shim::posix::dir_name(path), 0755));
  return shim::posix::write_file_atomic(path, text, 0644);
}

Result<void> write_all(const std::string& folder, const std::string& completion) {
  std::filesystem::remove_all(folder);
  TRY_ASSIGN(const auto topics, shim::manual::read_topics());
  TRY_ASSIGN(const auto bash, shim::posix::read_file(completion));
  const auto page = [&](const std::string& name, int section) {
    const auto number = std::to_string(section);
    return folder + "/man/man" + number + "/" + name + "." + number;
  };
  for (const auto& topic : topics)
    TRY(write(page(topic.page, topic.section), shim::manual::man_page(topic, SHIM_VERSION)));
  TRY(write(page("slurm-shim", 8), shim::manual::root_page(topics, SHIM_VERSION)));
  const auto bash_folder = folder + "/bash-completion/completions/";
  TRY(write(bash_folder + "slurm-shim", bash + shim::manual::bash_completion(topics)));
  TRY(write(folder + "/zsh/vendor-completions/_slurm_shim", shim::manual::zsh_completion(topics)));
  for (const auto& topic : topics) {
    if (!topic.has_own_name()) continue;
    // bash looks for a file of the command's name.
    std::filesystem::create_symlink("slurm-shim", bash_folder + topic.name);
    TRY(write(folder + "/fish/vendor_completions.d/" + topic.name + ".fish",
              shim::manual::fish_completion(topic)));
  }
  return write(folder + "/compatibility.md", shim::manual::compatibility(topics));
}

} // namespace

int main(int argc, char** argv) {
  shim::posix::FdSink err(2, false);
  if (argc != 3) {
    err.write("usage: slurm-shim-manual FOLDER COMPLETION_BASH\n");
    return 2;
  }
  if (const auto done = write_all(argv[1], argv[2]); !done) {
    err.write("slurm-shim-manual: error: " + done.error().message + "\n");
    return 1;
  }
  return 0;
}
