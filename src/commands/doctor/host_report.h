#pragma once
// What doctor finds out on other hosts: it starts itself there (`--host-report`, through qrsh) and
// reads one line of JSON back. Spec install-doctor-ports 2: C12, C17, C19, C22.

#include "survey.h"

#include <string>
#include <string_view>

namespace shim::commands::doctor {

// The far side: prints the report. `options.dial`: the listener to reach.
[[nodiscard]] int print_host_report(context::Context& ctx, const Options& options);

// The near side: asks every host of --hosts, one after the other, and fills s.host_reports. Error:
// the list of hosts cannot be had.
[[nodiscard]] Result<void> ask_hosts(Survey& s);

// Error text in the report when the text holds none.
[[nodiscard]] HostReport parse_host_report(std::string_view text, std::int64_t now_ms);

// SHA-256 of a file by sha256sum; "" when there is none.
[[nodiscard]] std::string checksum(posix::Runner& runner, const std::string& path);

} // namespace shim::commands::doctor
