#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/jobs.h"

#include <algorithm>
#include <span>

namespace shim::ge {

namespace {

constexpr std::size_t k_batch = 500; // ids in one call

// The first line a failed tool said, on either stream.
std::string first_words(const posix::Output& output) {
  for (const auto* text : {&output.err, &output.out})
    if (const auto line = trim(split(trim(*text), '\n').front()); !line.empty())
      return std::string(line);
  return "exit status " + std::to_string(output.status);
}

bool tells_unknown(const posix::Output& output) {
  return output.out.find("<unknown_jobs") != std::string::npos;
}

Result<std::string> ask(const Tools& tools, std::vector<std::string> args) {
  TRY_ASSIGN(auto output, tools.run({.tool = "qstat", .args = std::move(args)}));
  if (output.status != 0 && !tells_unknown(output))
    return fail(ErrorKind::unavailable, "qstat: " + first_words(output));
  return std::move(output.out);
}

// One batch, asked again without the unknown ones when an answer speaks of these alone.
Result<void> describe(const Tools& tools, std::vector<std::uint64_t> batch, JobFactsList& details) {
  while (!batch.empty()) {
    std::vector<std::string> words;
    words.reserve(batch.size());
    for (const auto id : batch)
      words.push_back(std::to_string(id));
    TRY_ASSIGN(const auto text, ask(tools, {"-xml", "-j", join(words, ",")}));
    TRY_ASSIGN(auto answer, parse_job_facts(text));
    const auto before = batch.size();
    std::erase_if(batch, [&](std::uint64_t id) {
      return std::ranges::count(answer.unknown, id) != 0 || answer.find(id) != nullptr;
    });
    const bool done = !answer.jobs.empty() || batch.size() == before;
    for (auto& job : answer.jobs)
      details.jobs.push_back(std::move(job));
    details.unknown.insert(details.unknown.end(), answer.unknown.begin(), answer.unknown.end());
    if (!done) continue;
    details.unknown.insert(details.unknown.end(), batch.begin(), batch.end());
    break;
  }
  return {};
}

} // namespace

Result<std::vector<JobRow>>
list_jobs(const Tools& tools, const std::vector<std::string>& users, TaskView view) {
  std::vector<std::string> args{"-xml", "-r"};
  if (view != TaskView::jobs) {
    args.emplace_back("-g");
    args.emplace_back(view == TaskView::tasks ? "d" : "t");
  }
  // Only what runs (or is suspended) has hosts.
  if (view == TaskView::hosts) args.insert(args.end(), {"-s", "rs"});
  args.emplace_back("-u");
  args.push_back(users.empty() ? "*" : join(users, ","));
  TRY_ASSIGN(const auto text, ask(tools, std::move(args)));
  return parse_job_list(text);
}

Result<std::set<std::int64_t>> numbers_of_jobs(const Tools& tools, const std::string& user) {
  TRY_ASSIGN(const auto rows, list_jobs(tools, {user}, TaskView::jobs));
  std::set<std::int64_t> numbers;
  for (const auto& row : rows)
    numbers.insert(static_cast<std::int64_t>(row.job));
  return numbers;
}

Result<JobFactsList> describe_jobs(const Tools& tools, const std::vector<std::uint64_t>& jobs) {
  JobFactsList details;
  for (std::size_t at = 0; at < jobs.size(); at += k_batch) {
    const std::span all(jobs);
    const auto part = all.subspan(at, std::min(k_batch, jobs.size() - at));
    TRY(describe(tools, {part.begin(), part.end()}, details));
  }
  return details;
}

} // namespace shim::ge
