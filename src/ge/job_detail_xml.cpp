#include "xml.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/job_detail.h"

#include <fmt/core.h>
#include <pugixml.hpp>

#include <algorithm>

namespace shim::ge {
namespace {

std::string text_of(const pugi::xml_node& parent, const char* child) {
  return std::string(trim(child_text(parent, child)));
}

// The element names between a list and its members differ between engines, so that members are
// taken whatever they are called.
ResourceGrant read_grant(const pugi::xml_node& element) {
  ResourceGrant grant{text_of(element, "GRU_name"), text_of(element, "GRU_host"), {}};
  for (const auto& item : element.child("GRU_resource_map_list")) {
    // An empty grant lists an id all the same, with the amount 0.
    if (item.child("RESL_amount").text().as_int(1) == 0) continue;
    if (auto id = text_of(item, "RESL_value"); !id.empty()) grant.ids.push_back(std::move(id));
  }
  return grant;
}

void read_requests(const pugi::xml_node& list, std::vector<ResourceRequest>& out) {
  for (const auto& item : list)
    if (auto name = text_of(item, "CE_name"); !name.empty())
      out.push_back({std::move(name), item.child("CE_doubleval").text().as_double()});
}

std::vector<ResourceRequest> requests_of(const pugi::xml_node& job) {
  std::vector<ResourceRequest> out;
  std::vector<pugi::xml_node> scopes;
  for (const auto& scope : job.child("JB_request_set_list"))
    scopes.push_back(scope);
  const auto number = [](const pugi::xml_node& scope) {
    return scope.child("JRS_scope").text().as_int();
  };
  std::stable_sort(scopes.begin(), scopes.end(), [&](const auto& a, const auto& b) {
    return number(a) < number(b);
  });
  for (const auto& scope : scopes)
    read_requests(scope.child("JRS_hard_resource_list"), out);
  read_requests(job.child("JB_hard_resource_list"), out);
  return out;
}

Result<pugi::xml_node> find_job(const pugi::xml_node& root, const JobTask& which) {
  for (const auto& job : root.child("djob_info"))
    if (text_of(job, "JB_job_number") == std::to_string(which.job)) return job;
  return fail(ErrorKind::not_found, fmt::format("qstat -xml -j {}: no such job", which.job));
}

} // namespace

Result<JobDetail> parse_job_detail_xml(std::string_view xml, const JobTask& which) {
  // The list of unknown jobs is not well-formed XML on OCS 9.1 (elements without a name).
  if (xml.find("<unknown_jobs") != std::string_view::npos)
    return fail(ErrorKind::not_found, fmt::format("qstat -xml -j {}: no such job", which.job));
  pugi::xml_document document;
  TRY(load_xml(document, xml, fmt::format("qstat -xml -j {}", which.job)));
  const auto root = document.document_element();
  if (std::string_view(root.name()) == "communication_error")
    return fail(ErrorKind::unavailable,
                fmt::format("qstat -xml -j {}: no contact to the qmaster", which.job));
  TRY_ASSIGN(const auto job, find_job(root, which));
  JobDetail detail;
  detail.hard_requests = requests_of(job);
  for (const auto& task : job.child("JB_ja_tasks")) {
    if (text_of(task, "JAT_task_number") != std::to_string(which.task)) continue;
    for (const auto& element : task.child("JAT_granted_resources_list"))
      detail.grants.push_back(read_grant(element));
    return detail;
  }
  return fail(ErrorKind::not_found,
              fmt::format("qstat -xml -j {}: task {} is not running", which.job, which.task));
}

} // namespace shim::ge
