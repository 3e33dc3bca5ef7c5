#include "setters.h"

#include <gtest/gtest.h>

namespace shim::submit {
namespace {

TEST(Setters, none_is_no_file_in_any_case) {
  for (const auto* option : {"output", "error", "input"})
    for (const auto& [word, file] : {std::pair{"none", "/dev/null"},
                                     {"NONE", "/dev/null"},
                                     {"none.txt", "none.txt"},
                                     {"/dev/null", "/dev/null"}}) {
      Request request;
      ASSERT_TRUE(find_setter(option)({.request = request,
                                       .value = word,
                                       .origin = cli::Origin::Kind::command_line,
                                       .now = 0}));
      const auto& set = option[0] == 'o'   ? request.output
                        : option[0] == 'e' ? request.error
                                           : request.input;
      EXPECT_EQ(set, file) << "--" << option << " " << word;
    }
}

} // namespace
} // namespace shim::submit
