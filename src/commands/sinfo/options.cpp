#include "slurm_shim/cli/packed_options.h"
#include "slurm_shim/commands/sinfo.h"

namespace shim::commands {

namespace {

using cli::Arity;
using cli::Option;
using cli::Support;

// Every option of Slurm's sinfo, in order of names. Own words in help and note.
constexpr Option k_options[] = {
    {.name = "Format",
     .letter = 'O',
     .arity = Arity::required,
     .metavar = "fields",
     .help = "columns by name, name:width, name:.width to justify right"},
    {.name = "Node", .letter = 'N', .help = "one line for each node and partition"},
    {.name = "all", .letter = 'a', .env = "SINFO_ALL", .help = "show all partitions"},
    {.name = "clusters",
     .letter = 'M',
     .arity = Arity::required,
     .metavar = "names",
     .env = "SLURM_CLUSTERS",
     .help = "clusters to send the command to; there is one"},
    {.name = "dead", .letter = 'd', .help = "only nodes that do not respond"},
    {.name = "exact", .letter = 'e', .help = "do not group nodes of different sizes"},
    {.name = "federation", .support = Support::accepted, .help = "show the federation"},
    {.name = "format",
     .letter = 'o',
     .arity = Arity::required,
     .metavar = "format",
     .env = "SINFO_FORMAT",
     .help = "columns to show, as %letters"},
    {.name = "help", .help = "show this text"},
    {.name = "hide", .support = Support::accepted, .help = "do not show hidden partitions"},
    {.name = "iterate",
     .letter = 'i',
     .arity = Arity::required,
     .metavar = "seconds",
     .help = "show the state again and again"},
    {.name = "json", .help = "print JSON"},
    {.name = "list-reasons", .letter = 'R', .help = "why nodes are down or drained"},
    {.name = "local", .support = Support::accepted, .help = "show the local cluster only"},
    {.name = "long", .letter = 'l', .help = "show more columns"},
    {.name = "noconvert", .support = Support::accepted, .help = "keep the units of sizes"},
    {.name = "nodes",
     .letter = 'n',
     .arity = Arity::required,
     .metavar = "hosts",
     .help = "only these nodes"},
    {.name = "noheader", .letter = 'h', .help = "no header"},
    {.name = "partition",
     .letter = 'p',
     .arity = Arity::required,
     .metavar = "names",
     .env = "SINFO_PARTITION",
     .help = "only these partitions"},
    {.name = "reservation", .letter = 'T', .help = "show reservations"},
    {.name = "responding", .letter = 'r', .help = "only nodes that respond"},
    {.name = "sort",
     .letter = 'S',
     .arity = Arity::required,
     .metavar = "letters",
     .env = "SINFO_SORT",
     .help = "order of the lines: letters of --format, + or - before each"},
    {.name = "states",
     .letter = 't',
     .arity = Arity::required,
     .metavar = "states",
     .help = "only nodes in these states"},
    {.name = "summarize", .letter = 's', .help = "one line for each partition"},
    {.name = "usage", .help = "show a short synopsis"},
    {.name = "verbose", .letter = 'v', .help = "say more; may be repeated"},
    {.name = "version", .letter = 'V', .help = "show the version"},
    {.name = "yaml", .help = "print YAML"},
};

} // namespace

cli::OptionTable sinfo_options() {
  return cli::unpacked_options<k_options>();
}

} // namespace shim::commands
