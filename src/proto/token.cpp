#include "slurm_shim/proto/token.h"

#include "slurm_shim/posix/files.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>

#include <sys/prctl.h>

namespace shim::proto {

namespace {
constexpr std::size_t k_token_bytes = 32;
constexpr std::size_t k_token_chars = 2 * k_token_bytes;
} // namespace

Token Token::generate() {
  // From here on this process holds the secret: no core dump, no look through /proc by others.
  ::prctl(PR_SET_DUMPABLE, 0);
  return Token(posix::random_hex(k_token_bytes));
}

bool Token::matches(std::string_view other) const {
  // Both sides are cut or padded to 64 characters first, so that neither the length nor the first
  // difference of a guess shows in the time taken.
  std::array<char, k_token_chars> ours{};
  std::array<char, k_token_chars> theirs{};
  m_text.copy(ours.data(), ours.size());
  other.copy(theirs.data(), theirs.size());
  const bool same_bytes = CRYPTO_memcmp(ours.data(), theirs.data(), ours.size()) == 0;
  const bool sane_lengths = m_text.size() == k_token_chars && other.size() == k_token_chars;
  return static_cast<unsigned>(same_bytes) & static_cast<unsigned>(sane_lengths);
}

} // namespace shim::proto
