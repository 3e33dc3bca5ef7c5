#pragma once
// The table of sinfo's columns.

#include "rows.h"

#include <span>

namespace shim::commands::sinfo {

[[nodiscard]] std::span<const Column> columns();

} // namespace shim::commands::sinfo
