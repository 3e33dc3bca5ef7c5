#include "input_plan.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

namespace shim::commands::srun {

namespace {

tl::unexpected<Error> cannot_open(const std::string& reason) {
  return fail(ErrorKind::io, "Could not open stdin file" + reason.substr(reason.rfind(": ")));
}

} // namespace

bool InputPlan::is_streamed() const {
  return std::find(streams_to.begin(), streams_to.end(), true) != streams_to.end();
}

std::optional<int> InputPlan::only_rank() const {
  const auto count = std::count(streams_to.begin(), streams_to.end(), true);
  if (count != 1 || streams_to.size() == 1) return std::nullopt;
  return static_cast<int>(std::find(streams_to.begin(), streams_to.end(), true) -
                          streams_to.begin());
}

bool is_stdin_read(std::string_view word) {
  return word.empty() || equals_ignore_case(word, "all") || is_digits(word);
}

InputPlan plan_input(const InputRequest& request,
                     const mux::PatternFields& step,
                     const std::vector<RankPlace>& ranks) {
  const auto& word = request.word;
  InputPlan plan;
  plan.streams_to.assign(ranks.size(), false);
  plan.files.resize(ranks.size());
  if (is_nowhere(word)) return plan;
  const auto task = is_digits(word) ? parse_int<std::size_t>(word) : std::nullopt;
  if (task && *task < ranks.size()) {
    plan.streams_to[*task] = true;
  } else if (mux::is_tasks_own_pattern(word)) {
    for (const auto& place : ranks) {
      auto fields = step;
      fields.rank = place.rank;
      fields.node_id = place.node_id;
      fields.node_name = place.node_name;
      plan.files[static_cast<std::size_t>(place.rank)] =
          posix::absolute(mux::expand_pattern(word, fields), request.chdir);
    }
  } else {
    plan.streams_to.assign(ranks.size(), true);
    if (!word.empty() && word != "all")
      plan.path = posix::absolute(mux::expand_pattern(word, step), request.cwd);
  }
  return plan;
}

Result<posix::Fd> open_input(const std::string& path) {
  auto file = posix::open_file(path, O_RDONLY | O_NOCTTY);
  if (!file) return cannot_open(file.error().message);
  struct stat status {};
  if (::fstat(file->get(), &status) == 0 && S_ISDIR(status.st_mode))
    return cannot_open(fail_errno(path, EISDIR).value().message);
  return file;
}

} // namespace shim::commands::srun
