#include "slurm_shim/app/app.h"

#include "slurm_shim/app/commands.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/posix/fd_sink.h"
#include "slurm_shim/posix/files.h"

#include <fmt/core.h>

#include <cerrno>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

namespace shim::app {

namespace {

constexpr std::string_view k_root = "slurm-shim";

int root_help(context::Context& ctx) {
  ctx.out.write("usage: slurm-shim <command> [<options>]\n\n");
  for (const auto& command : commands())
    if (command.kind != Kind::internal)
      ctx.out.write(fmt::format("  {:<12} {}\n", command.name, command.summary));
  ctx.out.write("\n'slurm-shim <command> --help' tells about one of them.\n");
  return 0;
}

int root_version(context::Context& ctx) {
  const auto slurm = context::version_text(ctx);
  ctx.out.write(
      fmt::format("slurm-shim {} ({})\n", SHIM_VERSION, slurm.substr(0, slurm.size() - 1)));
  return 0;
}

// What slurm-shim answers itself, without a command.
int run_root(context::Context& ctx, std::span<char* const> args) {
  const std::string_view word = args.empty() ? std::string_view{} : args[0];
  if (word == "--version" || word == "-V" || word == "version") return root_version(ctx);
  if (word == "--help" || word == "-h" || word == "help") return root_help(ctx);
  if (word.empty())
    ctx.error("no command given");
  else
    ctx.error(fmt::format("unknown command \"{}\"", word));
  return 1;
}

int run_in_context(const Command* command, std::span<char* const> args) {
  posix::FdSink out(1, true);
  posix::FdSink err(2, false);
  posix::ProcessRunner runner;
  posix::SystemClock clock;
  context::Context ctx{
      std::string(command != nullptr && command->kind == Kind::user ? command->name : k_root),
      EnvList::from_envp(environ),
      out,
      err,
      runner,
      clock,
      {}};
  int code = 1;
  try {
    if (command == nullptr)
      code = run_root(ctx, args);
    else
      code = command->run(ctx, std::vector<std::string>(args.begin(), args.end()));
  } catch (const std::exception& e) {
    ctx.error(e.what());
  }
  // A closed pipe is the reader's choice and stays quiet; a full disk is told.
  if (const int error = out.flush(); error != 0) {
    if (error != EPIPE) ctx.error(fail_errno("write error", error).value().message);
    if (code == 0) code = 1;
  }
  return code;
}

} // namespace

namespace {

struct Call {
  const Command* command = nullptr; // nullptr: slurm-shim itself
  std::span<char* const> args;      // without the word that named the command
};

Call find_call(int argc, char** argv) {
  Call call{nullptr, {argv, static_cast<std::size_t>(argc < 0 ? 0 : argc)}};
  const std::string_view called = call.args.empty() ? k_root : posix::base_name(call.args[0]);
  if (!call.args.empty()) call.args = call.args.subspan(1);
  // Any name that is no command's is the root: a renamed binary keeps working (spec launch 1.8).
  call.command = find_command(called);
  if (call.command == nullptr && !call.args.empty()) {
    call.command = find_command(call.args[0]);
    if (call.command != nullptr) call.args = call.args.subspan(1);
  }
  return call;
}

} // namespace

int run(int argc, char** argv) {
  posix::ensure_standard_fds();
  const auto [command, args] = find_call(argc, argv);
  if (command != nullptr && command->run_internal != nullptr) return command->run_internal(args);
  return run_in_context(command, args);
}

void run_early(int argc, char** argv) {
  const auto [command, args] = find_call(argc, argv);
  if (command == nullptr || (command->name != "stepper" && command->name != "rank-exec")) return;
  posix::ensure_standard_fds();
  ::_exit(command->run_internal(args));
}

} // namespace shim::app
