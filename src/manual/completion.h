#pragma once
// What all completion scripts ask of a topic: which values an option takes, and which words follow
// a command such as scontrol.

#include "slurm_shim/manual/topic.h"

#include <string>
#include <string_view>
#include <vector>

namespace shim::manual {

// Values of an option: "partitions", "nodes", "jobs", "fields", "states", "nodestates", "signals"
// and "files" are looked up when Tab is pressed; "yes|no" are the words themselves; "" is unknown.
[[nodiscard]] std::string values_of(const Topic& topic, const cli::Option& row);
// Words behind a command's name: {"show", "hostnames"}, {"hold", ""}.
struct Verb {
  std::string word, object;
};
[[nodiscard]] std::vector<Verb> verbs_of(const Topic& topic);
// The names behind "states", "nodestates" and "signals", separated by blanks.
[[nodiscard]] std::string names_of(std::string_view values);

} // namespace shim::manual
