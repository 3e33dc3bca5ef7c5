#include "links.h"

#include "slurm_shim/app/commands.h"

#include <cerrno>

#include <unistd.h>

namespace shim::app {

namespace {

constexpr std::string_view k_help =
    "Usage: slurm-shim links [--create DIR]\n"
    "\n"
    "Lists the names that slurm-shim is called by.\n"
    "\n"
    "  --create DIR  makes them in DIR, as relative links to slurm-shim\n"
    "  --help        this text\n";

// Replaces a link of ours, never a regular file (that may be a real Slurm's command).
Result<void> create_link(const std::string& path) {
  if (::symlink("slurm-shim", path.c_str()) == 0) return {};
  if (errno != EEXIST) return fail_errno(path, errno);
  char target[64];
  const auto length = ::readlink(path.c_str(), target, sizeof target);
  if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == "slurm-shim")
    return {};
  return fail(ErrorKind::refused, path + ": exists and is not a link to slurm-shim");
}

} // namespace

int run_links(context::Context& ctx, const std::vector<std::string>& words) {
  if (words.empty()) {
    for (const auto& name : link_names())
      ctx.out.write(name + "\n");
    return 0;
  }
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) {
    ctx.out.write(k_help);
    return 0;
  }
  if (words.size() != 2 || words[0] != "--create") {
    ctx.error("usage: slurm-shim links [--create DIR]");
    return 1;
  }
  for (const auto& name : link_names())
    if (const auto made = create_link(words[1] + "/" + name); !made) return ctx.fail(made.error());
  return 0;
}

} // namespace shim::app
