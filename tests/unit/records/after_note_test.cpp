#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/after_note.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace shim::records {
namespace {

TEST(AfterNote, is_taken_once_by_the_job_it_is_for) {
  const test::TempDir folder;
  const StatePaths state(folder / "state");
  ASSERT_TRUE(make_state_folders(state));
  ASSERT_TRUE(note_after(state, 7, {8, 0}));
  ASSERT_TRUE(note_after(state, 7, {9, 5}));
  EXPECT_TRUE(take_after_notes(state, 6).empty());
  EXPECT_EQ(take_after_notes(state, 7), (std::vector<AfterNote>{{8, 0}, {9, 5}}));
  EXPECT_TRUE(take_after_notes(state, 7).empty());
}

TEST(AfterNote, lines_that_do_not_parse_are_left_out) {
  EXPECT_EQ(parse_after_notes("v1 8 0\nv2 9 0\nv1 x 0\nv1 9 -1\nv1 -4 1\nv1 9\nv1 10 2"),
            (std::vector<AfterNote>{{8, 0}, {10, 2}}));
}

} // namespace
} // namespace shim::records
