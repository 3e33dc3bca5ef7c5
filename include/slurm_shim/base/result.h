#pragma once
// Expected failures as values. Owns Error and Result; refuses to know about processes, files or
// messages of a particular command. Everybody uses it. Conventions: docs/conventions.md "Errors".

#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace shim {

enum class ErrorKind {
  usage,       // the user's words are off: option, value, script
  config,      // the configuration file is off
  not_found,   // a thing that was named does not exist
  refused,     // the engine (or a rule of ours) said no
  unavailable, // could not ask: tool missing, timeout, no answer
  malformed,   // bytes from outside do not parse
  io,          // the operating system said no
};

struct Error {
  ErrorKind kind = ErrorKind::io;
  std::string message;
  int exit_code = 1;

  // Puts "what: " in front of the message on the way up.
  [[nodiscard]] Error context(std::string_view what) && {
    message.insert(0, std::string(what) + ": ");
    return std::move(*this);
  }
};

template <class T> using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error>
fail(ErrorKind kind, std::string message, int exit_code = 1) {
  return tl::unexpected<Error>(Error{kind, std::move(message), exit_code});
}

// "open /x: Permission denied" from an errno value.
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string_view what, int error_number);

} // namespace shim

#define SHIM_CONCAT_INNER(a, b) a##b
#define SHIM_CONCAT(a, b) SHIM_CONCAT_INNER(a, b)

// TRY(expr): return the error of a Result<void>-like expression from this function.
#define TRY(expr)                                                                                  \
  do {                                                                                             \
    if (auto shim_try_result = (expr); !shim_try_result)                                           \
      return tl::unexpected<::shim::Error>(std::move(shim_try_result).error());                    \
  } while (false)

// TRY_ASSIGN(auto x, expr): x = value of expr, or return its error from this function.
#define TRY_ASSIGN(decl, expr)                                                                     \
  auto SHIM_CONCAT(shim_try_, __LINE__) = (expr);                                                  \
  if (!SHIM_CONCAT(shim_try_, __LINE__))                                                           \
    return tl::unexpected<::shim::Error>(std::move(SHIM_CONCAT(shim_try_, __LINE__)).error());     \
  decl = std::move(SHIM_CONCAT(shim_try_, __LINE__)).value()
