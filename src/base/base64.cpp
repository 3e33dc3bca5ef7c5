#include "slurm_shim/base/base64.h"

#include <openssl/evp.h>

namespace shim {

std::string base64_encode(std::string_view bytes) {
  // EVP writes a terminating NUL behind the text.
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(length));
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.empty()) return std::string{};
  // EVP_DecodeBlock forgives blanks at both ends and '=' anywhere; we do not.
  const auto end = text.find_last_not_of('=');
  const auto padding = text.size() - (end == std::string_view::npos ? 0 : end + 1);
  constexpr std::string_view k_alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0 || padding > 2 ||
      text.substr(0, text.size() - padding).find_first_not_of(k_alphabet) != std::string_view::npos)
    return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (length < 0) return std::nullopt;
  out.resize(static_cast<std::size_t>(length) - padding);
  return out;
}

} // namespace shim
