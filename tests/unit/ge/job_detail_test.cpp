#include "slurm_shim/ge/job_detail.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/case_file.h"

namespace shim::ge {
namespace {

using Ids = std::vector<std::string>;

std::string fixture(const std::string& name) {
  std::ifstream file(std::string(SHIM_TEST_DATA) + "/fixtures/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

// Both forms of the same job must tell the same.
void expect_grants(const std::string& name,
                   const JobTask& which,
                   const std::string& complex,
                   const std::vector<std::pair<std::string, Ids>>& want) {
  SCOPED_TRACE(name);
  const auto xml = parse_job_detail_xml(fixture("9.1.5/" + name + ".qstat-j.xml"), which);
  const auto text = parse_job_detail_text(fixture("9.1.5/" + name + ".qstat-j.txt"), which);
  ASSERT_TRUE(xml) << xml.error().message;
  ASSERT_TRUE(text) << text.error().message;
  for (const auto& [host, ids] : want) {
    EXPECT_EQ(xml->granted_ids(complex, host), ids) << host;
    EXPECT_EQ(text->granted_ids(complex, host), ids) << host;
  }
}

TEST(JobDetail, every_array_task_has_its_own_grant) {
  const std::string name = "cf_rh_arr2pe";
  expect_grants(name, {536, 5}, "cf_rh", {{"ocs-worker1", {"0"}}, {"ocs-worker2", {"0"}}});
  expect_grants(name,
                {536, 6},
                "cf_rh",
                {{"ocs-master", {"0"}}, {"ocs-worker1", {"1"}}, {"ocs-worker2", {}}});
}

TEST(JobDetail, several_hosts_and_complexes_share_one_line) {
  expect_grants(
      "cf_ry_pe4par2",
      {485, 1},
      "cf_ry",
      {{"ocs-master", {"a0", "a1", "a2", "a3"}}, {"ocs-worker2", {"a0", "a1", "a2", "a3"}}});
  expect_grants(
      "cf_rh_two_complexes", {617, 1}, "cf_rh", {{"ocs-master", {"0"}}, {"ocs-worker1", {"0"}}});
  expect_grants(
      "cf_rh_two_complexes", {617, 1}, "cf_rj", {{"ocs-master", {"0"}}, {"ocs-worker1", {}}});
}

TEST(JobDetail, an_empty_grant_gives_no_device) {
  expect_grants("cf_rh_slaveonly",
                {540, 1},
                "cf_rh",
                {{"ocs-worker2", {}}, {"ocs-master", {"0", "1"}}, {"ocs-worker1", {"0", "1"}}});
}

TEST(JobDetail, memory_is_what_was_asked_per_slot) {
  const auto xml =
      parse_job_detail_xml(fixture("9.1.5/cf_rh_arr2pe.qstat-j.xml"), {536, 5}).value();
  const auto text =
      parse_job_detail_text(fixture("9.1.5/cf_rh_arr2pe.qstat-j.txt"), {536, 5}).value();
  EXPECT_EQ(xml.request("h_vmem"), 209715200.0);
  EXPECT_EQ(text.request("h_vmem"), 209715200.0);
  EXPECT_FALSE(xml.request("s_vmem"));
}

TEST(JobDetail, requests_of_older_engines) {
  const auto detail = parse_job_detail_xml(fixture("8.1.9/qstat-j-pe-running-xml.stdout"), {44, 1});
  ASSERT_TRUE(detail) << detail.error().message;
  EXPECT_EQ(detail->request("gpu"), 1.0);
  EXPECT_TRUE(detail->grants.empty());
}

TEST(JobDetail, blank_keys_go_on_with_the_key_above) {
  const auto text = "job_number:   7\n"
                    "resource_map   1:   gpu=h1=(0 1)\n"
                    "               2:   gpu=h1=(2),gpu=h2.x=(3)\n"
                    "               3:   NONE\n";
  EXPECT_EQ(parse_job_detail_text(text, {7, 2}).value().granted_ids("gpu", "h1"), Ids{"2"});
  EXPECT_EQ(parse_job_detail_text(text, {7, 2}).value().granted_ids("gpu", "h2"), Ids{"3"});
  EXPECT_TRUE(parse_job_detail_text(text, {7, 3}).value().grants.empty());
}

TEST(JobDetail, a_short_name_does_not_stand_for_another_domain) {
  JobDetail detail;
  detail.grants = {{"gpu", "a.x", {"0"}}};
  EXPECT_EQ(detail.granted_ids("gpu", "a"), Ids{"0"});
  EXPECT_EQ(detail.granted_ids("gpu", "A.X"), Ids{"0"});
  EXPECT_TRUE(detail.granted_ids("gpu", "a.y").empty());
}

TEST(JobDetail, what_cannot_be_read_is_an_error) {
  struct Row {
    std::string xml;
    ErrorKind kind;
  };
  const auto whole = fixture("9.1.5/cf_rh_arr2pe.qstat-j.xml");
  const Row rows[] = {
      {"", ErrorKind::malformed},
      {"error: no xml", ErrorKind::malformed},
      {whole.substr(0, whole.size() / 2), ErrorKind::malformed},
      {"<?xml version='1.0'?><unknown_jobs ><><ST_name>9</ST_name></></unknown_jobs>",
       ErrorKind::not_found},
      {"<communication_error/>", ErrorKind::unavailable},
      {"<detailed_job_info/>", ErrorKind::not_found},
      {whole, ErrorKind::not_found}, // no task 1
  };
  for (const auto& row : rows) {
    const auto detail = parse_job_detail_xml(row.xml, {536, 1});
    ASSERT_FALSE(detail);
    EXPECT_EQ(detail.error().kind, row.kind) << detail.error().message;
  }
  EXPECT_FALSE(parse_job_detail_text("", {7, 1}));
  EXPECT_FALSE(parse_job_detail_text("job_number: 8\n", {7, 1}));
}

TEST(DeviceIds, recorded_cases) {
  for (const auto& c : test::cases_of("rsmap_ids")) {
    const auto words = c["in"].get<std::string>();
    if (words == "GPU-abc") continue; // the original made a position of it: see below
    std::vector<std::string> want;
    for (const auto& number : c["out"])
      want.push_back(std::to_string(number.get<int>()));
    EXPECT_EQ(device_ids(words), want) << c;
  }
}

TEST(DeviceIds, each_device_once) {
  EXPECT_EQ(device_ids("a0 a0 a1"), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(device_ids("007 7"), (std::vector<std::string>{"7"}));
}

TEST(DeviceIds, names_that_device_runtimes_know_stay) {
  const std::vector<std::string> names = {"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
                                          "MIG-GPU-8932f937-d72c-4106-c12f-20bd9faed9f6/1/0",
                                          "MIG-b9bca7e6-1c2b-5a4e-9f4e-0d1c2b3a4f55"};
  EXPECT_EQ(device_ids(names[0] + " " + names[1] + "  " + names[2]), names);
  EXPECT_EQ(device_ids("GPU-abc"), (std::vector<std::string>{"GPU-abc"}));
  EXPECT_EQ(device_ids("gpu-3 GPU-12"),
            (std::vector<std::string>{"3", "12"})); // a site's own names
}

TEST(MemoryValue, units) {
  EXPECT_EQ(parse_memory_value("200M"), 209715200.0);
  EXPECT_EQ(parse_memory_value("1.5g"), 1.5e9);
  EXPECT_EQ(parse_memory_value("7"), 7.0);
  EXPECT_EQ(parse_memory_value("2K"), 2048.0);
  EXPECT_EQ(parse_memory_value("1T"), 1099511627776.0);
  for (const auto* bad : {"", "M", "1x", "-1", "INFINITY", "1 M"})
    EXPECT_FALSE(parse_memory_value(bad)) << bad;
}

// Answers as qstat would; counts how often it was asked.
class Answers final : public posix::Runner {
public:
  Result<posix::Output> run(const posix::RunRequest& request) override {
    calls.push_back({request.argv.begin() + 1, request.argv.end()});
    if (calls.size() > outputs.size()) return fail(ErrorKind::unavailable, "timeout");
    return outputs[calls.size() - 1];
  }
  std::vector<posix::Output> outputs;
  std::vector<Ids> calls;
};

class Query : public testing::Test {
protected:
  void SetUp() override {
    m_bin = testing::TempDir() + "ge_" + posix::random_hex(4);
    ASSERT_TRUE(posix::make_directories(m_bin));
    ASSERT_TRUE(posix::write_file_atomic(m_bin + "/qstat", "", 0755));
  }
  void TearDown() override { std::filesystem::remove_all(m_bin); }
  Result<JobDetail> ask() {
    const EnvList env({"SLURM_SHIM_GE_BIN=" + m_bin});
    return query_job_detail(Tools(answers, env, {}), {536, 5}, std::chrono::seconds(5));
  }
  Answers answers;

private:
  std::string m_bin;
};

TEST_F(Query, one_call_where_the_xml_can_be_read) {
  answers.outputs = {{0, fixture("9.1.5/cf_rh_arr2pe.qstat-j.xml"), ""}};
  EXPECT_TRUE(ask());
  EXPECT_EQ(answers.calls, (std::vector<Ids>{{"-xml", "-j", "536"}}));
}

TEST_F(Query, plain_text_where_it_cannot) {
  answers.outputs = {{0, "<x", ""}, {0, fixture("9.1.5/cf_rh_arr2pe.qstat-j.txt"), ""}};
  EXPECT_EQ(ask().value().granted_ids("cf_rh", "ocs-worker1"), Ids{"0"});
  EXPECT_EQ(answers.calls.back(), (Ids{"-j", "536"}));
}

TEST_F(Query, refusals_keep_the_tools_words) {
  answers.outputs = {{1, "", "qstat: refused\n"}, {1, "", "qstat: refused\n"}};
  const auto detail = ask();
  ASSERT_FALSE(detail);
  EXPECT_EQ(detail.error().message, "qstat -j 536: exit 1: qstat: refused");
}

TEST_F(Query, a_tool_that_does_not_answer_is_asked_once) {
  EXPECT_FALSE(ask());
  EXPECT_EQ(answers.calls.size(), 1U);
}

} // namespace
} // namespace shim::ge
