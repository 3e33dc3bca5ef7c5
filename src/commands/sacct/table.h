#pragma once
// sacct's output: the table in its three styles, and JSON as Slurm 24.05 has it. Pure.

#include "columns.h"
#include "request.h"

#include <string>
#include <vector>

namespace shim::commands::sacct {

[[nodiscard]] std::string header(const Request& request, const std::vector<Chosen>& columns);
[[nodiscard]] std::string
line(const Request& request, const std::vector<Chosen>& columns, const Row& row);

// `{"jobs": [...], "meta": ..., "errors": [], "warnings": []}`.
[[nodiscard]] std::string to_json(const std::vector<history::Entry>& jobs,
                                  const Setting& setting,
                                  const std::string& version);

} // namespace shim::commands::sacct
