#include "resources.h"

#include <gtest/gtest.h>

namespace shim::submit {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Gres = std::vector<slurm::Gres>;

Gres gpus(std::uint64_t count, const std::string& type = "") {
  return {{"gpu", type, count}};
}

// A cluster whose complexes count as told.
EngineFacts facts(const std::string& memory, const std::string& gpu) {
  EngineFacts f;
  f.has_par = true;
  const auto row = [](const std::string& name, const std::string& counts) {
    return ge::Complex{name, name, "INT", "<=", "YES", counts, "0", "0"};
  };
  f.complexes = std::vector<ge::Complex>{row("h_vmem", memory),
                                         row("gpu", gpu),
                                         row("a100", "HOST"),
                                         row("lic_job", "JOB"),
                                         row("lic_slot", "YES"),
                                         row("scratch", "HOST"),
                                         row("mem_free", "NO")};
  return f;
}

struct Asked {
  Shape shape;
  GpuDemand demand;
  Geometry geometry;
  Result<Resources> resources = Resources{};
};

Asked ask(const Request& request,
          const EngineFacts& engine,
          const config::Config& config = {},
          int slots_per_node = 0,
          int gpus_per_node = 0,
          bool whole_nodes = false) {
  Asked a;
  if (request.nodes) a.shape.nodes = request.nodes->min;
  a.shape.ntasks = request.ntasks.value_or(0);
  a.shape.tasks_per_node = request.tasks_per_node.value_or(0);
  a.shape.cpus_per_task = request.cpus_per_task.value_or(1);
  a.shape.scoped_rules = true;
  a.shape.slots_per_node = slots_per_node;
  a.shape.whole_nodes = whole_nodes;
  a.demand = gpu_demand(request);
  shape_by_gpus(a.demand, request, gpus_per_node, a.shape);
  a.geometry = plan_geometry(a.shape).value();
  a.resources = plan_resources(request, config, engine, a.geometry, a.demand);
  return a;
}

Request on(int nodes, int per_node, int cpus = 1) {
  Request r;
  r.nodes = slurm::NodeCount{nodes, nodes, false};
  r.tasks_per_node = per_node;
  r.cpus_per_task = cpus;
  return r;
}

std::string number(const Asked& a, const std::string& complex) {
  if (!a.resources) return "refused";
  for (const auto& [name, value] : a.resources->requests)
    if (name == complex) return value;
  return "none";
}

// Two hosts of four slots; per node 4000, per CPU 1000.
TEST(Memory, is_asked_as_the_complex_counts) {
  const struct {
    const char* counts;
    MemoryPer per;
    std::uint64_t mebibytes;
    std::string two_hosts, one_host;
  } cases[] = {
      {"YES", MemoryPer::node, 4000, "1000M", "1000M"},
      {"YES", MemoryPer::node, 4001, "1001M", "1001M"},
      {"YES", MemoryPer::cpu, 1000, "1000M", "1000M"},
      {"HOST", MemoryPer::node, 4000, "4000M", "4000M"},
      {"HOST", MemoryPer::cpu, 1000, "4000M", "4000M"},
      {"JOB", MemoryPer::node, 4000, "none", "4000M"},
      {"JOB", MemoryPer::cpu, 1000, "none", "4000M"},
      {"NO", MemoryPer::node, 4000, "1000M", "1000M"}, // h_vmem: a limit of each slot
  };
  for (const auto& c : cases) {
    for (const int nodes : {1, 2}) {
      auto r = on(nodes, 2, 2);
      r.memory = Memory{c.per, c.mebibytes};
      EXPECT_EQ(number(ask(r, facts(c.counts, "HOST")), "h_vmem"),
                nodes == 1 ? c.one_host : c.two_hosts)
          << c.counts << " " << c.mebibytes << " on " << nodes;
    }
  }
}

TEST(Memory, of_a_load_value_is_that_of_the_host) {
  config::Config config;
  config.memory_complex = "mem_free";
  auto r = on(1, 4);
  r.memory = Memory{MemoryPer::node, 4000};
  EXPECT_EQ(number(ask(r, facts("YES", "YES"), config), "mem_free"), "4000M");
}

TEST(Memory, of_uneven_hosts_is_enough_for_each) {
  Request r; // 2 slots on the first host, 1 on the other
  r.nodes = slurm::NodeCount{2, 2, false};
  r.ntasks = 3;
  r.memory = Memory{MemoryPer::node, 1000};
  EXPECT_EQ(number(ask(r, facts("YES", "YES")), "h_vmem"), "1000M");
  r.memory = Memory{MemoryPer::cpu, 1000};
  EXPECT_EQ(number(ask(r, facts("HOST", "YES")), "h_vmem"), "2000M");
}

TEST(Memory, for_each_gpu_counts_the_gpus_of_a_host) {
  auto r = on(1, 1, 2);
  r.gpus_per_node = gpus(2);
  r.memory = Memory{MemoryPer::gpu, 1000};
  EXPECT_EQ(number(ask(r, facts("HOST", "HOST")), "h_vmem"), "2000M");
  EXPECT_EQ(number(ask(r, facts("YES", "HOST")), "h_vmem"), "1000M");
}

TEST(Memory, that_cannot_be_asked_is_told) {
  auto r = on(2, 1);
  r.memory = Memory{MemoryPer::node, 1000};
  auto config = config::Config{};
  config.memory_complex = "nosuch";
  for (const auto& a : {ask(r, facts("JOB", "YES")), ask(r, facts("YES", "YES"), config)}) {
    ASSERT_TRUE(a.resources.has_value());
    ASSERT_EQ(a.resources->dropped.size(), 1u);
    EXPECT_TRUE(a.resources->dropped[0].starts_with("--mem: the memory request is dropped"));
  }
  r.memory = Memory{MemoryPer::node, 0};
  EXPECT_EQ(ask(r, facts("YES", "YES")).resources->warnings.size(), 1u);
  r.exclusive = slurm::Exclusive::node;
  config = {};
  config.exclusive_complex = "excl";
  const auto whole = ask(r, facts("YES", "YES"), config);
  EXPECT_TRUE(whole.resources->warnings.empty());
  EXPECT_EQ(whole.resources->requests, (Pairs{{"excl", "true"}}));
}

TEST(Gpus, are_asked_in_every_form) {
  const struct {
    const char* name;
    Request request;
    std::string host, slot, job; // for a complex HOST, YES, JOB
  } cases[] = {
      {"--gpus-per-node=2",
       [] {
         auto r = on(1, 1);
         r.gpus_per_node = gpus(2);
         return r;
       }(),
       "2",
       "2",
       "2"},
      {"-N2 --gpus-per-node=4 P2",
       [] {
         auto r = on(2, 2);
         r.gpus_per_node = gpus(4);
         return r;
       }(),
       "4",
       "2",
       "refused"},
      {"--gres=gpu:1 -c4",
       [] {
         auto r = on(1, 1, 4);
         r.gres = gpus(1);
         return r;
       }(),
       "1",
       "refused",
       "1"},
      {"-N2 -G4",
       [] {
         auto r = on(2, 1);
         r.gpus = gpus(4);
         return r;
       }(),
       "2",
       "2",
       "refused"},
      {"-N2 -G3",
       [] {
         auto r = on(2, 1);
         r.gpus = gpus(3);
         return r;
       }(),
       "refused",
       "refused",
       "refused"},
      {"P4 --gpus-per-task=1",
       [] {
         auto r = on(2, 4);
         r.gpus_per_task = gpus(1);
         return r;
       }(),
       "4",
       "1",
       "refused"},
      {"-n3 -N2 --gpus-per-task=1",
       [] {
         auto r = on(2, 2);
         r.tasks_per_node.reset();
         r.ntasks = 3;
         r.gpus_per_task = gpus(1);
         return r;
       }(),
       "2",
       "refused",
       "refused"},
      {"--gpus-per-socket=2 S2",
       [] {
         auto r = on(1, 1);
         r.gpus_per_socket = gpus(2);
         r.sockets_per_node = 2;
         return r;
       }(),
       "4",
       "4",
       "4"},
      {"--gres=gpu:0",
       [] {
         auto r = on(1, 1);
         r.gres = gpus(0);
         return r;
       }(),
       "none",
       "none",
       "none"},
      {"per node beats a total",
       [] {
         auto r = on(1, 1);
         r.gres = gpus(1);
         r.gpus = gpus(8);
         return r;
       }(),
       "1",
       "1",
       "1"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(number(ask(c.request, facts("YES", "HOST")), "gpu"), c.host) << c.name;
    EXPECT_EQ(number(ask(c.request, facts("YES", "YES")), "gpu"), c.slot) << c.name;
    EXPECT_EQ(number(ask(c.request, facts("YES", "JOB")), "gpu"), c.job) << c.name;
  }
}

TEST(Gpus, refusals_name_complex_and_way_out) {
  auto r = on(1, 1, 4);
  r.gres = gpus(1);
  const auto a = ask(r, facts("YES", "YES"));
  ASSERT_FALSE(a.resources.has_value());
  EXPECT_EQ(
      a.resources.error().message,
      "sbatch: error: --gres: complex \"gpu\" counts per slot: 1 on each host cannot be divided "
      "among 4 slots; make it HOST, or of type DOUBLE where the engine has no HOST\n"
      "sbatch: error: Batch job submission failed: Requested node configuration is not "
      "available");
  config::Config config;
  config.gpu.gres_complex = "nosuch";
  const auto b = ask(r, facts("YES", "YES"), config);
  ASSERT_FALSE(b.resources.has_value());
  EXPECT_NE(b.resources.error().message.find("no complex \"nosuch\""), std::string::npos);
}

TEST(Gpus, are_asked_in_parts_of_a_complex_that_counts_parts) {
  auto engine = facts("YES", "YES");
  for (auto& row : *engine.complexes)
    if (row.name == "gpu") row.type = "DOUBLE";
  const struct {
    int cpus;
    std::uint64_t count;
    const char* number;
  } cases[] = {{4, 2, "0.5"}, {4, 4, "1"}, {3, 1, "0.333333"}, {8, 5, "0.625"}, {2, 5, "2.5"}};
  for (const auto& c : cases) {
    auto r = on(3, 1, c.cpus);
    r.gpus_per_node = gpus(c.count);
    EXPECT_EQ(number(ask(r, engine), "gpu"), c.number) << c.count << " on " << c.cpus << " slots";
  }
}

TEST(Gpus, of_whole_nodes_need_not_be_counted) {
  auto r = on(3, 2);
  r.gpus_per_node = gpus(2);
  r.exclusive = slurm::Exclusive::node;
  const auto a = ask(r, facts("YES", "YES"), {}, 4, 0, true);
  ASSERT_TRUE(a.resources.has_value()) << a.resources.error().message;
  EXPECT_EQ(a.resources->requests, Pairs{});
  ASSERT_EQ(a.resources->dropped.size(), 1u);
  EXPECT_TRUE(a.resources->dropped[0].starts_with(
      "--gpus-per-node: complex \"gpu\" counts per slot and cannot count 2 on a whole host"));
  r.gpus_per_node = gpus(8);
  EXPECT_EQ(number(ask(r, facts("YES", "YES"), {}, 4, 0, true), "gpu"), "2");
}

TEST(Gpus, types_are_requests_or_complexes_of_their_own) {
  config::Config config;
  config.gpu.types = {{"v100", "gpu_type=v100,fast"}, {"a100", "a100"}};
  auto r = on(1, 1);
  r.gres = {{"gpu", "v100", 2}};
  EXPECT_EQ(ask(r, facts("YES", "HOST"), config).resources->requests,
            (Pairs{{"gpu_type", "v100"}, {"fast", ""}, {"gpu", "2"}}));
  r.gres = {{"gpu", "a100", 2}};
  EXPECT_EQ(ask(r, facts("YES", "HOST"), config).resources->requests, (Pairs{{"a100", "2"}}));
  r.gres = {{"gpu", "h100", 2}};
  const auto a = ask(r, facts("YES", "HOST"), config);
  EXPECT_EQ(a.resources->requests, (Pairs{{"gpu", "2"}}));
  EXPECT_EQ(a.resources->dropped.size(), 1u);
}

TEST(Gpus, fix_the_nodes_of_a_job_that_gives_tasks_alone) {
  Request r;
  r.ntasks = 8;
  r.gpus_per_task = gpus(1);
  EXPECT_EQ(ask(r, facts("YES", "HOST")).geometry.nodes, 1);
  auto a = ask(r, facts("YES", "HOST"), {}, 64, 4);
  EXPECT_EQ(a.geometry.nodes, 2);
  EXPECT_EQ(number(a, "gpu"), "4");
  a = ask(r, facts("YES", "HOST"), {}, 2);
  EXPECT_EQ(a.geometry.nodes, 4);
  EXPECT_EQ(number(a, "gpu"), "2");
}

TEST(Gpus, bring_tasks_and_cpus) {
  auto r = on(2, 1);
  r.tasks_per_node.reset();
  r.tasks_per_gpu = 2;
  r.gpus_per_node = gpus(4);
  EXPECT_EQ(ask(r, facts("YES", "HOST")).geometry.ntasks, 16);

  Request n;
  n.ntasks = 6;
  n.tasks_per_gpu = 2;
  EXPECT_EQ(number(ask(n, facts("YES", "HOST")), "gpu"), "3");

  auto cpus = on(1, 1);
  cpus.cpus_per_task.reset();
  cpus.gpus = gpus(2);
  cpus.cpus_per_gpu = 3;
  auto a = ask(cpus, facts("YES", "HOST"));
  EXPECT_EQ(a.geometry.slots, 6);
  EXPECT_EQ(a.geometry.ntasks, 1);
  cpus.cpus_per_task = 2; // given: it counts
  EXPECT_EQ(ask(cpus, facts("YES", "HOST")).geometry.slots, 2);

  auto task = on(1, 2);
  task.cpus_per_task.reset();
  task.gpus_per_task = gpus(2);
  task.cpus_per_gpu = 3;
  a = ask(task, facts("YES", "HOST"));
  EXPECT_EQ(a.geometry.slots, 12);
  EXPECT_EQ(number(a, "gpu"), "4");
}

TEST(Licenses, are_for_the_whole_job) {
  config::Config config;
  config.licenses = {{"m", "lic_job"}, {"s", "lic_slot"}};
  auto r = on(2, 2);
  r.licenses = "m:3";
  EXPECT_EQ(number(ask(r, facts("YES", "YES"), config), "lic_job"), "3");
  r.licenses = "s:8";
  EXPECT_EQ(number(ask(r, facts("YES", "YES"), config), "lic_slot"), "2");
  r.licenses = "s:3";
  EXPECT_EQ(number(ask(r, facts("YES", "YES"), config), "lic_slot"), "refused");
  r.licenses = "x";
  EXPECT_EQ(ask(r, facts("YES", "YES"), config).resources.error().message,
            "sbatch: error: Batch job submission failed: Invalid license specification");
}

TEST(OtherResources, gres_and_temporary_space) {
  config::Config config;
  config.gres_map = {{"nvme", "scratch"}};
  config.tmp_complex = "scratch";
  auto r = on(1, 4);
  r.gres = {{"nvme", "", 10}};
  EXPECT_EQ(number(ask(r, facts("YES", "YES"), config), "scratch"), "10");
  r.gres = {{"bogus", "", 1}};
  EXPECT_FALSE(ask(r, facts("YES", "YES"), config).resources.has_value());
  r.gres.clear();
  r.tmp_mebibytes = 2048;
  EXPECT_EQ(number(ask(r, facts("YES", "YES"), config), "scratch"), "2048M");
  EXPECT_EQ(ask(r, facts("YES", "YES")).resources->dropped.size(), 1u);
}

TEST(Features, alternatives_of_one_complex_are_one_request) {
  config::Config config;
  config.features = {{"a", "cpu=a"}, {"b", "-l cpu=b"}, {"big", "bigmem"}, {"ib", "net=ib,fast=1"}};
  const struct {
    std::string expression;
    Pairs requests;
    std::size_t dropped;
  } cases[] = {
      {"a&big", {{"cpu", "a"}, {"bigmem", ""}}, 0},
      {"a,ib", {{"cpu", "a"}, {"net", "ib"}, {"fast", "1"}}, 0},
      {"a|b", {{"cpu", "a|b"}}, 0},
      {"[a|b]", {{"cpu", "a|b"}}, 0},
      {"a|big", {}, 1},
      {"a*2", {}, 1},
  };
  for (const auto& c : cases) {
    auto r = on(1, 1);
    r.constraint = c.expression;
    const auto a = ask(r, facts("YES", "YES"), config);
    ASSERT_TRUE(a.resources.has_value()) << c.expression;
    EXPECT_EQ(a.resources->requests, c.requests) << c.expression;
    EXPECT_EQ(a.resources->dropped.size(), c.dropped) << c.expression;
  }
  auto r = on(1, 1);
  r.constraint = "nosuch";
  EXPECT_EQ(ask(r, facts("YES", "YES"), config).resources.error().message,
            "sbatch: error: Batch job submission failed: Invalid feature specification");
  EXPECT_EQ(ask(r, facts("YES", "YES")).resources->dropped.size(), 1u);
}

TEST(Features, that_are_only_wished_for) {
  config::Config config;
  config.features = {{"a", "cpu=a"}, {"b", "cpu=b"}, {"card", "gpu=1"}};
  auto r = on(1, 1);
  r.prefer = "a|b";
  auto a = ask(r, facts("YES", "YES"), config);
  EXPECT_EQ(a.resources->requests, Pairs{});
  EXPECT_EQ(a.resources->wishes, (Pairs{{"cpu", "a|b"}}));
  r.prefer = "card"; // the engine refuses wishes for what it counts
  a = ask(r, facts("YES", "YES"), config);
  EXPECT_EQ(a.resources->wishes, Pairs{});
  EXPECT_EQ(a.resources->warnings.size(), 1u);
  EXPECT_TRUE(a.resources->dropped.empty());
  r.prefer = "nosuch";
  EXPECT_EQ(ask(r, facts("YES", "YES"), config).resources.error().message,
            "sbatch: error: Batch job submission failed: Invalid feature specification");
  EXPECT_EQ(ask(r, facts("YES", "YES")).resources->warnings.size(), 1u);
}

} // namespace
} // namespace shim::submit
