#include "slurm_shim/base/result.h"

#include <cstring>

namespace shim {

tl::unexpected<Error> fail_errno(std::string_view what, int error_number) {
  // strerrordesc_np: no locale, no buffer shared between threads.
  const char* text = strerrordesc_np(error_number);
  std::string message(what);
  message += ": ";
  message += text != nullptr ? text : "unknown error";
  const auto kind = error_number == ENOENT ? ErrorKind::not_found : ErrorKind::io;
  return tl::unexpected<Error>(Error{kind, std::move(message), 1});
}

} // namespace shim
