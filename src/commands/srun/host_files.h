#pragma once
// Lists of hosts that the user keeps in files: SLURM_HOSTFILE for -m arbitrary, -w with a path, -F.
// One host list a line (or several, separated by commas); blank lines and # comments do not count.

#include "request.h"

#include "slurm_shim/base/env_list.h"

namespace shim::commands::srun {

// Fills placement.nodelist and placement.rank_hosts from the files that the request names.
// Errors name the file.
[[nodiscard]] Result<void> read_host_files(Request& request);

// Hosts in the order of the text; `where` names its source in errors.
[[nodiscard]] Result<std::vector<std::string>> parse_host_lines(std::string_view text,
                                                                const std::string& where);

} // namespace shim::commands::srun
