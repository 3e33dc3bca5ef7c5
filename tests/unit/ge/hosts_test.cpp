#include "slurm_shim/ge/hosts.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/fake_engine.h"

namespace shim::ge {
namespace {

std::string fixture(const std::string& name) {
  return posix::read_file(SHIM_TEST_DATA "/fixtures/" + name).value_or("no fixture " + name);
}

const ExecHost* find(const HostList& list, std::string_view name) {
  const auto it = std::ranges::find(list.hosts, name, &ExecHost::name);
  return it == list.hosts.end() ? nullptr : &*it;
}

TEST(Hosts, queues_and_sizes_of_8_1_9) {
  const auto list = parse_host_list(fixture("8.1.9/qhost-q-xml.stdout"));
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->hosts.size(), 3U);
  EXPECT_EQ(find(*list, "global"), nullptr);
  const auto* host = find(*list, "gedeb-master");
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->arch, "lx-amd64");
  EXPECT_EQ(host->processors, 2);
  EXPECT_EQ(host->cores, 2);
  EXPECT_DOUBLE_EQ(host->load.value_or(0), 35.02);
  EXPECT_EQ(host->mem_total, static_cast<std::uint64_t>(23.5 * 1024 * 1024 * 1024));
  ASSERT_EQ(host->queues.size(), 2U);
  EXPECT_EQ(host->queues[0].queue, "batch.q");
  EXPECT_EQ(host->queues[0].type, "BIP");
  EXPECT_EQ(host->queues[0].total, 4);
  EXPECT_EQ(host->queues[0].used, 0);
  EXPECT_EQ(host->queues[0].state, "");
}

TEST(Hosts, consumables_that_are_left) {
  const auto old = parse_host_list(fixture("8.1.9/qhost-F-xml.stdout"));
  ASSERT_TRUE(old) << old.error().message;
  const auto* gpu = find(*old, "gedeb-n1")->resource("gpu");
  ASSERT_NE(gpu, nullptr);
  EXPECT_EQ(gpu->dominance, "hc");
  EXPECT_EQ(gpu->value, "2.000000");
  EXPECT_EQ(find(*old, "gedeb-n1")->resource("nope"), nullptr);

  const auto ocs = parse_host_list(fixture("9.1.5/qhost-F-q-j.xml"));
  ASSERT_TRUE(ocs) << ocs.error().message;
  const auto* host = find(*ocs, "ocs-worker1");
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->resource("gpu")->value, "4");
  ASSERT_EQ(host->queues.size(), 2U);
  EXPECT_EQ(host->queues[0].queue, "gpu.q");
}

TEST(Hosts, a_host_that_has_not_reported_has_no_numbers) {
  const auto list = parse_host_list("<?xml version='1.0'?><qhost><host name='n1'>"
                                    "<hostvalue name='arch_string'>-</hostvalue>"
                                    "<hostvalue name='num_proc'>-</hostvalue>"
                                    "<hostvalue name='load_avg'>-</hostvalue>"
                                    "<hostvalue name='mem_total'>-</hostvalue>"
                                    "<queue name='a.q'><queuevalue name='slots'>8</queuevalue>"
                                    "<queuevalue name='state_string'>au</queuevalue></queue>"
                                    "</host></qhost>");
  ASSERT_TRUE(list) << list.error().message;
  const auto& host = list->hosts.at(0);
  EXPECT_EQ(host.arch, "");
  EXPECT_FALSE(host.processors || host.load || host.mem_total);
  EXPECT_EQ(host.queues.at(0).state, "au");
}

TEST(Hosts, what_a_profile_prints_in_front_does_not_count) {
  const auto list = parse_host_list("Welcome <user@cluster>!\nquota: 80 % <used\n" +
                                    fixture("9.1.5/qhost-q-j.xml"));
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->hosts.size(), 3U);
}

TEST(Hosts, an_answer_that_is_cut_off_is_an_error) {
  const auto whole = fixture("8.1.9/qhost-q-xml.stdout");
  const auto end = whole.rfind("</qhost>");
  for (std::size_t size = 0; size < end; size += 97)
    EXPECT_FALSE(parse_host_list(whole.substr(0, size))) << size;
  EXPECT_FALSE(parse_host_list("<job_info></job_info>"));
  EXPECT_FALSE(parse_host_list("<qhost><host/></qhost>"));
}

TEST(Hosts, memory_as_qhost_prints_it) {
  EXPECT_EQ(parse_host_memory("0.0"), 0U);
  EXPECT_EQ(parse_host_memory("879.9M"), static_cast<std::uint64_t>(879.9 * 1024 * 1024));
  EXPECT_EQ(parse_host_memory("1.5T"), std::uint64_t{3} << 39);
  for (const auto* text : {"-", "", "G", "1.2.3G", "-4G", "nanG", "1e30P"})
    EXPECT_FALSE(parse_host_memory(text)) << text;
}

TEST(Hosts, one_call_and_what_it_said_when_it_failed) {
  EnvList env;
  test::FakeEngine engine(env);
  const Tools tools(engine, env, std::chrono::seconds(5));
  EXPECT_EQ(list_hosts(tools).error().kind, ErrorKind::unavailable);
  engine.answer("qhost", {1, "", "error: commlib error: got select error\nmore\n"});
  const auto refused = list_hosts(tools);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(refused.error().message, "qhost: error: commlib error: got select error");
  engine.answer_file("qhost", "8.1.9/qhost-q-xml.stdout");
  EXPECT_EQ(list_hosts(tools)->hosts.size(), 3U);
  EXPECT_EQ(engine.calls.back(), "qhost -q -F -xml");
}

} // namespace
} // namespace shim::ge
