#include "slurm_shim/slurm/cpu_bind.h"

#include <gtest/gtest.h>

namespace shim::slurm {
namespace {

using Kind = CpuBind::Kind;

TEST(CpuBind, words_and_lists) {
  const struct {
    const char* text;
    CpuBind want;
  } cases[] = {{"cores", {Kind::units, {}}},
               {"Sockets", {Kind::units, {}}},
               {"none", {Kind::none, {}}},
               {"no", {Kind::none, {}}},
               {"quiet,none", {Kind::none, {}}},
               {"verbose,rank", {Kind::units, {}, true}},
               {"v", {Kind::units, {}, true}},
               {"map_cpu:0,1", {Kind::list, {{0}, {1}}}},
               {"v,map_cpu:3*2,0", {Kind::list, {{3}, {3}, {0}}, true}},
               {"mask_cpu:0x3,c", {Kind::list, {{0, 1}, {2, 3}}}},
               {"mask_cpu:10000000000000000", {Kind::list, {{64}}}},
               {"map_ldom:0", {Kind::units, {}}}};
  for (const auto& c : cases) {
    const auto got = parse_cpu_bind(c.text);
    ASSERT_TRUE(got) << c.text << got.error().message;
    EXPECT_EQ(*got, c.want) << c.text;
  }
}

TEST(CpuBind, anything_else_is_named) {
  for (const auto* text : {"",
                           "bogus",
                           "none,bogus",
                           "map_cpu",
                           "map_cpu:",
                           "map_cpu:x",
                           "map_cpu:0,",
                           "map_cpu:-1",
                           "map_cpu:0*0",
                           "map_cpu:0*99999999999",
                           "mask_cpu:g",
                           "mask_cpu:0x",
                           "mask_cpu:0",
                           "cores:1",
                           "map_cpu:65536"}) {
    const auto got = parse_cpu_bind(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().message,
              "unrecognized --cpu-bind argument \"" + std::string(text) + "\"");
  }
}

} // namespace
} // namespace shim::slurm
