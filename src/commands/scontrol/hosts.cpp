#include "scontrol.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/slurm/exit_codes.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>

namespace shim::commands::scontrol {

namespace {

constexpr std::size_t k_max_list_file = std::size_t{16} << 20;

void tell_invalid(const context::Context& ctx, const Error& error, std::string_view list) {
  if (!error.message.empty()) ctx.error(error.message);
  ctx.say("Invalid hostlist: " + std::string(list) + "\n");
}

// The list to encode: the argument, or the words of the file that an absolute path names.
Result<std::string> list_of(const std::string& argument) {
  if (!argument.starts_with('/')) return argument;
  auto text = posix::read_file(argument, k_max_list_file);
  if (!text) return fail(text.error().kind, "Can not open " + argument);
  std::ranges::replace(*text, '\n', ',');
  return text;
}

} // namespace

// A list that is malformed is told, but the exit code stays 0, as in Slurm.
int show_hostnames(const context::Context& ctx, Words words) {
  std::string list = words.empty() ? "" : words[0];
  if (words.empty())
    list = ctx.env.get_or("SLURM_JOB_NODELIST", ctx.env.get_or("SLURM_NODELIST", ""));
  if (words.empty() && list.empty()) {
    ctx.error("host list is empty");
    return slurm::k_exit_ok;
  }
  const auto hosts = slurm::slurm_expand_hostlist(list);
  if (!hosts) {
    tell_invalid(ctx, hosts.error(), list);
    return slurm::k_exit_ok;
  }
  for (const auto& host : *hosts) {
    ctx.out.write(host);
    ctx.out.write("\n");
  }
  return slurm::k_exit_ok;
}

int show_hostlist(const context::Context& ctx, Words words, bool sorted) {
  if (words.empty()) {
    ctx.say("invalid encode argument\n");
    return slurm::k_exit_failure;
  }
  const auto list = list_of(words[0]);
  if (!list) {
    ctx.say(list.error().message + "\n");
    return slurm::k_exit_failure;
  }
  const auto text =
      sorted ? slurm::slurm_sorted_hostlist(*list) : slurm::slurm_compress_hostlist(*list);
  if (!text) {
    tell_invalid(ctx, text.error(), *list);
    return slurm::k_exit_failure;
  }
  ctx.out.write(*text + "\n");
  return slurm::k_exit_ok;
}

} // namespace shim::commands::scontrol
