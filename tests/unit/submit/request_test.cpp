#include "record.h"

#include "slurm_shim/slurm/distribution.h"
#include "slurm_shim/submit/request.h"

#include <gtest/gtest.h>

namespace shim::submit {
namespace {

struct Gpus {
  std::string_view name;
  std::uint64_t total, per_node, gres, per_task;
  std::optional<int> nodes, ntasks;
  std::string_view refusal; // its beginning; "" = taken
  int nodes_then = 0, ntasks_then = 0;
};

// vectors/03 geo.122 to 125, and what contradicts itself.
TEST(Request, counts_of_gpus_fit_each_other) {
  const std::optional<int> none;
  for (const auto& c : std::vector<Gpus>{
           {"geo.122", 4, 2, 0, 0, none, none, "", 2, 0},
           {"geo.124", 4, 0, 0, 2, none, none, "", 0, 2},
           {"same nodes", 4, 2, 0, 0, 2, none, "", 2, 0},
           {"by gres", 4, 0, 4, 0, none, none, "", 1, 0},
           {"same tasks", 4, 0, 0, 2, none, 2, "", 0, 2},
           {"more nodes", 6, 2, 0, 0, 2, none, "--gpus=6 is not 2 on each of 2 nodes"},
           {"uneven", 5, 2, 0, 0, none, none, "--gpus=5 is not 2 on each of some nodes"},
           {"gres less", 4, 0, 2, 0, 1, none, "--gpus=4 is not 2 on each of 1 nodes"},
           {"more tasks", 4, 0, 0, 2, none, 4, "--gpus=4 is not 4 tasks of --gpus-per-task=2"},
       }) {
    Request r;
    const auto list = [](std::uint64_t n) {
      return n > 0 ? std::vector<slurm::Gres>{{"gpu", "", n}} : std::vector<slurm::Gres>{};
    };
    r.gpus = list(c.total);
    r.gpus_per_node = list(c.per_node);
    r.gres = list(c.gres);
    r.gpus_per_task = list(c.per_task);
    if (c.nodes) r.nodes = slurm::NodeCount{*c.nodes, *c.nodes, false};
    r.ntasks = c.ntasks;
    const auto done = verify_request(r);
    if (c.refusal.empty()) {
      EXPECT_TRUE(done) << c.name;
      EXPECT_EQ(r.nodes ? r.nodes->min : 0, c.nodes_then) << c.name;
      EXPECT_EQ(r.ntasks.value_or(0), c.ntasks_then) << c.name;
    } else {
      ASSERT_FALSE(done) << c.name;
      EXPECT_EQ(done.error().message,
                "sbatch: error: " + std::string(c.refusal) +
                    "\nsbatch: error: Invalid generic resource (gres) specification")
          << c.name;
    }
  }
}

TEST(Request, record_keeps_the_size_of_a_plane) {
  for (const auto& [text, kept] : {std::pair{"plane=3", "plane=3"}, {"cyclic", "cyclic"}}) {
    Request r;
    r.distribution = slurm::parse_distribution(text).value();
    EXPECT_EQ(make_record(r, {}, {}, {}, {}, {}).get_or("dist", ""), kept);
  }
}

} // namespace
} // namespace shim::submit
