#pragma once
// The verbs of scontrol, one function each. `words`: what follows the verb. Results are exit codes;
// an error has been told. Spec commands 6, vectors/02 and 10.

#include "slurm_shim/cluster/cluster.h"
#include "slurm_shim/context/context.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shim::commands::scontrol {

struct Settings {
  bool oneliner = false;
  bool quiet = false; // no messages
  bool details = false;
  bool json = false, yaml = false;
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
int requeue_hold(context::Context& ctx, const Settings& settings, Words words);
int suspend(context::Context& ctx, const Settings& settings, Words words);
int resume(context::Context& ctx, const Settings& settings, Words words);
int top(context::Context& ctx, const Settings& settings, Words words);
int wait_job(context::Context& ctx, const Settings& settings, Words words);
int show_nodes(context::Context& ctx, const Settings& settings, Words words);
int show_partitions(context::Context& ctx, const Settings& settings, Words words);
int show_steps(context::Context& ctx, const Settings& settings, Words words);
int show_config(context::Context& ctx);
int update(context::Context& ctx, const Settings& settings, Words words);
int write_script(context::Context& ctx, const Settings& settings, Words words);

// {"nodes": [...]} and {"partitions": [...]} as JSON or YAML.
void print_document(context::Context& ctx,
                    const Settings& settings,
                    const std::vector<const cluster::Node*>& nodes);
void print_document(context::Context& ctx,
                    const Settings& settings,
                    const cluster::Cluster& all,
                    const std::vector<const cluster::Partition*>& partitions);

} // namespace shim::commands::scontrol
