// What the probe's output should have been.
#include "probe.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/rle.h"

#include <fmt/core.h>

#include <numeric>
#include <set>

namespace shim::commands::doctor {

namespace {

using Variables = std::map<std::string, std::string>;

std::string value(const Variables& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

const Finding k_not_run{Status::skip, "the job did not run (P01)", {}};

Finding submitted(const Probe& probe) {
  Verdict verdict;
  if (probe.job.empty())
    verdict.fail("sbatch refused the job: " + masked(trim(probe.submit_said)),
                 "the message says why; `slurm-shim explain` shows what would be submitted");
  else if (!probe.output.began && !probe.in_time)
    verdict.fail("job " + probe.job + " did not start in time" +
                     (probe.reasons.empty() ? "" : ": " + masked(probe.reasons)),
                 "free hosts, choose another --partition, or give it more --timeout");
  else if (!probe.output.began)
    verdict.fail("job " + probe.job + " ended without output",
                 "qacct -j " + probe.job + " and the queue's messages file tell why; C09 and C10");
  else if (!probe.output.ended)
    verdict.fail("job " + probe.job + (probe.in_time ? " ended early" : " did not end in time"),
                 "look at the srun lines of its output; C12 and C19 with --hosts");
  return verdict.finish("job " + probe.job + " ran");
}

Finding variables(const Probe& probe) {
  const auto& job = probe.output.job;
  Verdict verdict;
  const std::string advice = "hook and starter make these: C06, C08, C09, C10";
  const auto expect = [&](const std::string& name, const std::string& wanted) {
    const auto seen = value(job, name);
    if (seen != wanted)
      verdict.fail(name + " is " + (seen.empty() ? "not set" : "\"" + seen + "\"") +
                       ", should be \"" + wanted + "\"",
                   advice);
  };
  expect("SLURM_JOB_ID", probe.job);
  expect("SLURM_NNODES", std::to_string(probe.nodes));
  expect("SLURM_NTASKS", std::to_string(probe.nodes));
  const auto list = value(job, "SLURM_JOB_NODELIST");
  const auto hosts = slurm::expand_hostlist(list);
  if (!hosts || hosts->size() != static_cast<std::size_t>(probe.nodes))
    verdict.fail(fmt::format("SLURM_JOB_NODELIST \"{}\" does not name {} hosts", list, probe.nodes),
                 advice);
  if (value(job, "SLURM_SUBMIT_DIR").empty()) verdict.fail("SLURM_SUBMIT_DIR is not set", advice);
  return verdict.finish(list);
}

Finding layout(const Probe& probe) {
  const auto text = value(probe.output.job, "SLURM_TASKS_PER_NODE");
  const auto counts = slurm::expand_counts(text);
  Verdict verdict;
  const bool fits = counts && counts->size() == static_cast<std::size_t>(probe.nodes) &&
                    std::accumulate(counts->begin(), counts->end(), 0) == probe.nodes;
  if (!fits)
    verdict.fail(fmt::format("SLURM_TASKS_PER_NODE is \"{}\" for one task on each of {} hosts",
                             text,
                             probe.nodes),
                 "the layout was not pinned: qsub -par (C02) or pe_by_layout of the partition");
  return verdict.finish(text);
}

Finding ranks(const Probe& probe) {
  Verdict verdict;
  const auto& seen = probe.output.ranks;
  const std::string advice = "run srun -l -v hostname in a job: C05, C12, C19";
  if (seen.size() != static_cast<std::size_t>(probe.nodes))
    verdict.fail(fmt::format("{} ranks answered, {} were started", seen.size(), probe.nodes),
                 advice);
  std::set<std::string> hosts;
  for (const auto& [rank, variables] : seen) {
    hosts.insert(value(variables, "HOST"));
    for (const auto& [name, wanted] : {std::pair{"SLURM_PROCID", std::to_string(rank)},
                                       std::pair{"SLURM_NTASKS", std::to_string(probe.nodes)},
                                       std::pair{"SLURM_JOB_ID", probe.job}})
      if (const auto found = value(variables, name); found != wanted)
        verdict.fail(
            fmt::format(R"(rank {}: {} is "{}", should be "{}")", rank, name, found, wanted),
            advice);
  }
  if (!seen.empty() && hosts.size() != static_cast<std::size_t>(probe.nodes))
    verdict.fail("the ranks ran on " + join(hosts, ", ") + " only", advice);
  if (!probe.output.strange.empty())
    verdict.fail("output without a label: " + masked(probe.output.strange.front()), advice);
  if (probe.output.exit_code != "3")
    verdict.fail("a step that ends with 3 gave " +
                     (probe.output.exit_code.empty() ? "nothing" : probe.output.exit_code),
                 advice);
  return verdict.finish(join(hosts, ", ") + "; exit codes come back");
}

Finding accounting(const Probe& probe) {
  Verdict verdict;
  if (probe.accounting.empty())
    verdict.warn("sacct does not know job " + probe.job + " after a minute",
                 "C27; a state folder that hosts do not share (HOME, job_records)");
  else if (probe.accounting != "FAILED|3:0")
    verdict.warn("sacct says " + probe.accounting +
                     " of a script that ended with 3, not "
                     "FAILED|3:0",
                 "upgrade the engine (C02); keep job_records on");
  return verdict.finish("FAILED, 3:0, as it ended");
}

Finding devices(const Probe& probe) {
  if (!probe.wants_gpu) return {Status::skip, "no GPUs by number in that partition (C15)", {}};
  Verdict verdict;
  for (const auto& [rank, variables] : probe.output.ranks) {
    auto list = value(variables, "CUDA_VISIBLE_DEVICES");
    if (list.empty()) list = value(variables, "ROCR_VISIBLE_DEVICES");
    if (list.empty() || split(list, ',').size() != 1)
      verdict.fail(fmt::format("rank {} sees the devices \"{}\", not one", rank, list),
                   "C15; gpu.vendor and gpu.isolation in the configuration");
  }
  return verdict.finish("every rank sees one device");
}

} // namespace

std::vector<Finding> judge_probe(const Probe& probe) {
  std::vector<Finding> out{submitted(probe)};
  if (!probe.output.began) {
    out.insert(out.end(), 5, k_not_run);
    return out;
  }
  out.push_back(variables(probe));
  out.push_back(ranks(probe));
  out.push_back(layout(probe));
  out.push_back(accounting(probe));
  out.push_back(devices(probe));
  return out;
}

} // namespace shim::commands::doctor
