#pragma once
// One setter per option that has a value of its own in Request. Private to request.cpp.

#include "slurm_shim/submit/request.h"

namespace shim::submit {

struct SetterInput {
  Request& request;
  std::optional<std::string> value;
  cli::Origin::Kind origin = cli::Origin::Kind::command_line;
  std::time_t now = 0;
  [[nodiscard]] std::string text() const { return value.value_or(""); }
};
using Setter = Result<void> (*)(const SetterInput& in);

// nullptr: the option has no effect on the request (its warning, if any, is the table's).
[[nodiscard]] Setter find_setter(std::string_view option);

} // namespace shim::submit
