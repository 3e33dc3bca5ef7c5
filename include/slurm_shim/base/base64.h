#pragma once
// Standard base64 with padding, by libcrypto's EVP_EncodeBlock/EVP_DecodeBlock (decision 30: no
// digest, no HMAC, so that the provider core stays out of the binary).

#include <optional>
#include <string>
#include <string_view>

namespace shim {
[[nodiscard]] std::string base64_encode(std::string_view bytes);
// nullopt on a character outside the alphabet, missing padding or a bad length.
[[nodiscard]] std::optional<std::string> base64_decode(std::string_view text);
} // namespace shim
