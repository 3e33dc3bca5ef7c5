#include "xml.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>
#include <ctime>

namespace shim::ge {

namespace {

constexpr std::size_t k_max_tasks = 1'000'000;

std::int64_t epoch_seconds(std::int64_t value) {
  if (value >= 100'000'000'000'000) return value / 1'000'000;
  if (value >= 100'000'000'000) return value / 1'000;
  return value;
}

double to_double(const std::string& text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc{} ? value : 0;
}

Result<JobRow> parse_row(const pugi::xml_node& node) {
  JobRow row;
  const auto number = parse_int<std::uint64_t>(node.child_value("JB_job_number"));
  if (!number) return fail(ErrorKind::malformed, "qstat: a job without a number in the answer");
  row.job = *number;
  row.priority = to_double(node.child_value("JAT_prio"));
  row.name = child_text(node, "full_job_name");
  if (row.name.empty()) row.name = child_text(node, "JB_name");
  row.owner = child_text(node, "JB_owner");
  row.state = node.child_value("state");
  row.start = parse_time(node.child_value("JAT_start_time"));
  row.submit = parse_time(node.child_value("JAT_submission_time"));
  if (row.submit == 0) row.submit = parse_time(node.child_value("JB_submission_time"));
  const std::string instance = node.child_value("queue_name");
  const auto at = instance.find('@');
  row.queue = instance.substr(0, at);
  if (at != std::string::npos) row.host = instance.substr(at + 1);
  row.pending = std::string_view(node.attribute("state").value()) == "pending";
  row.slave = std::string_view(node.child_value("master")) == "SLAVE";
  row.slots = parse_int<int>(node.child_value("slots")).value_or(0);
  TRY_ASSIGN(row.tasks, parse_task_ranges(node.child_value("tasks")));
  for (const auto& queue : node.children("hard_req_queue"))
    row.requested_queues.emplace_back(queue.child_value());
  for (const auto& request : node.children("hard_request"))
    row.requests.emplace_back(request.attribute("name").value(), request.child_value());
  row.pe = node.child("requested_pe").attribute("name").value();
  for (const auto& predecessor : node.children("predecessor_jobs"))
    if (const auto job = parse_int<std::uint64_t>(predecessor.child_value()))
      row.predecessors.push_back(*job);
  return row;
}

Result<void> collect(const pugi::xml_node& parent, std::vector<JobRow>& rows) {
  for (const auto& node : parent.children("job_list")) {
    TRY_ASSIGN(auto row, parse_row(node));
    rows.push_back(std::move(row));
  }
  return {};
}

} // namespace

std::int64_t parse_time(std::string_view text) {
  if (const auto number = parse_int<std::int64_t>(text)) return epoch_seconds(*number);
  std::tm parts{};
  const std::string copy(text.substr(0, text.find('.')));
  const char* end = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr || *end != '\0') return 0;
  parts.tm_isdst = -1;
  return std::mktime(&parts);
}

Result<std::vector<TaskRange>> parse_task_ranges(std::string_view text) {
  std::vector<TaskRange> ranges;
  if (trim(text).empty()) return ranges;
  const auto bad = [&] {
    return fail(ErrorKind::malformed, "qstat: bad task list \"" + std::string(text) + "\"");
  };
  for (const auto part : split(trim(text), ',')) {
    TaskRange range;
    const auto colon = part.find(':');
    const auto span = part.substr(0, colon);
    const auto dash = span.find('-');
    const auto first = parse_int<std::uint32_t>(span.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_int<std::uint32_t>(span.substr(dash + 1));
    const auto step = colon == std::string_view::npos
                          ? std::optional<std::uint32_t>(1)
                          : parse_int<std::uint32_t>(part.substr(colon + 1));
    if (!first || !last || !step || *step == 0 || *last < *first) return bad();
    range = {*first, *last, *step};
    ranges.push_back(range);
  }
  return ranges;
}

std::vector<std::uint32_t> expand_task_ranges(const std::vector<TaskRange>& ranges) {
  std::vector<std::uint32_t> numbers;
  for (const auto& range : ranges)
    for (std::uint64_t n = range.first; n <= range.last && numbers.size() < k_max_tasks;
         n += range.step)
      numbers.push_back(static_cast<std::uint32_t>(n));
  return numbers;
}

Result<std::vector<JobRow>> parse_job_list(std::string_view xml) {
  pugi::xml_document document;
  TRY(load_xml(document, xml, "qstat"));
  const auto root = document.document_element();
  if (std::string_view(root.name()) != "job_info")
    return fail(ErrorKind::malformed,
                "qstat: unexpected answer: <" + std::string(root.name()) + ">");
  std::vector<JobRow> rows;
  for (const auto& section : root.children()) {
    TRY(collect(section, rows));
    for (const auto& queue : section.children("Queue-List"))
      TRY(collect(queue, rows));
  }
  return rows;
}

std::map<TaskKey, std::vector<std::string>> hosts_of_jobs(const std::vector<JobRow>& rows) {
  std::map<TaskKey, std::string> masters;
  std::map<TaskKey, std::vector<std::string>> hosts;
  for (const auto& row : rows) {
    if (row.pending || row.host.empty()) continue;
    const TaskKey key{row.job, row.tasks.empty() ? 0 : row.tasks.front().first};
    if (!row.slave) masters[key] = row.host;
    auto& list = hosts[key];
    if (std::ranges::find(list, row.host) == list.end()) list.push_back(row.host);
  }
  for (auto& [key, list] : hosts) {
    slurm::sort_hosts(list);
    const auto master = masters.find(key);
    if (master == masters.end()) continue;
    const auto at = std::ranges::find(list, master->second);
    std::rotate(list.begin(), at, std::next(at));
  }
  return hosts;
}

} // namespace shim::ge
