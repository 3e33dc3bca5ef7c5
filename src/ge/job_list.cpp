#include "xml.h"
#include "xml_scanner.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/posix/huge_pages.h"
#include "slurm_shim/slurm/hostlist.h"

#include <algorithm>
#include <ctime>
#include <unordered_map>

namespace shim::ge {

namespace {

constexpr std::size_t k_max_tasks = 1'000'000;

std::int64_t epoch_seconds(std::int64_t value) {
  if (value >= 100'000'000'000'000) return value / 1'000'000;
  if (value >= 100'000'000'000) return value / 1'000;
  return value;
}

double to_double(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc{} ? value : 0;
}

// Local times of one answer. mktime costs more than all the rest of a row, and the hours repeat.
class Times {
public:
  std::int64_t read(std::string_view text) {
    // YYYY-MM-DDTHH:MM:SS, a fraction may follow
    constexpr std::size_t k_hour = 13;
    constexpr std::size_t k_second = 19;
    if (text.size() < k_second || text[k_hour] != ':' || text[k_hour + 3] != ':')
      return parse_time(text);
    const auto minute = parse_int<int>(text.substr(k_hour + 1, 2));
    const auto second = parse_int<int>(text.substr(k_hour + 4, 2));
    if (!minute || !second || *minute > 59 || *second > 60) return parse_time(text);
    const auto hour = std::string(text.substr(0, k_hour));
    const auto [it, fresh] = m_hours.try_emplace(hour, 0);
    if (fresh) it->second = parse_time(hour + ":00:00");
    return it->second == 0 ? parse_time(text) : it->second + std::int64_t{*minute} * 60 + *second;
  }

private:
  std::unordered_map<std::string, std::int64_t> m_hours;
};

// Reads the elements of one answer, row by row.
class ListReader {
public:
  explicit ListReader(std::string_view xml) : m_text(xml), m_xml(xml) {}

  Result<std::vector<JobRow>> read() {
    m_rows.reserve(guess_rows());
    posix::expect_to_fill(m_rows.data(), m_rows.capacity() * sizeof(JobRow));
    for (;;) {
      const auto step = m_xml.next();
      if (step == XmlScanner::Step::error) return tl::unexpected<Error>(m_xml.error("qstat"));
      if (step == XmlScanner::Step::end) return std::move(m_rows);
      if (step == XmlScanner::Step::open)
        TRY(open());
      else
        TRY(close());
    }
  }

private:
  // About as many as there are: a vector that grows to tens of megabytes copies as many. From the
  // rows at the beginning, since looking for all of them costs a tenth of the reading.
  [[nodiscard]] std::size_t guess_rows() const {
    constexpr std::string_view k_open = "<job_list";
    constexpr std::size_t k_sample = std::size_t{64} << 10;
    const auto sample = m_text.substr(0, k_sample);
    std::size_t rows = 0;
    for (auto at = sample.find(k_open); at != std::string_view::npos;
         at = sample.find(k_open, at + k_open.size()))
      ++rows;
    if (sample.size() == m_text.size()) return rows;
    constexpr std::size_t k_spare = 8; // one in so many, for rows that are shorter later on
    const auto guess = (rows + rows / k_spare + 1) * (m_text.size() / k_sample + 1);
    constexpr std::size_t k_least_row = 64; // bytes; what is no answer reserves no gigabytes
    return std::min(guess, m_text.size() / k_least_row + 1);
  }

  Result<void> open() {
    if (m_xml.depth() == 1 && m_xml.name() != "job_info")
      return fail(ErrorKind::malformed,
                  "qstat: unexpected answer: <" + std::string(m_xml.name()) + ">");
    if (m_row_depth == 0 && m_xml.name() == "job_list") {
      m_row_depth = m_xml.depth();
      m_rows.emplace_back();
      row().pending = m_xml.attribute("state") == "pending";
    } else if (m_row_depth != 0 && m_xml.depth() == m_row_depth + 1) {
      if (m_xml.name() == "hard_request")
        m_attribute = m_xml.attribute("name");
      else if (m_xml.name() == "requested_pe")
        row().pe = decode_text(m_xml.attribute("name"));
    }
    return {};
  }

  Result<void> close() {
    if (m_row_depth == 0) return {};
    if (m_xml.depth() == m_row_depth) return take_field(m_xml.name(), m_xml.text());
    if (m_xml.depth() + 1 != m_row_depth) return {};
    m_row_depth = 0;
    if (row().job == 0)
      return fail(ErrorKind::malformed, "qstat: a job without a number in the answer");
    return {};
  }

  Result<void> take_field(std::string_view name, std::string_view text) {
    if (name == "JB_job_number")
      row().job = parse_int<std::uint64_t>(trim(text)).value_or(0);
    else if (name == "JAT_prio")
      row().priority = to_double(text);
    else if (name == "full_job_name")
      row().name = decode_text(text);
    else if (name == "JB_name") {
      if (row().name.empty()) row().name = decode_text(text);
    } else if (name == "JB_owner")
      row().owner = decode_text(text);
    else if (name == "state")
      row().state = text;
    else if (name == "JAT_start_time")
      row().start = m_times.read(text);
    else if (name == "JAT_submission_time" || name == "JB_submission_time")
      row().submit = m_times.read(text);
    else if (name == "queue_name")
      take_instance(text);
    else if (name == "master")
      row().slave = text == "SLAVE";
    else if (name == "slots")
      row().slots = parse_int<int>(text).value_or(0);
    else if (name == "tasks") {
      TRY_ASSIGN(row().tasks, parse_task_ranges(text));
    } else if (name == "hard_req_queue")
      row().requested_queues.push_back(decode_text(text));
    else if (name == "hard_request") {
      if (row().requests.empty()) row().requests.reserve(2);
      row().requests.emplace_back(decode_text(m_attribute), decode_text(text));
    } else if (name == "predecessor_jobs" || name == "ad_predecessor_jobs")
      if (const auto job = parse_int<std::uint64_t>(text)) row().predecessors.push_back(*job);
    return {};
  }

  void take_instance(std::string_view text) {
    const auto at = text.find('@');
    row().queue = text.substr(0, at);
    if (at != std::string_view::npos) row().host = text.substr(at + 1);
  }

  // The one that is being read. In its place from the beginning: a row is long to be moved.
  [[nodiscard]] JobRow& row() { return m_rows.back(); }

  std::string_view m_text;
  XmlScanner m_xml;
  Times m_times;
  std::string_view m_attribute;
  std::size_t m_row_depth = 0; // of the open job_list; 0: none is open
  std::vector<JobRow> m_rows;
};

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
  return ListReader(without_preamble(xml)).read();
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
