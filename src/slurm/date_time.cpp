#include "slurm_shim/slurm/date_time.h"

#include "c_number.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/slurm/exit_codes.h"

#include <array>
#include <optional>

namespace shim::slurm {

namespace {

struct Clock {
  int hour = 0, minute = 0, second = 0;
};
struct Day {
  int year = 0, month = 0, day = 0; // year 0: the next such day
};

class Parser {
public:
  explicit Parser(std::string_view text) : m_text(text) {}

  // False: m_pos is where it went wrong.
  bool run();
  [[nodiscard]] std::size_t position() const { return m_pos; }
  [[nodiscard]] std::time_t resolve(std::time_t now) const;

private:
  [[nodiscard]] char at(std::size_t i) const { return i < m_text.size() ? m_text[i] : '\0'; }
  bool take_word(std::string_view word);
  bool take_keyword();
  bool take_delta();
  bool take_time();
  bool take_iso_date();
  bool take_short_date();
  // One or two digits in [low, high]; on failure m_pos stays at their start.
  std::optional<int> take_pair(int low, int high);
  void skip_blanks() {
    while (at(m_pos) == ' ' || at(m_pos) == '\t')
      ++m_pos;
  }

  std::string_view m_text;
  std::size_t m_pos = 0;
  bool m_relative = false; // now, with m_delta
  std::time_t m_delta = 0;
  std::optional<std::time_t> m_epoch; // uts
  std::optional<Clock> m_clock;
  std::optional<Day> m_day;
  std::optional<int> m_days_ahead; // today, tomorrow
};

bool Parser::take_word(std::string_view word) {
  if (!equals_ignore_case(m_text.substr(m_pos, word.size()), word)) return false;
  m_pos += word.size();
  return true;
}

bool Parser::take_keyword() {
  struct Hour {
    std::string_view word;
    int hour;
  };
  for (const auto& [word, hour] :
       std::array{Hour{"midnight", 0}, Hour{"noon", 12}, Hour{"fika", 15}, Hour{"teatime", 16}})
    if (take_word(word)) {
      m_clock = Clock{hour, 0, 0};
      return true;
    }
  if (take_word("today")) {
    m_days_ahead = 0;
    return true;
  }
  if (take_word("tomorrow")) {
    m_days_ahead = 1;
    return true;
  }
  return false;
}

// After "now": nothing, or {+|-}<number>[unit].
bool Parser::take_delta() {
  m_relative = true;
  const auto before = m_pos;
  skip_blanks();
  const char sign = at(m_pos);
  if (sign != '+' && sign != '-') {
    m_pos = before;
    return true;
  }
  const auto sign_at = m_pos++;
  skip_blanks();
  auto rest = m_text.substr(m_pos);
  const auto number = take_digits(rest, 10);
  if (!number) {
    m_pos = sign_at;
    return false;
  }
  m_pos = m_text.size() - rest.size();
  struct Unit {
    std::string_view word;
    std::time_t seconds;
  };
  std::time_t unit = 1;
  const auto number_end = m_pos;
  skip_blanks();
  bool known = m_pos == m_text.size();
  for (const auto& [word, seconds] : std::array{Unit{"second", 1},
                                                Unit{"minute", 60},
                                                Unit{"hour", 3600},
                                                Unit{"day", 86400},
                                                Unit{"week", 604800}})
    if (!known && take_word(word)) {
      unit = seconds;
      known = true;
      if (at(m_pos) == 's' || at(m_pos) == 'S') ++m_pos;
    }
  if (!known && m_pos == number_end) { // Slurm points at the last digit
    m_pos = number_end - 1;
    return false;
  }
  m_delta = *number * unit * (sign == '-' ? -1 : 1);
  return true;
}

std::optional<int> Parser::take_pair(int low, int high) {
  auto rest = m_text.substr(m_pos);
  const auto value = take_digits(rest, 2);
  if (!value || *value < low || *value > high) return std::nullopt;
  m_pos = m_text.size() - rest.size();
  return static_cast<int>(*value);
}

bool Parser::take_time() {
  const auto start = m_pos;
  Clock clock;
  const auto hour = take_pair(0, 23);
  if (!hour) return false;
  ++m_pos; // the colon that brought us here
  const auto minute = take_pair(0, 59);
  if (!minute) return false;
  clock = {*hour, *minute, 0};
  if (at(m_pos) == ':') {
    ++m_pos;
    const auto second = take_pair(0, 59);
    if (!second) return false;
    clock.second = *second;
  }
  const auto before = m_pos;
  skip_blanks();
  const bool pm = take_word("pm");
  if (pm || take_word("am")) {
    if (clock.hour < 1 || clock.hour > 12) {
      m_pos = start;
      return false;
    }
    clock.hour = clock.hour % 12 + (pm ? 12 : 0);
  } else {
    m_pos = before;
  }
  m_clock = clock;
  return true;
}

bool Parser::take_iso_date() {
  auto rest = m_text.substr(m_pos);
  const auto year = take_digits(rest, 4);
  m_pos += 5;
  const auto month = take_pair(1, 12);
  if (!month || at(m_pos) != '-') return false;
  ++m_pos;
  const auto day = take_pair(1, 31);
  if (!day) return false;
  m_day = Day{static_cast<int>(year.value_or(0)), *month, *day};
  return true;
}

// MMDD[YY], MM/DD[/YY], MM.DD[.YY]
bool Parser::take_short_date() {
  const auto separator = [&] { return at(m_pos) == '/' || at(m_pos) == '.'; };
  const auto month = take_pair(1, 12);
  if (!month) return false;
  if (separator()) ++m_pos;
  const auto day = take_pair(1, 31);
  if (!day) return false;
  Day date{0, *month, *day};
  if (separator()) {
    ++m_pos;
    if (!is_digit(at(m_pos))) return false;
  }
  auto rest = m_text.substr(m_pos);
  if (const auto year = take_digits(rest, 4)) {
    const auto digits = m_text.size() - rest.size() - m_pos;
    if (digits != 2 && digits != 4) return false;
    date.year = static_cast<int>(*year) + (digits == 2 ? 2000 : 0);
    m_pos += digits;
  }
  m_day = date;
  return true;
}

bool Parser::run() {
  if (m_text.empty()) return false;
  while (m_pos < m_text.size()) {
    if (take_keyword()) continue;
    if (take_word("now")) {
      if (!take_delta()) return false;
      continue;
    }
    const char c = at(m_pos);
    if (c == ' ' || c == '\t' || c == 'T') {
      ++m_pos;
      continue;
    }
    if (take_word("uts")) {
      auto rest = m_text.substr(m_pos);
      const auto seconds = take_digits(rest, 12);
      if (!seconds) return false;
      m_epoch = *seconds;
      m_pos = m_text.size() - rest.size();
      continue;
    }
    if (!is_digit(c)) return false;
    const bool time = at(m_pos + 1) == ':' || (is_digit(at(m_pos + 1)) && at(m_pos + 2) == ':');
    const bool iso = is_digit(at(m_pos + 1)) && is_digit(at(m_pos + 2)) &&
                     is_digit(at(m_pos + 3)) && at(m_pos + 4) == '-';
    if (!(time ? take_time() : iso ? take_iso_date() : take_short_date())) return false;
  }
  return true;
}

std::time_t Parser::resolve(std::time_t now) const {
  if (m_epoch) return *m_epoch;
  if (m_relative) return now + m_delta;
  std::tm today{};
  localtime_r(&now, &today);
  std::tm when = today;
  const auto clock = m_clock.value_or(Clock{});
  when.tm_hour = clock.hour;
  when.tm_min = clock.minute;
  when.tm_sec = clock.second;
  when.tm_isdst = -1;
  if (m_day) {
    when.tm_mon = m_day->month - 1;
    when.tm_mday = m_day->day;
    if (m_day->year != 0)
      when.tm_year = m_day->year - 1900;
    else if (when.tm_mon < today.tm_mon ||
             (when.tm_mon == today.tm_mon && when.tm_mday < today.tm_mday))
      ++when.tm_year;
  } else if (m_days_ahead) {
    when.tm_mday += *m_days_ahead;
  }
  auto result = std::mktime(&when);
  // A time of day alone is the next such time.
  if (!m_day && !m_days_ahead && result < now) {
    ++when.tm_mday;
    when.tm_isdst = -1;
    result = std::mktime(&when);
  }
  return result;
}

} // namespace

Result<std::time_t> parse_date_time(std::string_view text, std::time_t now) {
  Parser parser(text);
  if (!parser.run())
    return fail(ErrorKind::usage,
                "Invalid time specification (pos=" + std::to_string(parser.position()) +
                    "): " + std::string(text),
                k_exit_usage);
  return parser.resolve(now);
}

namespace {

// The format may be the user's: strftime reads nothing but `parts`.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
std::string strftime_of(const std::tm& parts, const char* format) {
  char text[256];
  const auto size = std::strftime(text, sizeof text, format, &parts);
  return {text, size};
}
#pragma GCC diagnostic pop

// Days since the beginning of the calendar, enough for differences.
int day_number(const std::tm& parts) {
  std::tm noon = parts;
  noon.tm_hour = 12;
  noon.tm_min = noon.tm_sec = 0;
  noon.tm_isdst = -1;
  return static_cast<int>(std::mktime(&noon) / 86400);
}

std::string relative_to(const std::tm& parts, const std::tm& today) {
  constexpr int k_week = 7;
  const int days = day_number(parts) - day_number(today);
  if (days == 0) return strftime_of(parts, "%H:%M:%S");
  if (days == 1) return strftime_of(parts, "Tomorr %H:%M");
  if (days == -1) return strftime_of(parts, "Ystday %H:%M");
  if (days > -k_week && days < k_week) return strftime_of(parts, "%a %H:%M");
  return strftime_of(parts, parts.tm_year == today.tm_year ? "%-d %b %H:%M" : "%-d %b %Y");
}

} // namespace

std::string format_date_time(std::time_t when) {
  std::tm local{};
  localtime_r(&when, &local);
  return strftime_of(local, "%Y-%m-%dT%H:%M:%S");
}

std::string format_date_time(std::time_t when, std::string_view time_format, std::time_t now) {
  if (time_format.empty() || time_format == "standard") return format_date_time(when);
  std::tm local{};
  localtime_r(&when, &local);
  if (time_format != "relative") return strftime_of(local, std::string(time_format).c_str());
  std::tm today{};
  localtime_r(&now, &today);
  return relative_to(local, today);
}

} // namespace shim::slurm
