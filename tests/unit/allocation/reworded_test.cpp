#include "slurm_shim/allocation/allocation.h"

#include <gtest/gtest.h>

namespace shim::allocation {
namespace {

TEST(Reworded, prefix_and_phrase_of_another_command) {
  EXPECT_EQ(reworded("sbatch: error: invalid partition specified: x\n"
                     "sbatch: error: Batch job submission failed: Invalid partition name specified",
                     "salloc",
                     k_salloc.failure),
            "salloc: error: invalid partition specified: x\n"
            "salloc: error: Job submit/allocate failed: Invalid partition name specified");
  EXPECT_EQ(reworded("sbatch: error: Batch job submission failed: Requested nodes are busy\n",
                     "srun",
                     k_srun.failure),
            "srun: error: Unable to allocate resources: Requested nodes are busy\n");
  EXPECT_EQ(reworded("a line of sbatch: its own", "srun", k_srun.failure),
            "a line of sbatch: its own");
}

} // namespace
} // namespace shim::allocation
