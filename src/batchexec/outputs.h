#pragma once
// The files of a batch script: exact names from the patterns, folders that come late (submitit and
// Hydra make theirs only after sbatch has returned), open modes. Spec job-files 4, decision 22a,
// vectors/05.

#include "slurm_shim/base/result.h"
#include "slurm_shim/posix/fd.h"
#include "slurm_shim/records/batch_json.h"

#include <chrono>
#include <string>

namespace shim::batchexec {

struct OutputPaths {
  std::string in, out, err; // absolute; err == out: one file
};
[[nodiscard]] OutputPaths expand_paths(const records::BatchJob& job);

struct Outputs {
  posix::Fd in; // invalid: stdin stays what it is
  posix::Fd out, err;
};

// Waits for missing folders of out and err (both within `patience`), then makes them.
// Errors: "cannot open the output file /x/y: Permission denied".
[[nodiscard]] Result<Outputs>
open_outputs(const OutputPaths& paths,
             bool append,
             bool keep_stdin,
             std::chrono::milliseconds patience = std::chrono::milliseconds{5000});

} // namespace shim::batchexec
