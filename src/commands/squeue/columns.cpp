#include "columns.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/date_time.h"
#include "slurm_shim/slurm/hostlist.h"
#include "slurm_shim/slurm/time_limit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace shim::commands::squeue {

namespace {

using queue::Job;

constexpr double k_priority_scale = 100000; // qstat's 0.55500 as the number that %Q shows

struct Moment {
  const Job& job;
  std::int64_t now;
};

std::string null_if_empty(const std::string& text) {
  return text.empty() ? "(null)" : text;
}

std::string time_or_na(std::int64_t when) {
  return when > 0 ? slurm::format_date_time(when) : "N/A";
}

std::int64_t used(const Moment& at) {
  if (at.job.pending() || at.job.start == 0) return 0;
  return std::max<std::int64_t>(0, at.now - at.job.start);
}

std::string time_left(const Moment& at) {
  if (at.job.limit_min == slurm::k_unlimited_minutes) return "UNLIMITED";
  const auto left = std::int64_t{at.job.limit_min} * 60 - used(at);
  return left < 0 ? "INVALID" : slurm::format_duration_short(left);
}

std::int64_t start_of(const Moment& at) {
  if (!at.job.pending()) return at.job.start;
  return at.job.begin > at.now ? at.job.begin : 0;
}

std::string hosts_of(const Moment& at) {
  return slurm::compress_hostlist(at.job.hosts);
}

std::string hosts_or_reason(const Moment& at) {
  return at.job.pending() ? "(" + at.job.reason + ")" : hosts_of(at);
}

std::string number_or(std::optional<std::uint32_t> number) {
  return number ? std::to_string(*number) : "N/A";
}

struct Letter {
  char letter;
  std::string_view header;
  std::string (*value)(const Moment&);
  bool whole_value = false; // right-justified values are not cut
  bool whole_header = false;
};

template <const char* Text> std::string fixed(const Moment&) {
  return Text;
}
constexpr char k_null[] = "(null)", k_na[] = "N/A", k_any[] = "*", k_zero[] = "0", k_none[] = "";
constexpr char k_any3[] = "*:*:*", k_ok[] = "OK", k_normal[] = "normal";

// In order of letters. What Grid Engine has no word for shows what Slurm shows when it is not set.
constexpr Letter k_letters[] = {
    {'A', "JOBID", [](const Moment& at) { return std::to_string(at.job.id); }},
    {'B',
     "EXEC_HOST",
     [](const Moment& at) { return at.job.hosts.empty() ? "n/a" : at.job.hosts.front(); }},
    {'C', "CPUS", [](const Moment& at) { return std::to_string(at.job.cpus); }},
    {'D', "NODES", [](const Moment& at) { return std::to_string(at.job.nodes); }},
    {'E', "DEPENDENCY", [](const Moment& at) { return null_if_empty(at.job.dependency); }},
    {'F', "ARRAY_JOB_ID", [](const Moment& at) { return std::to_string(at.job.job); }},
    {'G', "GROUP", [](const Moment& at) { return number_or(at.job.gid); }},
    {'H', "SOCKETS_PER_NODE", fixed<k_any>},
    {'I', "CORES_PER_SOCKET", fixed<k_any>},
    {'J', "THREADS_PER_CORE", fixed<k_any>},
    {'K', "ARRAY_TASK_ID", [](const Moment& at) { return queue::display_index(at.job); }},
    {'L', "TIME_LEFT", time_left, true},
    {'M', "TIME", [](const Moment& at) { return slurm::format_duration_short(used(at)); }, true},
    {'N', "NODELIST", hosts_of, true, true},
    {'O', "CONTIGUOUS", fixed<k_zero>},
    {'P', "PARTITION", [](const Moment& at) { return at.job.partition; }},
    {'Q',
     "PRIORITY",
     [](const Moment& at) {
       return std::to_string(std::lround(at.job.priority * k_priority_scale));
     }},
    {'R', "NODELIST(REASON)", hosts_or_reason, true, true},
    {'S', "START_TIME", [](const Moment& at) { return time_or_na(start_of(at)); }},
    {'T', "STATE", [](const Moment& at) { return std::string(slurm::long_name(at.job.state)); }},
    {'U', "UID", [](const Moment& at) { return number_or(at.job.uid); }},
    {'V', "SUBMIT_TIME", [](const Moment& at) { return time_or_na(at.job.submit); }},
    {'W', "LICENSES", fixed<k_null>},
    {'X', "CORE_SPEC", fixed<k_na>},
    {'Y', "SCHEDNODES", fixed<k_null>},
    {'Z', "WORK_DIR", [](const Moment& at) { return null_if_empty(at.job.work_dir); }},
    {'a', "ACCOUNT", [](const Moment& at) { return null_if_empty(at.job.account); }},
    {'b', "TRES_PER_NODE", fixed<k_na>},
    {'c', "MIN_CPUS", [](const Moment& at) { return std::to_string(at.job.cpus_per_task); }},
    {'d', "MIN_TMP_DISK", fixed<k_zero>},
    {'e', "END_TIME", [](const Moment& at) { return time_or_na(at.job.end()); }},
    {'f', "FEATURES", fixed<k_null>},
    {'g', "GROUP", [](const Moment& at) { return null_if_empty(at.job.group); }},
    {'h', "OVER_SUBSCRIBE", fixed<k_ok>},
    {'i', "JOBID", [](const Moment& at) { return queue::display_id(at.job); }},
    {'j', "NAME", [](const Moment& at) { return at.job.name; }},
    {'k', "COMMENT", [](const Moment& at) { return null_if_empty(at.job.comment); }},
    {'l',
     "TIME_LIMIT",
     [](const Moment& at) { return slurm::format_time_limit_short(at.job.limit_min); },
     true},
    {'m', "MIN_MEMORY", fixed<k_zero>},
    {'n', "REQ_NODES", [](const Moment& at) { return at.job.requested_hosts; }},
    {'o', "COMMAND", [](const Moment& at) { return null_if_empty(at.job.command); }},
    {'p', "PRIORITY", [](const Moment& at) { return fmt::format("{:.14f}", at.job.priority); }},
    {'q', "QOS", fixed<k_normal>},
    {'r', "REASON", [](const Moment& at) { return at.job.reason; }},
    {'s', "", fixed<k_none>},
    {'t', "ST", [](const Moment& at) { return std::string(slurm::short_name(at.job.state)); }},
    {'u', "USER", [](const Moment& at) { return at.job.user; }},
    {'v', "RESERVATION", fixed<k_null>},
    {'w', "WCKEY", fixed<k_null>},
    {'x', "EXC_NODES", [](const Moment& at) { return at.job.excluded_hosts; }},
    {'y', "NICE", fixed<k_zero>},
    {'z', "S:C:T", fixed<k_any3>},
};

const Letter* find_letter(char letter) {
  const auto* it = std::ranges::find(k_letters, letter, &Letter::letter);
  return it == std::end(k_letters) ? nullptr : it;
}

std::string cell(const Column& column, std::string text, bool whole) {
  if (column.width == 0) return text;
  if (text.size() > column.width && !(column.right && whole)) text.resize(column.width);
  if (text.size() < column.width)
    text.insert(column.right ? 0 : text.size(), column.width - text.size(), ' ');
  return text;
}

} // namespace

