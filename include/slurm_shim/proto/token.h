#pragma once
// The step token: 32 random bytes as 64 lower-case hex digits, the only credential of the control
// channel. It has no conversion to text but reveal(), so that every place that lets it out can be
// found by name. Spec launch 1 step 7, decision 3.

#include <string>
#include <string_view>

namespace shim::proto {

inline constexpr std::string_view k_token_variable = "SLURM_SHIM_TOKEN";

class Token {
public:
  // Also keeps this process from being dumped, until it executes another program.
  [[nodiscard]] static Token generate();
  explicit Token(std::string text) : m_text(std::move(text)) {}
  [[nodiscard]] const std::string& reveal() const { return m_text; }
  // Constant time over 64 characters, whatever the length of `other`.
  [[nodiscard]] bool matches(std::string_view other) const;

private:
  std::string m_text;
};

} // namespace shim::proto
