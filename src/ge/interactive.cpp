#include "slurm_shim/ge/interactive.h"

#include "args.h"

#include "slurm_shim/base/strings.h"

#include <algorithm>

namespace shim::ge {

namespace {

constexpr std::string_view k_job_line = "Your job ";

// Your job 12 ("name") has been submitted
std::optional<std::int64_t> job_number(std::string_view line) {
  if (!line.starts_with(k_job_line)) return std::nullopt;
  line.remove_prefix(k_job_line.size());
  return parse_int<std::int64_t>(line.substr(0, line.find(' ')));
}

} // namespace

std::vector<std::string> build_interactive_args(const QsubRequest& job,
                                                const InteractiveRequest& request) {
  Args args;
  args.option("-now", request.at_once ? "y" : "n");
  args.add("-verbose"); // the only source of the job's number
  args.add("-noshell"); // else a shell splits the command's words again
  if (request.stdin_closed) args.add("-nostdin");
  // 8.1.9 kills the start procedure of the PE in a job with the engine's terminal.
  args.option("-pty", "n");
  add_verify(job, args);
  add_placement(job, args);
  args.option("-N", job.name);
  args.option("-wd", job.directory);
  if (job.whole_environment) args.add("-V");
  args.list("-v", job.variables);
  if (job.reserve) args.option("-R", "y");
  if (job.hold) args.add("-h");
  add_accounts(job, args);
  add_needs(job, args);
  add_scopes(job, args);
  args.append(job.extra);
  args.append(request.command);
  return std::move(args).take();
}

std::vector<std::string> unknown_to_qrsh(const QsubRequest& job) {
  std::vector<std::string> names;
  if (!job.begin.empty()) names.emplace_back("begin");
  if (!job.tasks.empty()) names.emplace_back("array");
  return names;
}

void QrshTalk::take_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (const auto number = job_number(line)) {
    m_job = number;
  } else if (line.starts_with("waiting for interactive job")) {
    // Said of every job.
  } else if (line.starts_with("Your interactive job ") &&
             line.find("successfully scheduled") != std::string_view::npos) {
    m_is_scheduled = true;
  } else if (line.starts_with("Establishing ") &&
             line.find(" session to host ") != std::string_view::npos) {
    m_is_scheduled = m_is_started = true;
  } else {
    m_complaints += std::string(line) + "\n";
  }
}

std::string QrshTalk::feed(Stream stream, std::string_view bytes) {
  if (stream == Stream::out) {
    if (m_out_is_open) return std::string(bytes);
    m_out += bytes;
    const auto begin = std::string_view(m_out).substr(0, k_job_line.size());
    const auto end = m_out.find('\n');
    if (k_job_line.starts_with(begin) && end == std::string::npos) return {}; // not yet clear
    m_out_is_open = true;
    auto rest = std::exchange(m_out, {});
    if (!rest.starts_with(k_job_line)) return rest;
    take_line(std::string_view(rest).substr(0, end));
    return rest.substr(end + 1);
  }
  if (m_is_started) return std::string(bytes);
  m_err += bytes;
  for (auto end = m_err.find('\n'); end != std::string::npos; end = m_err.find('\n')) {
    take_line(std::string_view(m_err).substr(0, end));
    m_err.erase(0, end + 1);
    if (m_is_started) return std::exchange(m_err, {});
  }
  return {};
}

std::string QrshTalk::finish(Stream stream) {
  if (stream == Stream::out) return std::exchange(m_out, {});
  if (!m_is_started && !m_err.empty()) take_line(std::exchange(m_err, {}));
  return {};
}

} // namespace shim::ge
