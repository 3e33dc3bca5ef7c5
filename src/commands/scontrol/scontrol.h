#pragma once
// The verbs of scontrol, one function each. `words`: what follows the verb. Results are exit codes;
// an error has been told. Spec commands 6, vectors/02 and 10.

#include "slurm_shim/context/context.h"

#include <span>
#include <string>

namespace shim::commands::scontrol {

struct Settings {
  bool oneliner = false;
  bool quiet = false; // no messages
  bool details = false;
};
using Words = std::span<const std::string>;

// Slurm's way to tell most things: the text alone, without "scontrol: error:".
void tell(const context::Context& ctx, const Settings& settings, std::string_view text);

int show_hostnames(const context::Context& ctx, Words words);
int show_hostlist(const context::Context& ctx, Words words, bool sorted);
int show_job(context::Context& ctx, const Settings& settings, Words words);
int ping(context::Context& ctx, const Settings& settings);
int hold(context::Context& ctx, const Settings& settings, Words words);
int release(context::Context& ctx, const Settings& settings, Words words);
int requeue(context::Context& ctx, const Settings& settings, Words words);

} // namespace shim::commands::scontrol
