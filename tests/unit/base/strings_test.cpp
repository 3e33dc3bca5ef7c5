#include "slurm_shim/base/strings.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace shim {
namespace {

TEST(Split, KeepsEmptyFields) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string_view>{""}));
}

TEST(SplitWords, DropsBlanksAndTabs) {
  EXPECT_EQ(split_words(" \ta  b\tc "), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(split_words(" \t").empty());
}

TEST(Trim, TakesBothEnds) {
  EXPECT_EQ(trim(" \r\n x y \t"), "x y");
  EXPECT_EQ(trim("   "), "");
}

TEST(ParseInt, WantsTheWholeText) {
  EXPECT_EQ(parse_int<int>("-12"), -12);
  EXPECT_EQ(parse_int<std::uint16_t>("65535"), 65535);
  for (const auto* bad : {"", " 1", "1 ", "+1", "1x", "0x10", "65536", "-1"})
    EXPECT_FALSE(parse_int<std::uint16_t>(bad)) << bad;
}

TEST(Percent, RoundTripsEveryByte) {
  std::string all;
  for (int c = 0; c < 256; ++c)
    all += static_cast<char>(c);
  const auto encoded = percent_encode(all, "._:/+-");
  EXPECT_EQ(encoded.find_first_not_of(
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/+-%"),
            std::string::npos);
  EXPECT_EQ(percent_decode(encoded), all);
  EXPECT_EQ(percent_encode("a b;=", ""), "a%20b%3B%3D");
}

TEST(Percent, RefusesABrokenEscape) {
  for (const auto* bad : {"%", "%4", "%zz", "ab%4"})
    EXPECT_FALSE(percent_decode(bad)) << bad;
}

TEST(Utf8, TellsValidFromInvalid) {
  EXPECT_TRUE(is_valid_utf8("plain \xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80"));
  for (const auto* bad : {"\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80", "a\xFFz"})
    EXPECT_FALSE(is_valid_utf8(bad)) << bad;
}

TEST(Utf8, ReplacesOnlyWhatIsInvalid) {
  EXPECT_EQ(sanitize_utf8("a\xFF\xC3\xA4"), "a\xEF\xBF\xBD\xC3\xA4");
}

TEST(EqualsIgnoreCase, IsAsciiOnly) {
  EXPECT_TRUE(equals_ignore_case("None", "NONE"));
  EXPECT_FALSE(equals_ignore_case("none", "non"));
}

} // namespace
} // namespace shim
