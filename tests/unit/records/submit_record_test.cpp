#include "slurm_shim/records/submit_record.h"

#include <gtest/gtest.h>

namespace shim::records {
namespace {

const std::string k_base = "v1;tok=9f3c21d07be84a55;dir=/s";

TEST(SubmitRecord, encodes_tok_and_dir_first_and_escapes_in_upper_case) {
  SubmitRecord record;
  record.set("name", "7b train");
  record.set("dir", "/home/u/.local/state/slurm-shim/default");
  record.set("tok", "9f3c21d07be84a55");
  record.set_int("kw", 30000);
  record.set("out", "slurm-%j.out");
  EXPECT_EQ(record.encode(),
            "v1;tok=9f3c21d07be84a55;dir=/home/u/.local/state/slurm-shim/default;kw=30000;"
            "name=7b%20train;out=slurm-%25j.out");
}

TEST(SubmitRecord, any_bytes_survive) {
  std::string bytes;
  for (int i = 0; i < 256; ++i)
    bytes += static_cast<char>(i);
  SubmitRecord record;
  record.set("tok", "9f3c21d07be84a55");
  record.set("dir", "/s");
  record.set("name", bytes);
  const auto text = record.encode();
  EXPECT_EQ(text.find_first_not_of(
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/+-%=;"),
            std::string::npos);
  const auto back = SubmitRecord::decode(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->get("name"), bytes);
}

TEST(SubmitRecord, decodes_the_example_of_the_format) {
  const auto record = SubmitRecord::decode(
      "v1;tok=9f3c21d07be84a55;dir=/home/u/.local/state/slurm-shim/default;env=1;nodes=3;ntasks=6;"
      "tpn=2;layout=exact;name=7b%20train;part=batch;time=5;out=slurm-%25j.out;in=/dev/null;"
      "openmode=t;export=ALL;requeue=1;sdir=/home/u/p;shost=login;script=/home/u/p/a.sh;kw=30000");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->get_int("ntasks"), 6);
  EXPECT_EQ(record->get("name"), "7b train");
  EXPECT_EQ(record->get("out"), "slurm-%j.out");
  EXPECT_EQ(record->get("err"), std::nullopt);
  EXPECT_EQ(record->get_int("layout"), std::nullopt);
}

TEST(SubmitRecord, last_of_equal_keys_wins_and_odd_keys_are_ignored) {
  const auto record = SubmitRecord::decode(k_base + ";name=a;X=1;n2=3;name=b;zzz=1\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->get("name"), "b");
  EXPECT_EQ(record->get("zzz"), "1");
  EXPECT_FALSE(record->has("X"));
}

TEST(SubmitRecord, refuses_what_is_no_record) {
  const struct {
    std::string text, message;
  } cases[] = {
      {"", "submit record: unknown version \"\""},
      {"v2;tok=9f3c21d07be84a55;dir=/s", "submit record: unknown version \"v2\""},
      {"v1;dir=/s", "submit record: no valid \"tok\""},
      {"v1;tok=../../etc/passwd00;dir=/s", "submit record: no valid \"tok\""},
      {"v1;tok=9f3c21d07be84a55", "submit record: no absolute \"dir\""},
      {"v1;tok=9f3c21d07be84a55;dir=s", "submit record: no absolute \"dir\""},
      {k_base + ";name=%4", "submit record: bad escape in the value of \"name\""},
      {k_base + ";name=%zz", "submit record: bad escape in the value of \"name\""},
      {k_base + ";name", "submit record: no value in \"name\""},
  };
  for (const auto& c : cases) {
    const auto record = SubmitRecord::decode(c.text);
    ASSERT_FALSE(record) << c.text;
    EXPECT_EQ(record.error().message, c.message);
    EXPECT_EQ(record.error().kind, ErrorKind::malformed);
  }
}

} // namespace
} // namespace shim::records
