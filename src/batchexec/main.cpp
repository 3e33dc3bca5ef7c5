#include "slurm_shim/batchexec/batch_exec.h"

namespace shim::batchexec {
int batch_exec_main(std::span<char* const>) { return 1; }
} // namespace shim::batchexec
