#include "slurm_shim/base/yaml.h"

#include <gtest/gtest.h>

namespace shim {
namespace {

TEST(Yaml, has_the_tree_of_the_json_in_its_order) {
  EXPECT_EQ(json_to_yaml(R"({"jobs":[{"z":1,"a":"x: \"y\"","state":["RUNNING"]},{"z":null}],)"
                         R"("errors":[],"meta":{"ok":true,"part":{}}})"),
            "---\n"
            "\"jobs\":\n"
            "  -\n"
            "    \"z\": 1\n"
            "    \"a\": \"x: \\\"y\\\"\"\n"
            "    \"state\":\n"
            "      - \"RUNNING\"\n"
            "  -\n"
            "    \"z\": null\n"
            "\"errors\": []\n"
            "\"meta\":\n"
            "  \"ok\": true\n"
            "  \"part\": {}\n");
  EXPECT_EQ(json_to_yaml("[]"), "---\n[]\n");
}

} // namespace
} // namespace shim
