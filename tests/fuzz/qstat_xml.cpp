// What qstat and qrstat print as XML or, for the resources of one job, as text.
#include "fuzz.h"

#include "slurm_shim/ge/cluster_queues.h"
#include "slurm_shim/ge/job_detail.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/ge/reservations.h"

using namespace shim::ge;

void fuzz(std::string_view bytes) {
  if (const auto rows = parse_job_list(bytes)) {
    for (const auto& [key, hosts] : hosts_of_jobs(*rows))
      SHIM_ASSERT(!hosts.empty());
    for (const auto& row : *rows)
      for (const auto& range : row.tasks)
        SHIM_ASSERT(range.step > 0 && range.first <= range.last);
  }
  if (const auto list = parse_job_facts(bytes))
    for (const auto& job : list->jobs)
      SHIM_ASSERT(list->find(job.job) != nullptr);
  const JobTask which{4, 1};
  if (const auto detail = parse_job_detail_xml(bytes, which))
    (void)detail->granted_ids("gpu", "n1");
  if (const auto detail = parse_job_detail_text(bytes, which)) (void)detail->request("h_rt");
  (void)parse_cluster_queues(bytes);
  (void)parse_reservations(bytes);
}
