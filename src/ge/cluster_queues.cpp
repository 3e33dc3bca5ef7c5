#include "slurm_shim/ge/cluster_queues.h"

#include "xml.h"

#include "slurm_shim/base/strings.h"

namespace shim::ge {

Result<std::vector<ClusterQueue>> parse_cluster_queues(std::string_view xml) {
  pugi::xml_document document;
  TRY(load_xml(document, xml, "qstat"));
  const auto root = document.child("job_info");
  if (!root) return fail(ErrorKind::malformed, "qstat: unexpected answer: no <job_info>");
  std::vector<ClusterQueue> queues;
  for (const auto& node : root.children("cluster_queue_summary")) {
    const auto number = [&](const char* name) {
      return parse_int<int>(trim(node.child_value(name))).value_or(0);
    };
    ClusterQueue queue;
    queue.name = child_text(node, "name");
    queue.used = number("used");
    queue.total = number("total");
    queue.out_of_service = number("manual_intervention");
    if (queue.name.empty())
      return fail(ErrorKind::malformed, "qstat: a cluster queue without a name in the answer");
    queues.push_back(std::move(queue));
  }
  return queues;
}

Result<std::vector<ClusterQueue>> list_cluster_queues(const Tools& tools) {
  TRY_ASSIGN(const auto output, tools.run({.tool = "qstat", .args = {"-g", "c", "-xml"}}));
  if (output.status != 0)
    return fail(ErrorKind::unavailable,
                "qstat: " + std::string(trim(split(trim(output.err), '\n').front())));
  return parse_cluster_queues(output.out);
}

} // namespace shim::ge
