// What is in effect, where it comes from, and the sample file of the tree.
#include "slurm_shim/base/strings.h"
#include "slurm_shim/config/lines.h"
#include "slurm_shim/config/show.h"
#include "slurm_shim/posix/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace shim::config {

namespace {

using testing::HasSubstr;

constexpr std::string_view k_document = "pe_name: other\n"
                                        "partitions:\n"
                                        "  batch:\n"
                                        "    queue: all.q\n"
                                        "    pe_by_layout: {fixed: {2: two}}\n"
                                        "gpu:\n"
                                        "  vendor: amd\n"
                                        "pes: {mpi: {task_policy: slot}}\n"
                                        "features: {ib: \"fabric=ib\"}\n"
                                        "launch_timeout: 1500ms\n";

std::map<std::string, std::string> shown(const Config& config) {
  std::map<std::string, std::string> out;
  for (const auto& value : effective_values(config))
    EXPECT_TRUE(out.emplace(value.path, value.json).second) << value.path << " twice";
  return out;
}

// "partitions.batch.queue" -> "partitions.*.queue"
std::string pattern_of(const std::string& path) {
  auto parts = split(path, '.');
  std::string first(parts[0]);
  if ((first != "partitions" && first != "pes") || parts.size() < 3) return path;
  parts[1] = "*";
  return join(parts, ".");
}

TEST(ConfigShow, every_key_is_shown) {
  const auto loaded = parse(k_document, "f");
  ASSERT_TRUE(loaded) << loaded.error().message;
  std::set<std::string> patterns;
  for (const auto& [path, value] : shown(loaded->config))
    patterns.insert(pattern_of(path));
  for (const auto& key : known_keys()) {
    const bool is_map =
        key == "partitions" || key == "pes" || key == "gpu" || key == "partitions.*.pe_by_layout";
    EXPECT_TRUE(is_map || patterns.contains(key)) << key;
  }
  for (const auto& pattern : patterns)
    EXPECT_THAT(known_keys(), testing::Contains(pattern));
}

TEST(ConfigShow, values_are_those_in_effect) {
  const auto loaded = parse(k_document, "f");
  ASSERT_TRUE(loaded);
  const auto values = shown(loaded->config);
  EXPECT_EQ(values.at("pe_name"), "\"other\"");
  EXPECT_EQ(values.at("partitions.batch.pe"), "\"other\"");
  EXPECT_EQ(values.at("partitions.batch.pe_by_layout.fixed"), "{\"2\":\"two\"}");
  EXPECT_EQ(values.at("gpu.vendor"), "\"amd\"");
  EXPECT_EQ(values.at("pes.mpi.task_policy"), "\"slot\"");
  EXPECT_EQ(values.at("features"), "{\"ib\":\"fabric=ib\"}");
  EXPECT_EQ(values.at("launch_timeout"), "\"1500ms\"");
  EXPECT_EQ(values.at("control_port"), "\"61000-61439\"");
  EXPECT_EQ(values.at("kill_on_bad_exit"), "false");
}

TEST(ConfigShow, lines_are_those_of_the_keys) {
  Lines lines;
  ASSERT_TRUE(parse(k_document, "f", lines));
  EXPECT_EQ(lines.at("pe_name"), 1);
  EXPECT_EQ(lines.at("partitions.batch.queue"), 4);
  EXPECT_EQ(lines.at("partitions.batch.pe_by_layout.fixed"), 5);
  EXPECT_EQ(lines.at("gpu.vendor"), 7);
  EXPECT_EQ(lines.at("pes.mpi.task_policy"), 8);
  EXPECT_EQ(lines.at("launch_timeout"), 10);
  EXPECT_FALSE(lines.contains("launch_ramp"));
}

// ---- docs/config.sample.yaml

std::string sample() {
  return posix::read_file(SHIM_TEST_DATA "/../docs/config.sample.yaml").value();
}

// With every "#key: value" line taken in: no blank behind its #.
std::string uncommented(const std::string& text) {
  std::string out;
  for (const auto line : split(text, '\n')) {
    std::string kept(line);
    const auto at = kept.find_first_not_of(' ');
    if (at != std::string::npos && at + 1 < kept.size() && kept[at] == '#' && kept[at + 1] != ' ')
      kept.erase(at, 1);
    out += kept + "\n";
  }
  return out;
}

TEST(ConfigSample, loads_as_it_is) {
  const auto loaded = parse(sample(), "sample");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(loaded->warnings, testing::IsEmpty());
  EXPECT_NE(loaded->config.find_partition(loaded->config.default_partition), nullptr);
}

TEST(ConfigSample, names_every_key) {
  Lines lines;
  const auto loaded = parse(uncommented(sample()), "sample", lines);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(loaded->warnings, testing::IsEmpty());
  std::set<std::string> named;
  for (const auto& [path, line] : lines)
    named.insert(pattern_of(path));
  for (const auto& key : known_keys())
    EXPECT_TRUE(named.contains(key)) << key;
}

TEST(ConfigSample, what_is_commented_out_is_the_default) {
  Lines active;
  ASSERT_TRUE(parse(sample(), "sample", active));
  Lines all;
  const auto loaded = parse(uncommented(sample()), "sample", all);
  ASSERT_TRUE(loaded);
  const auto defaults = shown(Config{});
  const auto values = shown(loaded->config);
  int compared = 0;
  for (const auto& [path, line] : all) {
    if (active.contains(path) || !defaults.contains(path)) continue;
    EXPECT_EQ(values.at(path), defaults.at(path)) << path;
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

} // namespace

} // namespace shim::config