bool Format::uses(std::string_view letters) const {
  return std::ranges::any_of(columns, [&](const Column& column) {
    return column.letter != 0 && letters.find(column.letter) != std::string_view::npos;
  });
}

Format parse_format(std::string_view text) {
  constexpr std::size_t k_max_width = 4096;
  Format format;
  const auto parts = split(text, '%');
  if (!parts.front().empty()) {
    Column literal;
    literal.before = parts.front();
    format.columns.push_back(std::move(literal));
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    auto part = parts[i];
    if (part.empty()) continue;
    Column column;
    if (part.front() == '.') {
      column.right = true;
      part.remove_prefix(1);
    }
    while (!part.empty() && part.front() >= '0' && part.front() <= '9') {
      column.width =
          std::min(k_max_width, column.width * 10 + static_cast<std::size_t>(part.front() - '0'));
      part.remove_prefix(1);
    }
    if (part.empty()) continue;
    column.after = part.substr(1);
    if (find_letter(part.front()) != nullptr) {
      column.letter = part.front();
    } else {
      format.errors.push_back(std::string("Invalid job format specification: ") + part.front());
      column.before = std::string("%") + part.front();
    }
    format.columns.push_back(std::move(column));
  }
  return format;
}

std::string header_line(const Format& format) {
  std::string line;
  for (const auto& column : format.columns) {
    line += column.before;
    if (const auto* letter = column.letter != 0 ? find_letter(column.letter) : nullptr)
      line += cell(column, std::string(letter->header), letter->whole_header);
    line += column.after;
  }
  return line + "\n";
}

std::string job_line(const Format& format, const queue::Job& job, std::int64_t now) {
  std::string line;
  for (const auto& column : format.columns) {
    line += column.before;
    if (const auto* letter = column.letter != 0 ? find_letter(column.letter) : nullptr)
      line += cell(column, letter->value({job, now}), letter->whole_value);
    line += column.after;
  }
  return line + "\n";
}

} // namespace shim::commands::squeue
