#include "slurm_shim/cli/packed_options.h"
#include "slurm_shim/commands/scontrol.h"

namespace shim::commands {

namespace {

using cli::Arity;
using cli::Option;
using cli::Support;

// Every option of Slurm's scontrol, in order of names. Own words in help and note.
constexpr Option k_options[] = {
    {.name = "all",
     .letter = 'a',
     .support = Support::accepted,
     .env = "SCONTROL_ALL",
     .help = "show hidden partitions too"},
    {.name = "clusters",
     .letter = 'M',
     .arity = Arity::required,
     .metavar = "names",
     .env = "SLURM_CLUSTERS",
     .help = "clusters to send the command to; there is one"},
    {.name = "cluster",
     .arity = Arity::required,
     .metavar = "names",
     .hidden = true,
     .alias_of = "clusters"},
    {.name = "details", .letter = 'd', .help = "show more detail"},
    {.name = "federation",
     .support = Support::accepted,
     .env = "SCONTROL_FEDERATION",
     .help = "show the federation"},
    {.name = "future",
     .letter = 'F',
     .support = Support::accepted,
     .env = "SCONTROL_FUTURE",
     .help = "show future hosts"},
    {.name = "help", .letter = 'h', .help = "show this text"},
    {.name = "hide", .support = Support::accepted, .help = "do not show hidden partitions"},
    {.name = "json", .help = "print JSON"},
    {.name = "local",
     .support = Support::accepted,
     .env = "SCONTROL_LOCAL",
     .help = "show the local cluster only"},
    {.name = "oneliner", .letter = 'o', .help = "one line for each record"},
    {.name = "quiet", .letter = 'Q', .help = "say nothing but errors"},
    {.name = "sibling",
     .support = Support::accepted,
     .env = "SCONTROL_SIBLING",
     .help = "show jobs of sibling clusters"},
    {.name = "uid",
     .letter = 'u',
     .arity = Arity::required,
     .metavar = "uid",
     .support = Support::rejected,
     .help = "act as this user",
     .note = "requests are made as the calling user"},
    {.name = "usage", .help = "show a short synopsis"},
    {.name = "verbose", .letter = 'v', .help = "say more; may be repeated"},
    {.name = "version", .letter = 'V', .help = "show the version"},
    {.name = "yaml", .help = "print YAML"},
};

} // namespace

cli::OptionTable scontrol_options() {
  return cli::unpacked_options<k_options>();
}

} // namespace shim::commands
