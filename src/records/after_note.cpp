#include "slurm_shim/records/after_note.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/posix/files.h"

#include <string>

#include <unistd.h>

namespace shim::records {

namespace {

std::string after_note_path(const StatePaths& state, std::int64_t job) {
  return state.jobs_dir() + "/" + std::to_string(job) + ".after";
}

} // namespace

// v1 <job> <minutes>
Result<void> note_after(const StatePaths& state, std::int64_t predecessor, const AfterNote& note) {
  return posix::append_line(after_note_path(state, predecessor),
                            "v1 " + std::to_string(note.job) + " " + std::to_string(note.minutes) +
                                "\n");
}

std::vector<AfterNote> parse_after_notes(std::string_view text) {
  std::vector<AfterNote> notes;
  for (const auto line : split(text, '\n')) {
    const auto words = split_words(line);
    if (words.size() != 3 || words[0] != "v1") continue;
    const auto job = parse_int<std::int64_t>(words[1]);
    const auto minutes = parse_int<std::int64_t>(words[2]);
    if (job && *job > 0 && minutes && *minutes >= 0) notes.push_back({*job, *minutes});
  }
  return notes;
}

std::vector<AfterNote> take_after_notes(const StatePaths& state, std::int64_t predecessor) {
  const auto path = after_note_path(state, predecessor);
  const auto text = posix::read_trusted(path);
  if (!text) return {};
  ::unlink(path.c_str());
  return parse_after_notes(*text);
}

} // namespace shim::records
