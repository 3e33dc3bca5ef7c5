#include "xml.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/jobs.h"

#include <algorithm>
#include <unordered_map>

namespace shim::ge {

namespace {

constexpr std::uint32_t k_array_type = 128; // bit of JB_type

// The wrapper elements between a list and its members differ between versions (element,
// ulong_sublist, grl): every member of a list is taken, whatever it is called.
std::vector<std::string> texts_of(const pugi::xml_node& node, const char* list, const char* field) {
  std::vector<std::string> out;
  for (const auto& member : node.child(list).children())
    if (member.child(field)) out.push_back(child_text(member, field));
  return out;
}

void add_requests(const pugi::xml_node& list, JobFacts& job) {
  for (const auto& request : list.children())
    job.requests.emplace_back(child_text(request, "CE_name"), child_text(request, "CE_stringval"));
}

void add_queues(const pugi::xml_node& node, const char* list, JobFacts& job) {
  for (auto& queue : texts_of(node, list, "QR_name"))
    if (std::ranges::find(job.queues, queue) == job.queues.end())
      job.queues.push_back(std::move(queue));
}

TaskFacts parse_task(const pugi::xml_node& node) {
  TaskFacts task;
  task.number = parse_int<std::uint32_t>(node.child_value("JAT_task_number")).value_or(0);
  task.start = parse_time(node.child_value("JAT_start_time"));
  for (const auto& grant : node.child("JAT_granted_destin_identifier_list").children()) {
    const auto host = child_text(grant, "JG_qhostname");
    const int slots = parse_int<int>(grant.child_value("JG_slots")).value_or(0);
    const auto known = std::ranges::find(task.hosts, host, &std::pair<std::string, int>::first);
    if (known != task.hosts.end())
      known->second += slots;
    else if (!host.empty())
      task.hosts.emplace_back(host, slots);
  }
  task.messages = texts_of(node, "JAT_message_list", "QIM_message");
  return task;
}

void parse_requests(const pugi::xml_node& node, JobFacts& job) {
  add_requests(node.child("JB_hard_resource_list"), job);
  add_queues(node, "JB_hard_queue_list", job);
  for (const auto& set : node.child("JB_request_set_list").children()) {
    add_requests(set.child("JRS_hard_resource_list"), job);
    add_queues(set, "JRS_hard_queue_list", job);
  }
}

void parse_names(const pugi::xml_node& node, JobFacts& job) {
  job.name = child_text(node, "JB_job_name");
  job.owner = child_text(node, "JB_owner");
  job.uid = parse_int<std::uint32_t>(node.child_value("JB_uid")).value_or(0);
  job.group = child_text(node, "JB_group");
  job.gid = parse_int<std::uint32_t>(node.child_value("JB_gid")).value_or(0);
  job.account = child_text(node, "JB_account");
  job.project = child_text(node, "JB_project");
  job.cwd = child_text(node, "JB_cwd");
  job.script = child_text(node, "JB_script_file");
  const auto outputs = texts_of(node, "JB_stdout_path_list", "PN_path");
  if (!outputs.empty()) job.output = outputs.front();
  const auto errors = texts_of(node, "JB_stderr_path_list", "PN_path");
  if (!errors.empty()) job.error = errors.front();
  job.merged_output = std::string_view(node.child_value("JB_merge_stderr")) == "true";
  for (const auto& pair : node.child("JB_env_list").children())
    if (child_text(pair, "VA_variable") == "SLURM_SHIM_REQ")
      job.submit_record = child_text(pair, "VA_value");
  for (const auto& pair : node.child("JB_context").children())
    job.context[child_text(pair, "VA_variable")] = child_text(pair, "VA_value");
}

Result<JobFacts> parse_job(const pugi::xml_node& node) {
  JobFacts job;
  const auto number = parse_int<std::uint64_t>(node.child_value("JB_job_number"));
  if (!number) return fail(ErrorKind::malformed, "qstat: a job without a number in the answer");
  job.job = *number;
  parse_names(node, job);
  parse_requests(node, job);
  job.submit = parse_time(node.child_value("JB_submission_time"));
  job.begin = parse_time(node.child_value("JB_execution_time"));
  job.pe = child_text(node, "JB_pe");
  const auto range = node.child("JB_pe_range").first_child();
  job.pe_slots = {parse_int<int>(range.child_value("RN_min")).value_or(0),
                  parse_int<int>(range.child_value("RN_max")).value_or(0)};
  for (const auto& text : texts_of(node, "JB_jid_predecessor_list", "JRE_job_number"))
    if (const auto id = parse_int<std::uint64_t>(text)) job.predecessors.push_back(*id);
  job.user_hold = !node.child("JB_ja_u_h_ids").empty();
  job.system_hold = !node.child("JB_ja_s_h_ids").empty();
  job.operator_hold = !node.child("JB_ja_o_h_ids").empty();
  const auto type = parse_int<std::uint32_t>(node.child_value("JB_type")).value_or(0);
  for (const auto& part : node.child("JB_ja_structure").children())
    job.structure.push_back({parse_int<std::uint32_t>(part.child_value("RN_min")).value_or(1),
                             parse_int<std::uint32_t>(part.child_value("RN_max")).value_or(1),
                             parse_int<std::uint32_t>(part.child_value("RN_step")).value_or(1)});
  job.array = (type & k_array_type) != 0 || expand_task_ranges(job.structure).size() > 1;
  job.concurrency = parse_int<int>(node.child_value("JB_ja_task_concurrency")).value_or(0);
  job.restart = parse_int<int>(node.child_value("JB_restart")).value_or(0);
  for (const auto& task : node.child("JB_ja_tasks").children())
    job.tasks.push_back(parse_task(task));
  return job;
}

// The scheduler's reasons for one job ("cannot run in PE ... because it only offers 32 slots").
void add_reasons(const pugi::xml_node& root, JobFactsList& details) {
  std::unordered_map<std::uint64_t, JobFacts*> by_number;
  for (auto& job : details.jobs)
    by_number.emplace(job.job, &job);
  for (const auto& element : root.child("messages").children())
    for (const auto& message : element.child("SME_message_list").children())
      for (const auto& text : texts_of(message, "MES_job_number_list", "ULNG_value")) {
        const auto number = parse_int<std::uint64_t>(text);
        const auto job = number ? by_number.find(*number) : by_number.end();
        if (job != by_number.end() && job->second->reason.empty())
          job->second->reason = child_text(message, "MES_message");
      }
}

// OCS answers an unknown job with text that is no XML ("<unknown_jobs><><ST_name>7</ST_name>"):
// the numbers are picked out of the text.
std::vector<std::uint64_t> unknown_jobs(std::string_view text) {
  constexpr std::string_view k_open = "<ST_name>";
  std::vector<std::uint64_t> jobs;
  for (auto at = text.find(k_open); at != std::string_view::npos; at = text.find(k_open, at)) {
    at += k_open.size();
    const auto number = text.substr(at, text.find('<', at) - at);
    if (const auto job = parse_int<std::uint64_t>(number)) jobs.push_back(*job);
  }
  return jobs;
}

} // namespace

const TaskFacts* JobFacts::task(std::uint32_t number) const {
  const auto it = std::ranges::find(tasks, number, &TaskFacts::number);
  return it == tasks.end() ? nullptr : &*it;
}

const JobFacts* JobFactsList::find(std::uint64_t job) const {
  const auto it = std::ranges::find(jobs, job, &JobFacts::job);
  return it == jobs.end() ? nullptr : &*it;
}

Result<JobFactsList> parse_job_facts(std::string_view xml) {
  JobFactsList details;
  if (xml.find("<unknown_jobs") != std::string_view::npos) {
    details.unknown = unknown_jobs(xml);
    if (details.unknown.empty())
      return fail(ErrorKind::malformed, "qstat: unknown jobs without a number in the answer");
    return details;
  }
  pugi::xml_document document;
  TRY(load_xml(document, xml, "qstat"));
  const auto root = document.document_element();
  const std::string_view name = root.name();
  if (name == "communication_error")
    return fail(ErrorKind::unavailable, "qstat: " + std::string(trim(root.text().get())));
  if (name != "detailed_job_info")
    return fail(ErrorKind::malformed, "qstat: unexpected answer: <" + std::string(name) + ">");
  for (const auto& node : root.child("djob_info").children()) {
    TRY_ASSIGN(auto job, parse_job(node));
    details.jobs.push_back(std::move(job));
  }
  add_reasons(root, details);
  return details;
}

} // namespace shim::ge
