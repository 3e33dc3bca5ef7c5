#include "slurm_shim/launch/address.h"
#include "slurm_shim/launch/preflight.h"

#include <gtest/gtest.h>

#include <map>

namespace shim::launch {
namespace {

// Answers by the first argument vector word that matters; everything else cannot be run.
class FakeRunner final : public posix::Runner {
public:
  Result<posix::Output> run(const posix::RunRequest& request) override {
    ++calls;
    const auto it = names.find(request.argv.back());
    if (it == names.end()) return posix::Output{2, "", ""};
    return posix::Output{0, it->second + " STREAM x\n", ""};
  }
  std::map<std::string, std::string> names;
  int calls = 0;
};

TEST(ControlSlaves, is_read_from_the_pe) {
  EXPECT_EQ(parse_control_slaves("pe_name  p\ncontrol_slaves     TRUE\n"), true);
  EXPECT_EQ(parse_control_slaves("control_slaves\tFalse"), false);
  EXPECT_EQ(parse_control_slaves("pe_name p\n"), std::nullopt);
}

TEST(Preflight, refuses_only_a_clear_no) {
  EXPECT_TRUE(judge_preflight("TRUE", "mpi").ok);
  EXPECT_TRUE(judge_preflight("TRUE", "mpi").warning.empty());
  const auto no = judge_preflight("FALSE", "mpi");
  EXPECT_FALSE(no.ok);
  EXPECT_NE(no.error.find("\"mpi\""), std::string::npos);
  const auto unknown = judge_preflight("unknown qconf: not found", "mpi");
  EXPECT_TRUE(unknown.ok);
  EXPECT_EQ(unknown.warning, "cannot check parallel environment \"mpi\": qconf: not found");
}

const std::vector<Interface> k_interfaces{{"lo", "127.0.0.1", true, false},
                                          {"docker0", "172.17.0.1", false, true},
                                          {"eth0", "10.0.0.11", false, false},
                                          {"ib0", "10.9.0.11", false, false}};

TEST(DialAddress, prefers_configuration_then_layout_then_names_then_interfaces) {
  FakeRunner runner;
  runner.names = {{"master", "10.0.0.77"}, {"ctl", "127.0.0.5"}};
  const struct {
    AddressFacts facts;
    std::string want;
  } cases[] = {
      {{"192.0.2.1", "10.0.0.11", "master"}, "192.0.2.1"},
      {{"127.0.0.1", "10.0.0.11", "master"}, "127.0.0.1"}, // explicit: taken as it is
      {{"ib0", "10.0.0.11", "master"}, "10.9.0.11"},
      {{"ctl", "10.0.0.11", "master"}, "127.0.0.5"},
      {{"nosuch", "10.0.0.12", "master"}, "10.0.0.12"},
      {{"", "10.0.0.12", "master"}, "10.0.0.12"},
      {{"", "127.0.1.1", "master"}, "10.0.0.77"}, // Debian's own name
      {{"", "", "master"}, "10.0.0.77"},
      {{"", "", "unknown"}, "10.0.0.11"}, // the idle bridge is passed over
  };
  for (const auto& c : cases)
    EXPECT_EQ(choose_dial_address(runner, c.facts, k_interfaces).first, c.want);
  EXPECT_EQ(choose_dial_address(runner, {"", "", "unknown"}, {}).first, "127.0.0.1");
}

TEST(DialAddress, others_are_the_useful_interfaces) {
  FakeRunner runner;
  const auto chosen = choose_dial_address(runner, {"", "10.0.0.11", "master"}, k_interfaces);
  EXPECT_EQ(chosen.others, (std::vector<std::string>{"10.9.0.11"}));
  EXPECT_EQ(runner.calls, 0); // a number is known: nobody is asked
}

} // namespace
} // namespace shim::launch
