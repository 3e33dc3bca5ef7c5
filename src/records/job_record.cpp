#include "slurm_shim/records/job_record.h"

#include "json_fields.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>

namespace shim::records {

namespace {

constexpr std::size_t k_max_line = 4000; // one write, whole on local and network file systems
constexpr std::int64_t k_believe_within_s = 300;

Json head(std::int64_t t_ms, std::string_view tok, int run, std::string_view event) {
  return Json{{"v", 1},
              {"tok", std::string(tok)},
              {"t", static_cast<double>(t_ms) / 1000.0},
              {"run", run},
              {"ev", std::string(event)}};
}

// Cuts the longest text until the line fits.
std::string fit_line(Json& event) {
  for (;;) {
    std::string line = dump(event);
    line += '\n';
    if (line.size() <= k_max_line) return line;
    Json* longest = nullptr;
    for (auto& value : event)
      if (value.is_string() && (longest == nullptr || value.get_ref<std::string&>().size() >
                                                          longest->get_ref<std::string&>().size()))
        longest = &value;
    auto& text = longest->get_ref<std::string&>();
    // A byte may take six in JSON, so cut no more than is surely too much, but get on.
    const std::size_t excess = line.size() - k_max_line;
    text.resize(text.size() - std::min(text.size(), std::max<std::size_t>(excess / 6, 64)));
  }
}

Result<void> append(const std::string& path, Json event) {
  return posix::append_line(path, fit_line(event));
}

} // namespace

JobRecordWriter::JobRecordWriter(const BatchJob& job) : m_tok(job.tok), m_run(job.restart) {
  if (job.records) m_path = StatePaths(job.dir).job_record(job.key());
}

Result<void> JobRecordWriter::start(const StartEvent& event) const {
  if (m_path.empty()) return {};
  auto out = head(event.t_ms, m_tok, m_run, "start");
  out["job"] = event.job;
  out["task"] = event.task ? Json(*event.task) : Json();
  out["slurm_id"] = event.slurm_id;
  out["host"] = event.host;
  out["hosts"] = event.hosts;
  out["nodes"] = event.nodes;
  out["ntasks"] = event.ntasks;
  out["cpus"] = event.cpus;
  out["pid"] = event.pid;
  out["out"] = event.out;
  out["err"] = event.err;
  return append(m_path, std::move(out));
}

Result<void> JobRecordWriter::step_start(const StepStartEvent& event) const {
  if (m_path.empty()) return {};
  auto out = head(event.t_ms, m_tok, m_run, "step_start");
  out["step"] = event.step;
  out["name"] = event.name;
  out["cmd"] = event.cmd;
  out["hosts"] = event.hosts;
  out["nodes"] = event.nodes;
  out["ntasks"] = event.ntasks;
  out["cpus"] = event.cpus;
  return append(m_path, std::move(out));
}

Result<void> JobRecordWriter::step_end(const StepEndEvent& event) const {
  if (m_path.empty()) return {};
  auto out = head(event.t_ms, m_tok, m_run, "step_end");
  out["step"] = event.step;
  out["code"] = event.code;
  out["sig"] = event.sig;
  out["max_code"] = event.max_code;
  out["reason"] = event.reason;
  return append(m_path, std::move(out));
}

Result<void> JobRecordWriter::request(const RequestEvent& event) const {
  if (m_path.empty()) return {};
  auto out = head(event.t_ms, m_tok, m_run, "req");
  out["id"] = event.id;
  out["verb"] = event.verb;
  out["rc"] = event.rc;
  out["text"] = event.text;
  return append(m_path, std::move(out));
}

Result<void> JobRecordWriter::ending(const EndingEvent& event) const {
  if (m_path.empty()) return {};
  auto out = head(event.t_ms, m_tok, m_run, "ending");
  out["sig"] = event.sig;
  out["reason"] = event.reason;
  return append(m_path, std::move(out));
}

Result<void> JobRecordWriter::end(const EndEvent& event) const {
  if (m_path.empty()) return {};
  auto out = head(event.t_ms, m_tok, m_run, "end");
  out["code"] = event.code;
  out["sig"] = event.sig;
  out["reason"] = event.reason;
  return append(m_path, std::move(out));
}

namespace {

struct Line {
  Json object;
  std::string tok, event;
  std::int64_t t_ms = 0;
  int run = 0;
};

// Whole lines only: a piece without LF is still being written.
std::vector<Line> parse_lines(std::string_view text) {
  std::vector<Line> lines;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    auto object = parse_versioned(text.substr(0, end), "");
    text.remove_prefix(end + 1);
    if (!object) continue;
    Line line;
    Fields fields(*object, "");
    for (const auto* key : {"tok", "t", "ev"})
      fields.require(key);
    fields.read("tok", line.tok);
    fields.read("ev", line.event);
    fields.read_ms("t", line.t_ms);
    fields.read("run", line.run);
    if (!fields.finish()) continue;
    line.object = std::move(*object);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::optional<StartEvent> to_start(const Line& line) {
  StartEvent event;
  Fields fields(line.object, "");
  event.t_ms = line.t_ms;
  fields.read("job", event.job);
  fields.read("task", event.task);
  fields.read("slurm_id", event.slurm_id);
  fields.read("host", event.host);
  fields.read("hosts", event.hosts);
  fields.read("nodes", event.nodes);
  fields.read("ntasks", event.ntasks);
  fields.read("cpus", event.cpus);
  fields.read("pid", event.pid);
  fields.read("out", event.out);
  fields.read("err", event.err);
  if (!fields.finish()) return std::nullopt;
  return event;
}

std::optional<StepStartEvent> to_step_start(const Line& line) {
  StepStartEvent event;
  Fields fields(line.object, "");
  event.t_ms = line.t_ms;
  fields.require("step");
  fields.read("step", event.step);
  fields.read("name", event.name);
  fields.read("cmd", event.cmd);
  fields.read("hosts", event.hosts);
  fields.read("nodes", event.nodes);
  fields.read("ntasks", event.ntasks);
  fields.read("cpus", event.cpus);
  if (!fields.finish()) return std::nullopt;
  return event;
}

std::optional<StepEndEvent> to_step_end(const Line& line) {
  StepEndEvent event;
  Fields fields(line.object, "");
  event.t_ms = line.t_ms;
  fields.require("step");
  fields.read("step", event.step);
  fields.read("code", event.code);
  fields.read("sig", event.sig);
  fields.read("max_code", event.max_code);
  fields.read("reason", event.reason);
  if (!fields.finish()) return std::nullopt;
  return event;
}

std::optional<RequestEvent> to_request(const Line& line) {
  RequestEvent event;
  Fields fields(line.object, "");
  event.t_ms = line.t_ms;
  fields.require("id");
  fields.read("id", event.id);
  fields.read("verb", event.verb);
  fields.read("rc", event.rc);
  fields.read("text", event.text);
  if (!fields.finish()) return std::nullopt;
  return event;
}

std::optional<EndingEvent> to_ending(const Line& line) {
  EndingEvent event;
  Fields fields(line.object, "");
  event.t_ms = line.t_ms;
  fields.read("sig", event.sig);
  fields.read("reason", event.reason);
  if (!fields.finish()) return std::nullopt;
  return event;
}

std::optional<EndEvent> to_end(const Line& line) {
  EndEvent event;
  Fields fields(line.object, "");
  event.t_ms = line.t_ms;
  fields.read("code", event.code);
  fields.read("sig", event.sig);
  fields.read("reason", event.reason);
  if (!fields.finish()) return std::nullopt;
  return event;
}

void add_line(JobRecord& record, const Line& line) {
  if (line.event == "start") {
    if (auto event = to_start(line)) record.start = std::move(*event);
  } else if (line.event == "step_start") {
    if (auto event = to_step_start(line))
      record.steps.push_back(StepRecord{std::move(*event), std::nullopt});
  } else if (line.event == "step_end") {
    auto event = to_step_end(line);
    if (!event) return;
    const auto step = std::find_if(record.steps.begin(), record.steps.end(), [&](const auto& s) {
      return s.start.step == event->step;
    });
    if (step != record.steps.end()) step->end = std::move(*event);
  } else if (line.event == "req") {
    if (auto event = to_request(line)) record.requests.push_back(std::move(*event));
  } else if (line.event == "ending") {
    if (auto event = to_ending(line)) record.ending = std::move(*event);
  } else if (line.event == "end") {
    if (auto event = to_end(line)) record.end = std::move(*event);
  }
}

} // namespace

std::optional<JobRecord> parse_job_record(std::string_view text,
                                          std::optional<std::int64_t> engine_start_s) {
  const auto lines = parse_lines(text);
  const auto last = std::find_if(lines.rbegin(), lines.rend(), [](const Line& line) {
    return line.event == "start" && to_start(line);
  });
  if (last == lines.rend()) return std::nullopt;
  if (engine_start_s && std::llabs(last->t_ms - *engine_start_s * 1000) > k_believe_within_s * 1000)
    return std::nullopt;
  JobRecord record;
  record.tok = last->tok;
  for (const auto& line : lines)
    if (line.tok == record.tok && line.event == "start")
      record.run = std::max(record.run, line.run);
  for (const auto& line : lines)
    if (line.tok == record.tok && line.run == record.run) add_line(record, line);
  return record;
}

Result<JobRecord> read_job_record(const StatePaths& state,
                                  const JobKey& key,
                                  std::optional<std::int64_t> engine_start_s) {
  const auto path = state.job_record(key);
  TRY_ASSIGN(const auto text, posix::read_trusted(path));
  auto record = parse_job_record(text, engine_start_s);
  if (!record) return fail(ErrorKind::not_found, path + ": nothing about this job");
  return std::move(*record);
}

int count_starts(const StatePaths& state, const JobKey& key, std::string_view tok) {
  const auto text = posix::read_trusted(state.job_record(key));
  if (!text) return 0;
  const auto lines = parse_lines(*text);
  return static_cast<int>(std::count_if(lines.begin(), lines.end(), [&](const Line& line) {
    return line.event == "start" && line.tok == tok;
  }));
}

std::optional<RequestEvent> find_answer(std::string_view text, std::string_view id) {
  for (const auto& line : parse_lines(text))
    if (line.event == "req")
      if (auto event = to_request(line); event && event->id == id) return event;
  return std::nullopt;
}

} // namespace shim::records
