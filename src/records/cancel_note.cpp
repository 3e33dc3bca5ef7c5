#include "slurm_shim/records/cancel_note.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <algorithm>

namespace shim::records {

namespace {

std::string cancel_note_path(const StatePaths& state, std::int64_t job) {
  return state.jobs_dir() + "/" + std::to_string(job) + ".cancel";
}

} // namespace

bool CancelNote::covers(std::uint32_t task) const {
  return tasks.empty() || std::ranges::find(tasks, task) != tasks.end();
}

// v1 <seconds> <user> <tasks or ->
void note_cancel(const StatePaths& state, std::int64_t job, const CancelNote& note) {
  std::string list;
  for (const auto task : note.tasks)
    list += (list.empty() ? "" : ",") + std::to_string(task);
  const auto line = "v1 " + std::to_string(note.t) + " " + percent_encode(note.user, "._-") + " " +
                    (list.empty() ? "-" : list) + "\n";
  static_cast<void>(posix::append_line(cancel_note_path(state, job), line));
}

std::vector<CancelNote> parse_cancel_notes(std::string_view text) {
  std::vector<CancelNote> notes;
  for (const auto line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() != 4 || words[0] != "v1") continue;
    const auto t = parse_int<std::int64_t>(words[1]);
    const auto user = percent_decode(words[2]);
    CancelNote note;
    bool good = t && user;
    if (words[3] != "-")
      for (const auto word : split(words[3], ',')) {
        const auto task = parse_int<std::uint32_t>(word);
        good = good && task;
        if (task) note.tasks.push_back(*task);
      }
    if (!good) continue;
    note.t = *t;
    note.user = *user;
    notes.push_back(std::move(note));
  }
  return notes;
}

std::vector<CancelNote> read_cancel_notes(const StatePaths& state, std::int64_t job) {
  const auto text = posix::read_trusted(cancel_note_path(state, job));
  return text ? parse_cancel_notes(*text) : std::vector<CancelNote>{};
}

} // namespace shim::records
