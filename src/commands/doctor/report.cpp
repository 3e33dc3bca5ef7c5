#include "report.h"

#include "slurm_shim/slurm/date_time.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace shim::commands::doctor {

namespace {

std::string_view mark_of(Status status) {
  switch (status) {
  case Status::pass: return "[ ok ]";
  case Status::info: return "[info]";
  case Status::skip: return "[skip]";
  case Status::warn: return "[warn]";
  case Status::fail: return "[FAIL]";
  }
  return "";
}

std::size_t count(const std::vector<Line>& lines, Status status) {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const Line& line) { return line.finding.status == status; }));
}

std::string with_noun(std::size_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

} // namespace

std::string report_text(const Heading& heading, const std::vector<Line>& lines, bool quiet) {
  std::string out;
  if (!quiet)
    out += fmt::format("slurm-shim {} doctor, {}\n"
                       "  engine      {}\n"
                       "  host        {}, as {}\n"
                       "  config      {}\n\n",
                       heading.shim,
                       slurm::format_date_time(static_cast<std::time_t>(heading.time)),
                       heading.engine.empty() ? "unknown" : heading.engine,
                       heading.host,
                       heading.user,
                       heading.config.empty() ? "built-in defaults" : heading.config);
  for (const auto& line : lines) {
    const bool is_bad = line.finding.status == Status::warn || line.finding.status == Status::fail;
    if (quiet && !is_bad) continue;
    out += fmt::format("{} {} {:<18} {}\n",
                       mark_of(line.finding.status),
                       line.check->id,
                       line.check->name,
                       line.finding.message);
    for (const auto& advice : line.finding.advice)
      out += "       -> " + advice + "\n";
  }
  return out + fmt::format("{}{} ok, {}, {}, {} skipped\n",
                           quiet ? "" : "\n",
                           count(lines, Status::pass) + count(lines, Status::info),
                           with_noun(count(lines, Status::warn), "warning", "warnings"),
                           with_noun(count(lines, Status::fail), "failure", "failures"),
                           count(lines, Status::skip));
}

std::string report_json(const Heading& heading, const std::vector<Line>& lines) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["schema"] = 1;
  json["shim"] = heading.shim;
  json["engine"] = heading.engine;
  json["host"] = heading.host;
  json["user"] = heading.user;
  json["time"] = slurm::format_date_time(static_cast<std::time_t>(heading.time));
  json["config"] = heading.config;
  json["checks"] = Json::array();
  for (const auto& line : lines) {
    Json item;
    item["id"] = line.check->id;
    item["name"] = line.check->name;
    item["status"] = status_name(line.finding.status);
    item["message"] = line.finding.message;
    item["advice"] = line.finding.advice;
    item["evidence"] = Json::array();
    for (const auto& evidence : line.evidence)
      item["evidence"].push_back(
          {{"cmd", evidence.command}, {"rc", evidence.status}, {"out", evidence.output}});
    json["checks"].push_back(std::move(item));
  }
  for (const auto status : {Status::pass, Status::info, Status::warn, Status::fail, Status::skip})
    json["summary"][std::string(status_name(status))] = count(lines, status);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int exit_code_of(const std::vector<Line>& lines, bool strict) {
  return count(lines, Status::fail) + (strict ? count(lines, Status::warn) : 0) > 0 ? 1 : 0;
}

} // namespace shim::commands::doctor
