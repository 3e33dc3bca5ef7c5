#include "slurm_shim/cli/packed_options.h"
#include "slurm_shim/commands/probes.h"

namespace shim::commands {

namespace {

using cli::Arity;
using cli::Option;
using cli::Support;

constexpr Option k_sacctmgr[] = {
    {.name = "associations",
     .letter = 's',
     .support = Support::accepted,
     .help = "associations too"},
    {.name = "help", .letter = 'h', .help = "show this text"},
    {.name = "immediate", .letter = 'i', .support = Support::accepted, .help = "do not ask"},
    {.name = "noheader", .letter = 'n', .help = "no header"},
    {.name = "oneliner", .letter = 'o', .support = Support::accepted, .help = "one line each"},
    {.name = "parsable", .letter = 'p', .help = "columns end in '|'"},
    {.name = "parsable2", .letter = 'P', .help = "columns are separated by '|'"},
    {.name = "quiet",
     .letter = 'Q',
     .support = Support::accepted,
     .help = "say nothing but errors"},
    {.name = "readonly", .letter = 'r', .support = Support::accepted, .help = "change nothing"},
    {.name = "usage", .help = "show a short synopsis"},
    {.name = "verbose", .letter = 'v', .support = Support::accepted, .help = "say more"},
    {.name = "version", .letter = 'V', .help = "show the version"},
};

constexpr Option k_sattach[] = {
    {.name = "error-filter",
     .arity = Arity::optional,
     .metavar = "task",
     .support = Support::accepted,
     .help = "stderr of one task only"},
    {.name = "help", .letter = 'h', .help = "show this text"},
    {.name = "input-filter",
     .arity = Arity::optional,
     .metavar = "task",
     .support = Support::accepted,
     .help = "stdin to one task only"},
    {.name = "label", .letter = 'l', .support = Support::accepted, .help = "label the lines"},
    {.name = "layout", .support = Support::accepted, .help = "show the layout of tasks"},
    {.name = "output-filter",
     .arity = Arity::optional,
     .metavar = "task",
     .support = Support::accepted,
     .help = "stdout of one task only"},
    {.name = "pty", .support = Support::accepted, .help = "a terminal for task 0"},
    {.name = "quiet",
     .letter = 'Q',
     .support = Support::accepted,
     .help = "say nothing but errors"},
    {.name = "usage", .letter = 'u', .help = "show a short synopsis"},
    {.name = "verbose", .letter = 'v', .support = Support::accepted, .help = "say more"},
    {.name = "version", .letter = 'V', .help = "show the version"},
};

constexpr Option k_sbcast[] = {
    {.name = "compress",
     .letter = 'C',
     .arity = Arity::optional,
     .metavar = "library",
     .support = Support::accepted,
     .help = "compress on the way"},
    {.name = "exclude",
     .arity = Arity::required,
     .metavar = "paths",
     .support = Support::accepted,
     .help = "libraries to leave out"},
    {.name = "fanout",
     .letter = 'F',
     .arity = Arity::required,
     .metavar = "number",
     .support = Support::accepted,
     .help = "messages at once"},
    {.name = "force", .letter = 'f', .env = "SBCAST_FORCE", .help = "replace a file"},
    {.name = "help", .help = "show this text"},
    {.name = "jobid",
     .letter = 'j',
     .arity = Arity::required,
     .metavar = "id",
     .help = "the job to copy to"},
    {.name = "preserve", .letter = 'p', .env = "SBCAST_PRESERVE", .help = "keep times and modes"},
    {.name = "receive",
     .arity = Arity::required,
     .metavar = "parcel",
     .help = "what the tasks of the step are started with",
     .hidden = true},
    {.name = "send-libs",
     .arity = Arity::optional,
     .metavar = "yes|no",
     .support = Support::later,
     .help = "send libraries as well",
     .note = "libraries are not sent"},
    {.name = "size",
     .letter = 's',
     .arity = Arity::required,
     .metavar = "bytes",
     .support = Support::accepted,
     .help = "size of a block"},
    {.name = "timeout",
     .letter = 't',
     .arity = Arity::required,
     .metavar = "seconds",
     .support = Support::accepted,
     .help = "time for a message"},
    {.name = "usage", .help = "show a short synopsis"},
    {.name = "verbose", .letter = 'v', .support = Support::accepted, .help = "say more"},
    {.name = "version", .letter = 'V', .help = "show the version"},
};

constexpr Option k_plain[] = {
    {.name = "help", .letter = 'h', .help = "show this text"},
    {.name = "usage", .help = "show a short synopsis"},
    {.name = "verbose", .letter = 'v', .support = Support::accepted, .help = "say more"},
    {.name = "version", .letter = 'V', .help = "show the version"},
};

constexpr Option k_strigger[] = {
    {.name = "clear", .help = "remove a trigger"},
    {.name = "get", .help = "show triggers"},
    {.name = "help", .letter = 'h', .help = "show this text"},
    {.name = "set", .help = "set a trigger"},
    {.name = "usage", .help = "show a short synopsis"},
    {.name = "verbose", .letter = 'v', .support = Support::accepted, .help = "say more"},
    {.name = "version", .letter = 'V', .help = "show the version"},
};

constexpr Option k_sprio[] = {
    {.name = "federation", .support = Support::accepted, .help = "show the federation"},
    {.name = "format",
     .letter = 'o',
     .arity = Arity::required,
     .metavar = "format",
     .support = Support::later,
     .help = "columns to show",
     .note = "the default columns are shown"},
    {.name = "help", .help = "show this text"},
    {.name = "jobs",
     .letter = 'j',
     .arity = Arity::required,
     .metavar = "ids",
     .help = "only these jobs"},
    {.name = "local", .support = Support::accepted, .help = "show the local cluster only"},
    {.name = "long", .letter = 'l', .support = Support::accepted, .help = "show more columns"},
    {.name = "noheader", .letter = 'h', .help = "no header"},
    {.name = "norm",
     .letter = 'n',
     .support = Support::accepted,
     .help = "show factors between 0 and 1"},
    {.name = "partition",
     .letter = 'p',
     .arity = Arity::required,
     .metavar = "names",
     .help = "only jobs of these partitions"},
    {.name = "sibling", .support = Support::accepted, .help = "show sibling clusters"},
    {.name = "sort",
     .letter = 'S',
     .arity = Arity::required,
     .metavar = "fields",
     .support = Support::accepted,
     .help = "order of the lines"},
    {.name = "usage", .help = "show a short synopsis"},
    {.name = "user",
     .letter = 'u',
     .arity = Arity::required,
     .metavar = "names",
     .help = "only jobs of these users"},
    {.name = "verbose", .letter = 'v', .support = Support::accepted, .help = "say more"},
    {.name = "version", .letter = 'V', .help = "show the version"},
    {.name = "weights",
     .letter = 'w',
     .support = Support::rejected,
     .help = "show the weights of the factors",
     .note = "see weight_* of 'qconf -ssconf'"},
};

constexpr Option k_sshare[] = {
    {.name = "accounts",
     .letter = 'A',
     .arity = Arity::required,
     .metavar = "names",
     .help = "only these accounts (projects)"},
    {.name = "all", .letter = 'a', .help = "show all users"},
    {.name = "format",
     .letter = 'o',
     .arity = Arity::required,
     .metavar = "fields",
     .help = "columns to show"},
    {.name = "help", .help = "show this text"},
    {.name = "long", .letter = 'l', .support = Support::accepted, .help = "show more columns"},
    {.name = "noheader", .letter = 'n', .help = "no header"},
    {.name = "parsable", .letter = 'p', .help = "columns end in '|'"},
    {.name = "parsable2", .letter = 'P', .help = "columns are separated by '|'"},
    {.name = "partition", .letter = 'm', .support = Support::accepted, .help = "show partitions"},
    {.name = "usage", .help = "show a short synopsis"},
    {.name = "users",
     .letter = 'u',
     .arity = Arity::required,
     .metavar = "names",
     .help = "only these users"},
    {.name = "verbose", .letter = 'v', .support = Support::accepted, .help = "say more"},
    {.name = "version", .letter = 'V', .help = "show the version"},
};

constexpr Option k_sstat[] = {
    {.name = "allsteps", .letter = 'a', .help = "all steps of the jobs"},
    {.name = "format",
     .letter = 'o',
     .arity = Arity::required,
     .metavar = "fields",
     .help = "columns to show"},
    {.name = "help", .letter = 'h', .help = "show this text"},
    {.name = "helpformat", .letter = 'e', .help = "list the fields of --format"},
    {.name = "jobs",
     .letter = 'j',
     .arity = Arity::required,
     .metavar = "ids",
     .help = "jobs or steps; of a job its first step"},
    {.name = "noconvert", .support = Support::accepted, .help = "keep the units of sizes"},
    {.name = "noheader", .letter = 'n', .help = "no header"},
    {.name = "parsable", .letter = 'p', .help = "columns end in '|'"},
    {.name = "parsable2", .letter = 'P', .help = "columns are separated by '|'"},
    {.name = "pidformat",
     .letter = 'i',
     .support = Support::rejected,
     .help = "show the processes of steps",
     .note = "the processes of other hosts are not known"},
    {.name = "usage", .help = "show a short synopsis"},
    {.name = "verbose", .letter = 'v', .support = Support::accepted, .help = "say more"},
    {.name = "version", .letter = 'V', .help = "show the version"},
};

} // namespace

cli::OptionTable sacctmgr_options() {
  return cli::unpacked_options<k_sacctmgr>();
}
cli::OptionTable sattach_options() {
  return cli::unpacked_options<k_sattach>();
}
cli::OptionTable sbcast_options() {
  return cli::unpacked_options<k_sbcast>();
}
cli::OptionTable sdiag_options() {
  return cli::unpacked_options<k_plain>();
}
cli::OptionTable sreport_options() {
  return cli::unpacked_options<k_plain>();
}
cli::OptionTable strigger_options() {
  return cli::unpacked_options<k_strigger>();
}
cli::OptionTable sprio_options() {
  return cli::unpacked_options<k_sprio>();
}
cli::OptionTable sshare_options() {
  return cli::unpacked_options<k_sshare>();
}
cli::OptionTable sstat_options() {
  return cli::unpacked_options<k_sstat>();
}

} // namespace shim::commands
