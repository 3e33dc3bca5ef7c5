#include "slurm_shim/ge/holds.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/date_time.h"
#include "slurm_shim/ge/jobs.h"

#include <algorithm>

namespace shim::ge {

namespace {

constexpr std::string_view k_no_job = "9999999"; // the engine begins anew before it gets there

Result<void> release(const Tools& tools,
                     const JobFacts& facts,
                     std::uint64_t predecessor,
                     std::int64_t not_before) {
  std::vector<std::string> args{"-hold_jid", remaining_holds(facts.predecessors, predecessor)};
  if (not_before > facts.begin) {
    args.emplace_back("-a");
    args.push_back(date_time_argument(not_before));
  }
  args.push_back(std::to_string(facts.job));
  TRY_ASSIGN(const auto output, tools.run({.tool = "qalter", .args = args}));
  if (output.status == 0) return {};
  const auto said = split_words(output.out + " " + output.err);
  return fail(ErrorKind::refused, "qalter: " + join(said, " "));
}

} // namespace

std::string remaining_holds(const std::vector<std::uint64_t>& holds, std::uint64_t without) {
  std::vector<std::string> left;
  for (const auto job : holds)
    if (job != without) left.push_back(std::to_string(job));
  return left.empty() ? std::string(k_no_job) : join(left, ",");
}

Result<void>
release_from(const Tools& tools, const std::vector<WaitingJob>& jobs, std::uint64_t predecessor) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(jobs.size());
  for (const auto& waiting : jobs)
    numbers.push_back(waiting.job);
  TRY_ASSIGN(const auto known, describe_jobs(tools, numbers));
  Result<void> first;
  for (const auto& waiting : jobs) {
    const auto* facts = known.find(waiting.job);
    if (facts == nullptr || std::ranges::count(facts->predecessors, predecessor) == 0) continue;
    if (auto done = release(tools, *facts, predecessor, waiting.not_before); !done && first)
      first = std::move(done);
  }
  return first;
}

} // namespace shim::ge
