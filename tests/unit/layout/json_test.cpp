#include "slurm_shim/layout/layout.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/case_file.h"

namespace shim::layout {
namespace {

using nlohmann::json;

TEST(LayoutJson, recorded_layouts_survive_reading_and_writing) {
  int seen = 0;
  for (const auto& c : test::cases_of("fabricate")) {
    if (!c.contains("layout") || c["layout"].is_null()) continue;
    auto recorded = c["layout"];
    const auto layout = from_json(recorded.dump(), "x");
    ASSERT_TRUE(layout) << layout.error().message;
    if (recorded["tasks"]["rank_map"].is_null()) recorded["tasks"]["rank_map"] = json::array();
    EXPECT_EQ(json::parse(to_json(*layout)), recorded) << c["name"];
    ++seen;
  }
  EXPECT_GT(seen, 10);
}

TEST(LayoutJson, keys_come_in_the_order_of_the_specification) {
  Layout layout;
  layout.job.job_id = 7;
  layout.nodes.push_back({0, "n1", "n1.x", "10.0.0.1", 4, "0-3", {"2", "3"}, true});
  layout.tasks.per_node = {1};
  const std::string want = R"({
  "schema_version": 1,
  "shim_version": "",
  "created_unix": 0,
  "job": {
    "job_id": 7,
    "array_task_id": null,
    "name": "",
    "user": "",
    "uid": 0,
    "gid": 0,
    "queue": "",
    "partition": "",
    "account": "",
    "submit_dir": "",
    "submit_host": "",
    "pe_name": "",
    "task_policy": "",
    "mem_per_node_mb": 0
  },
  "nodes": [
    {
      "index": 0,
      "host": "n1",
      "fqdn": "n1.x",
      "ip": "10.0.0.1",
      "slots": 4,
      "processor_range": "0-3",
      "gpus": [
        2,
        3
      ],
      "is_master": true
    }
  ],
  "tasks": {
    "ntasks": 0,
    "cpus_per_task": 0,
    "per_node": [
      1
    ],
    "rank_map": []
  },
  "rendezvous": {
    "master_addr": "",
    "master_port": 0
  },
  "launcher": ""
}
)";
  EXPECT_EQ(to_json(layout), want);
}

TEST(LayoutJson, device_ids_are_numbers_or_names) {
  Layout layout;
  layout.job.job_id = 7;
  layout.nodes.push_back({0, "n1", "", "", 4, "", {"3", "GPU-8932f937", "007"}, true});
  const auto text = to_json(layout);
  EXPECT_EQ(json::parse(text)["nodes"][0]["gpus"], json::parse(R"([3, "GPU-8932f937", "007"])"));
  EXPECT_EQ(from_json(text, "x")->nodes[0].gpus, layout.nodes[0].gpus);
}

TEST(LayoutJson, only_four_keys_are_needed) {
  const auto layout = from_json(
      R"({"schema_version":1,"job":{"job_id":7},"nodes":[{"host":"a","slots":2},{"host":"b","slots":1,"gpus":null}],"new":{}})",
      "x");
  ASSERT_TRUE(layout) << layout.error().message;
  EXPECT_EQ(layout->job.job_id, 7);
  EXPECT_FALSE(layout->job.array_task_id);
  EXPECT_EQ(layout->nodes[1].index, 1);
  EXPECT_EQ(layout->nodes[1].engine_name(), "b");
  EXPECT_TRUE(layout->nodes[0].is_master);
  EXPECT_FALSE(layout->nodes[1].is_master);
  EXPECT_TRUE(layout->tasks.per_node.empty());
}

TEST(LayoutJson, errors_name_file_and_key) {
  struct Row {
    const char* text;
    const char* want;
  };
  const Row rows[] = {
      {"", "f: not a JSON object"},
      {"[]", "f: not a JSON object"},
      {"{}", "f: schema_version is missing"},
      {R"({"schema_version":2})", "f: schema_version 2 is not supported (this is 1)"},
      {R"({"schema_version":"1"})", "f: schema_version \"1\" is not supported (this is 1)"},
      {R"({"schema_version":1})", "f: job.job_id: an integer was expected"},
      {R"({"schema_version":1,"job":3})", "f: job: an object was expected"},
      {R"({"schema_version":1,"job":{"job_id":-1}})",
       "f: job.job_id: an integer from 0 to 9223372036854775807 was expected"},
      {R"({"schema_version":1,"job":{"job_id":1}})", "f: nodes: a list of hosts was expected"},
      {R"({"schema_version":1,"job":{"job_id":1},"nodes":[{"slots":1}]})",
       "f: nodes[0].host: a host name was expected"},
      {R"({"schema_version":1,"job":{"job_id":1},"nodes":[{"host":"a"}]})",
       "f: nodes[0].slots: an integer was expected"},
      {R"({"schema_version":1,"job":{"job_id":1},"nodes":[{"host":"a","slots":1.5}]})",
       "f: nodes[0].slots: an integer from 0 to 2147483647 was expected"},
      {R"({"schema_version":1,"job":{"job_id":1},"nodes":[{"host":"a","slots":1,"gpus":[-1]}]})",
       "f: nodes[0].gpus: an integer from 0 to 2147483647 was expected"},
      {R"({"schema_version":1,"job":{"job_id":1},"nodes":[{"host":"a","slots":1,"gpus":["0,1"]}]})",
       "f: nodes[0].gpus: a list of device ids was expected"},
      {R"({"schema_version":1,"job":{"job_id":1},"nodes":[7]})",
       "f: nodes[0]: an object was expected"},
  };
  for (const auto& row : rows) {
    const auto layout = from_json(row.text, "f");
    ASSERT_FALSE(layout) << row.text;
    EXPECT_EQ(layout.error().message, row.want);
    EXPECT_EQ(layout.error().kind, ErrorKind::malformed);
  }
}

TEST(LayoutJson, bytes_that_are_not_utf8_do_not_break_the_file) {
  Layout layout;
  layout.nodes.push_back({0, "n1", "", "", 1, "", {}, true});
  layout.job.submit_dir = "/home/\xff";
  const auto read = from_json(to_json(layout), "x");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->job.submit_dir, "/home/\xef\xbf\xbd");
}

} // namespace
} // namespace shim::layout
