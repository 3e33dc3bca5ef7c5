#include "slurm_shim/context/opening.h"

#include "slurm_shim/slurm/exit_codes.h"

namespace shim::context {

bool answer_about_itself(const Context& ctx,
                         cli::OptionTable table,
                         const cli::HelpFrame& frame,
                         const cli::Parsed& parsed) {
  for (const auto& given : parsed.given) {
    const auto name = given.option->name;
    if (name == "help")
      ctx.out.write(cli::help_text(table, frame));
    else if (name == "usage")
      ctx.out.write(cli::usage_text(table, frame));
    else if (name == "version")
      ctx.out.write(version_text(ctx));
    else
      continue;
    return true;
  }
  return false;
}

Opening open(const Context& ctx,
             cli::OptionTable table,
             const cli::HelpFrame& frame,
             const std::vector<std::string>& words,
             bool try_line) {
  Opening opening;
  auto parsed =
      cli::parse(table, words, {.command = ctx.command, .permute = true, .try_line = try_line});
  if (!parsed) {
    ctx.say(parsed.error().message + "\n");
    opening.code = slurm::k_exit_failure;
    return opening;
  }
  opening.parsed = std::move(*parsed);
  if (answer_about_itself(ctx, table, frame, opening.parsed)) {
    opening.code = slurm::k_exit_ok;
  } else if (const auto fine = cli::refuse_unsupported(opening.parsed, false); !fine) {
    opening.code = ctx.fail(fine.error());
  } else {
    for (const auto& line : cli::warnings_of(opening.parsed))
      ctx.warning(line);
  }
  return opening;
}

} // namespace shim::context
