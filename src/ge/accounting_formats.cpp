#include "accounting_files.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/accounting.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <ctime>
#include <iterator>
#include <set>

namespace shim::ge {

namespace {

constexpr double k_kib = 1024;

std::string named(std::string_view text) {
  return text == "NONE" || text == "-" ? std::string() : std::string(text);
}

double number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Seconds, milliseconds or microseconds since 1970.
std::int64_t epoch(std::int64_t value) {
  if (value >= 100'000'000'000'000) return value / 1'000'000;
  if (value >= 100'000'000'000) return value / 1'000;
  return value;
}

std::int64_t moment(std::string_view text) {
  const auto seconds = parse_int<std::int64_t>(text);
  return seconds ? epoch(*seconds) : 0;
}

// "1.523MB", "652.000KB", "0.000B", "2560000": bytes.
double bytes_of(std::string_view text) {
  double value = number(text);
  const auto unit = text.find_first_of("KMGTP");
  if (unit == std::string_view::npos) return value;
  for (const char step : std::string_view("KMGTP")) {
    value *= k_kib;
    if (step == text[unit]) break;
  }
  return value;
}

std::int64_t shown_time(std::string_view text) {
  return qacct_local_time(text).value_or(0);
}

// The flat view of a JSON line: the names of usage's members are unique.
class Reader final : public nlohmann::json_sax<nlohmann::json> {
public:
  AccountingRecord record;
  bool has_job = false;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return take(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return take(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return take(value); }
  bool string(string_t& value) override {
    for (const auto& [name, member] : k_texts)
      if (m_key == name) record.*member = named(value);
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t& name) override {
    m_key = name;
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

private:
  bool take(double value) {
    constexpr double k_whole = 9007199254740992; // beyond it a double is no exact number
    const auto whole = value > -k_whole && value < k_whole ? static_cast<std::int64_t>(value) : 0;
    if (m_key == "job_number") {
      record.job = whole > 0 ? static_cast<std::uint64_t>(whole) : 0;
      has_job = whole > 0;
    } else if (m_key == "task_number") {
      record.task = whole > 0 ? static_cast<std::uint32_t>(whole) : 0;
    } else if (m_key == "submission_time") {
      record.submit = epoch(whole);
    } else if (m_key == "start_time") {
      record.start = epoch(whole);
    } else if (m_key == "end_time") {
      record.end = epoch(whole);
    } else if (m_key == "failed") {
      record.failed = static_cast<int>(whole);
    } else if (m_key == "exit_status") {
      record.exit_status = static_cast<int>(whole);
    } else if (m_key == "slots") {
      record.slots = static_cast<int>(whole);
    } else if (m_key == "ru_maxrss") {
      if (record.max_rss == 0) record.max_rss = value * k_kib;
    } else {
      for (const auto& [name, member] : k_numbers)
        if (m_key == name) record.*member = value;
    }
    return true;
  }

  using Text = std::string AccountingRecord::*;
  static constexpr std::array<std::pair<std::string_view, Text>, 13> k_texts{{
      {"owner", &AccountingRecord::owner},
      {"group", &AccountingRecord::group},
      {"account", &AccountingRecord::account},
      {"qname", &AccountingRecord::queue},
      {"hostname", &AccountingRecord::host},
      {"department", &AccountingRecord::department},
      {"project", &AccountingRecord::project},
      {"job_name", &AccountingRecord::name},
      {"submit_cmd_line", &AccountingRecord::command},
      {"pe_taskid", &AccountingRecord::pe_task},
      {"granted_pe", &AccountingRecord::pe},
      {"category", &AccountingRecord::category},
      {"deleted_by", &AccountingRecord::deleted_by},
  }};
  using Number = double AccountingRecord::*;
  static constexpr std::array<std::pair<std::string_view, Number>, 6> k_numbers{{
      {"wallclock", &AccountingRecord::wallclock},
      {"ru_utime", &AccountingRecord::user_cpu},
      {"ru_stime", &AccountingRecord::system_cpu},
      {"cpu", &AccountingRecord::cpu},
      {"maxvmem", &AccountingRecord::max_vmem},
      {"maxrss", &AccountingRecord::max_rss},
  }};
  std::string m_key;
};

void set_text_field(AccountingRecord& record, std::string_view key, std::string_view value) {
  const auto first = value.substr(0, value.find(' '));
  const auto whole = parse_int<std::int64_t>(first).value_or(0);
  if (key == "qname") record.queue = named(value);
  if (key == "hostname") record.host = named(value);
  if (key == "group") record.group = named(value);
  if (key == "owner") record.owner = named(value);
  if (key == "project") record.project = named(value);
  if (key == "department") record.department = named(value);
  if (key == "jobname") record.name = value;
  if (key == "jobnumber") record.job = static_cast<std::uint64_t>(whole);
  if (key == "taskid") record.task = static_cast<std::uint32_t>(whole);
  if (key == "pe_taskid") record.pe_task = named(value);
  if (key == "account") record.account = named(value);
  if (key == "qsub_time") record.submit = shown_time(value);
  if (key == "submit_cmd_line") record.command = named(value);
  if (key == "start_time") record.start = shown_time(value);
  if (key == "end_time") record.end = shown_time(value);
  if (key == "granted_pe") record.pe = named(value);
  if (key == "slots") record.slots = static_cast<int>(whole);
  if (key == "failed") record.failed = static_cast<int>(whole);
  if (key == "exit_status") record.exit_status = static_cast<int>(whole);
  if (key == "deleted_by") record.deleted_by = named(value);
  if (key == "ru_wallclock" && record.wallclock == 0) record.wallclock = number(value);
  if (key == "wallclock") record.wallclock = number(value);
  if (key == "ru_utime") record.user_cpu = number(value);
  if (key == "ru_stime") record.system_cpu = number(value);
  if (key == "cpu") record.cpu = number(value);
  if (key == "maxvmem") record.max_vmem = bytes_of(value);
  // A number of KB, which 8.1.9 scales and labels as if it were bytes.
  if (key == "ru_maxrss") record.max_rss = bytes_of(value) * k_kib;
  if (key == "maxrss") record.max_rss = bytes_of(value);
  if (key == "category") record.category = named(value);
}

} // namespace

std::optional<std::int64_t> qacct_local_time(std::string_view text) {
  constexpr const char* k_forms[] = {
      "%a %b %e %H:%M:%S %Y", "%Y-%m-%d %H:%M:%S", "%m/%d/%Y %H:%M:%S"};
  const std::string copy(text);
  for (const auto* form : k_forms) {
    std::tm parts{};
    const char* end = ::strptime(copy.c_str(), form, &parts);
    if (end == nullptr || (*end != '\0' && *end != '.')) continue;
    parts.tm_isdst = -1;
    return std::mktime(&parts);
  }
  return std::nullopt;
}

// The category is the one field that may hold colons; it is counted from both ends.
std::optional<AccountingRecord> parse_accounting_line(std::string_view line) {
  constexpr std::size_t k_fields = 45;
  constexpr std::size_t k_category = 39;
  if (line.empty() || line.front() == '#') return std::nullopt;
  auto fields = split(trim(line), ':');
  if (fields.size() < k_fields - 2) return std::nullopt; // 6.x wrote two fewer at the end
  const auto full = fields.size() >= k_fields;
  const auto after = full ? fields.size() - 5 : k_category + 1;
  const auto job = parse_int<std::uint64_t>(fields[5]);
  if (!job || *job == 0 || !parse_int<std::int64_t>(fields[8])) return std::nullopt;
  AccountingRecord record;
  record.queue = named(fields[0]);
  record.host = named(fields[1]);
  record.group = fields[2];
  record.owner = fields[3];
  record.name = fields[4];
  record.job = *job;
  record.account = named(fields[6]);
  record.submit = moment(fields[8]);
  record.start = moment(fields[9]);
  record.end = moment(fields[10]);
  record.failed = parse_int<int>(fields[11]).value_or(0);
  record.exit_status = parse_int<int>(fields[12]).value_or(0);
  record.wallclock = number(fields[13]);
  record.user_cpu = number(fields[14]);
  record.system_cpu = number(fields[15]);
  record.max_rss = number(fields[16]) * k_kib;
  record.project = named(fields[31]);
  record.department = named(fields[32]);
  record.pe = named(fields[33]);
  record.slots = parse_int<int>(fields[34]).value_or(1);
  record.task = parse_int<std::uint32_t>(fields[35]).value_or(0);
  record.cpu = number(fields[36]);
  const auto begin = fields[k_category].data();
  const auto end = fields[after - 1].data() + fields[after - 1].size();
  record.category = named({begin, static_cast<std::size_t>(end - begin)});
  if (after + 1 < fields.size()) record.pe_task = named(fields[after + 1]);
  if (after + 2 < fields.size()) record.max_vmem = number(fields[after + 2]);
  return record;
}

std::optional<AccountingRecord> parse_accounting_json(std::string_view line) {
  Reader reader;
  if (!nlohmann::json::sax_parse(line, &reader)) {
    if (is_valid_utf8(line)) return std::nullopt;
    reader = Reader();
    if (!nlohmann::json::sax_parse(sanitize_utf8(line), &reader)) return std::nullopt;
  }
  return reader.has_job ? std::optional(std::move(reader.record)) : std::nullopt;
}

Result<std::vector<AccountingRecord>> parse_qacct(std::string_view text) {
  constexpr std::string_view k_needed[] = {"jobnumber", "end_time", "failed", "exit_status"};
  std::vector<AccountingRecord> records;
  std::set<std::string_view> missing; // of the record that is being read
  const auto cut_off = [] {
    return fail(ErrorKind::malformed, "qacct: unexpected answer: it is cut off");
  };
  for (const auto line : split(text, '\n')) {
    if (line.starts_with("==========")) {
      if (!missing.empty()) return cut_off();
      records.emplace_back();
      missing = {std::begin(k_needed), std::end(k_needed)};
      continue;
    }
    const auto blank = line.find(' ');
    if (records.empty() || blank == std::string_view::npos) continue;
    const auto key = line.substr(0, blank);
    const auto value = trim(line.substr(blank));
    set_text_field(records.back(), key, value);
    if (!value.empty()) missing.erase(key);
  }
  if (!missing.empty() || (!records.empty() && !text.ends_with('\n'))) return cut_off();
  std::erase_if(records, [](const auto& record) { return record.job == 0; });
  return records;
}

} // namespace shim::ge
