#include "slurm_shim/history/history.h"
#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/cancel_note.h"
#include "slurm_shim/records/submit_file.h"

#include <gtest/gtest.h>

#include "support/fake_engine.h"

namespace shim::history {
namespace {

using slurm::JobState;

constexpr std::int64_t k_now = 1'800'000'000;

std::string record_text(std::string_view list) {
  return "v1;tok=00000000000000aa;dir=/s;name=mine;out=o;in=i;openmode=t;part=batch" +
         std::string(list);
}

class Load : public testing::Test {
protected:
  Load() {
    m_env.set("SGE_ROOT", m_folder.path());
    EXPECT_TRUE(posix::make_directories(m_folder / "default/common"));
    EXPECT_TRUE(records::make_state_folders(m_state));
    queue_is("", "");
  }
  void queue_is(const std::string& running, const std::string& pending) {
    m_engine.answer("qstat -xml",
                    {0,
                     "<?xml version='1.0'?>\n<job_info><queue_info>" + running +
                         "</queue_info><job_info>" + pending + "</job_info></job_info>",
                     ""});
    m_engine.answer(
        "qstat -xml -j",
        {0,
         "<?xml version='1.0'?>\n<detailed_job_info><djob_info></djob_info></detailed_job_info>",
         ""});
  }
  static std::string
  row(std::uint64_t job, const std::string& state, bool pending, const std::string& tasks = "") {
    return std::string("<job_list state=\"") + (pending ? "pending" : "running") +
           "\"><JB_job_number>" + std::to_string(job) +
           "</JB_job_number><JB_name>n</JB_name><JB_owner>alice</JB_owner><state>" + state +
           "</state>" +
           (pending ? ""
                    : "<JAT_start_time>2027-01-15T07:59:00</JAT_start_time><queue_name>batch.q@n1</"
                      "queue_name>") +
           "<slots>1</slots>" + (tasks.empty() ? "" : "<tasks>" + tasks + "</tasks>") +
           "</job_list>";
  }
  void accounting_is(const std::string& text) {
    ASSERT_TRUE(posix::write_file_atomic(m_folder / "default/common/accounting", text, 0644));
  }
  static std::string raw(std::uint64_t job, int task, std::int64_t end, int failed, int status) {
    return "batch.q:n1:users:alice:n:" + std::to_string(job) +
           ":sge:0:" + std::to_string(end - 100) + ":" + std::to_string(end - 60) + ":" +
           std::to_string(end) + ":" + std::to_string(failed) + ":" + std::to_string(status) +
           ":60:0.5:0.25:4040.0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:NONE:d:NONE:1:" + std::to_string(task) +
           ":0.75:0:0:NONE:0:NONE:100:0:0\n";
  }
  void submitted(std::int64_t job, std::int64_t when, const std::string& more = "") {
    records::SubmitFile file;
    file.tok = "00000000000000aa";
    file.job = job;
    file.sub = when;
    file.req = record_text(more);
    ASSERT_TRUE(records::write_submit_file(m_state, file));
  }
  Result<History> load(const std::string& ids, bool earlier = false) {
    Request request;
    if (!ids.empty()) request.jobs.push_back(*slurm::parse_job_id(ids));
    request.caller = "alice";
    request.earlier_runs = earlier;
    return history::load({m_tools, m_config, m_state, k_now}, request);
  }
  EnvList m_env = EnvList::from_envp(environ);
  test::FakeEngine m_engine{m_env};
  test::TempDir m_folder;
  records::StatePaths m_state{m_folder / "state"};
  config::Config m_config;
  ge::Tools m_tools{m_engine, m_env, std::chrono::seconds(5)};
};

TEST_F(Load, an_ended_job_is_accountings) {
  accounting_is(raw(7, 0, k_now - 1000, 0, 3));
  const auto history = load("7");
  ASSERT_TRUE(history) << history.error().message;
  ASSERT_EQ(history->entries.size(), 1U);
  EXPECT_EQ(history->entries[0].ending.state, JobState::failed);
  EXPECT_EQ(history->entries[0].elapsed(k_now), 60);
  EXPECT_FALSE(history->entries[0].live);
}

TEST_F(Load, a_directory_that_was_missing_at_submission_is_the_one_asked_for) {
  accounting_is(raw(7, 0, k_now - 1000, 0, 0));
  submitted(7, k_now - 1100, ";sdir=/home/alice;wd=/not/there/yet");
  const auto history = load("7");
  ASSERT_TRUE(history);
  ASSERT_EQ(history->entries.size(), 1U);
  EXPECT_EQ(history->entries[0].work_dir, "/not/there/yet");
}

TEST_F(Load, a_job_that_was_requeued_is_live_and_its_first_run_a_duplicate) {
  accounting_is(raw(7, 0, k_now - 1000, 25, 99));
  queue_is(row(7, "r", false), "");
  const auto now = load("7");
  ASSERT_TRUE(now);
  ASSERT_EQ(now->entries.size(), 1U);
  EXPECT_EQ(now->entries[0].ending.state, JobState::running);
  const auto all = load("7", true);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->entries.size(), 2U);
  EXPECT_TRUE(all->entries[0].earlier);
  EXPECT_EQ(all->entries[0].ending.state, JobState::requeued);
}

// vectors/13 life.requeuehold
TEST_F(Load, a_job_cancelled_while_it_waited_for_another_run) {
  accounting_is(raw(7, 0, k_now - 50, 25, 99));
  submitted(7, k_now - 150);
  const auto back = load("7");
  ASSERT_TRUE(back);
  ASSERT_EQ(back->entries.size(), 1U);
  EXPECT_EQ(back->entries[0].ending.state, JobState::requeued);
  EXPECT_TRUE(back->entries[0].live);
  records::note_cancel(m_state, 7, {k_now - 60, "carol", {}}); // of an earlier run
  EXPECT_TRUE(load("7")->entries[0].live);
  records::note_cancel(m_state, 7, {k_now - 5, "bob", {}});
  const auto gone = load("7");
  ASSERT_TRUE(gone);
  ASSERT_EQ(gone->entries.size(), 1U);
  EXPECT_EQ(gone->entries[0].ending.state, JobState::cancelled);
  EXPECT_EQ(gone->entries[0].ending.cancelled_by, "bob");
  EXPECT_EQ(gone->entries[0].end, k_now - 5);
  EXPECT_EQ(gone->entries[0].start, 0);
  EXPECT_EQ(gone->entries[0].restarts, 1);
  EXPECT_FALSE(gone->entries[0].live);
}

TEST_F(Load, a_requeued_job_that_is_nowhere_for_long_was_deleted) {
  accounting_is(raw(7, 0, k_now - 1000, 25, 99));
  submitted(7, k_now - 1100);
  const auto gone = load("7");
  ASSERT_TRUE(gone);
  ASSERT_EQ(gone->entries.size(), 1U);
  EXPECT_EQ(gone->entries[0].ending.state, JobState::cancelled);
  EXPECT_FALSE(gone->entries[0].live);
}

TEST_F(Load, of_a_dependency_only_what_ended_the_job_is_left) {
  const auto ended = [&](const std::string& reason) {
    accounting_is(raw(7, 0, k_now - 1000, 0, reason == "exit" ? 0 : 1));
    submitted(7, k_now - 1100, ";dep=afterok%3A5%2Cafterany%3A6");
    EXPECT_TRUE(posix::write_file_atomic(
        m_state.job_record({7, std::nullopt}),
        R"({"v":1,"tok":"00000000000000aa","run":0,"t":1799998940,"ev":"start","job":7,"host":"n1"})"
        "\n"
        R"({"v":1,"tok":"00000000000000aa","run":0,"t":1799999000,"ev":"end","code":0,"sig":0,"reason":")" +
            reason + "\"}\n"));
    const auto history = load("7");
    EXPECT_TRUE(history && history->entries.size() == 1);
    return history ? as_job(history->entries.front()).dependency : "?";
  };
  EXPECT_EQ(ended("exit"), "");
  EXPECT_EQ(ended("dependency"), "afterok:5(failed)");
}

TEST_F(Load, between_queue_and_accounting_a_job_has_not_ended) {
  accounting_is("");
  submitted(7, k_now - 10);
  const auto gap = load("7");
  ASSERT_TRUE(gap);
  ASSERT_EQ(gap->entries.size(), 1U);
  EXPECT_EQ(gap->entries[0].ending.state, JobState::completing);
  EXPECT_TRUE(gap->entries[0].live);
  accounting_is(raw(7, 0, k_now, 0, 0));
  submitted(7, k_now - 100);
  const auto later = load("7");
  ASSERT_TRUE(later);
  EXPECT_EQ(later->entries[0].ending.state, JobState::completed);
}

TEST_F(Load, the_gap_shows_what_the_supervisor_wrote) {
  accounting_is("");
  submitted(7, k_now - 1000);
  const std::string base = R"({"v":1,"tok":"00000000000000aa","run":0,"t":1799999100,)";
  const auto write = [&](const std::string& text) {
    ASSERT_TRUE(posix::write_file_atomic(m_state.job_record({7, std::nullopt}), text));
  };
  write(base + R"("ev":"start","job":7,"host":"n1","hosts":"n1","nodes":1,"cpus":1})" + "\n");
  auto history = load("7");
  ASSERT_TRUE(history);
  EXPECT_EQ(history->entries[0].ending.state, JobState::completing);
  write(base + R"("ev":"start","job":7,"host":"n1","hosts":"n1","nodes":1,"cpus":1})" + "\n" +
        base + R"("ev":"end","code":4,"sig":0,"reason":"exit"})" + "\n");
  history = load("7");
  ASSERT_TRUE(history);
  EXPECT_EQ(history->entries[0].ending.state, JobState::failed);
  EXPECT_EQ(history->entries[0].ending.exit, (ExitCode{4, 0}));
}

TEST_F(Load, a_job_cancelled_while_it_waited_is_known_by_the_note) {
  accounting_is("");
  submitted(7, k_now - 10);
  records::note_cancel(m_state, 7, {k_now - 5, "bob", {}});
  const auto history = load("7");
  ASSERT_TRUE(history);
  ASSERT_EQ(history->entries.size(), 1U);
  EXPECT_EQ(history->entries[0].ending.state, JobState::cancelled);
  EXPECT_EQ(history->entries[0].ending.cancelled_by, "bob");
  EXPECT_EQ(history->entries[0].end, k_now - 5);
}

TEST_F(Load, elements_of_an_array_come_from_three_sources) {
  submitted(7, k_now - 1000, ";array=0-4");
  accounting_is(raw(7, 1, k_now - 900, 0, 0) + raw(7, 2, k_now - 890, 0, 2));
  queue_is(row(7, "r", false, "3"), "");
  records::note_cancel(m_state, 7, {k_now - 5, "alice", {4, 5}});
  const auto history = load("7");
  ASSERT_TRUE(history);
  ASSERT_EQ(history->entries.size(), 4U);
  EXPECT_EQ(history->entries[0].shown_id, "7_[3-4]");
  EXPECT_EQ(history->entries[0].ending.state, JobState::cancelled);
  EXPECT_EQ(history->entries[1].shown_id, "7_0");
  EXPECT_EQ(history->entries[2].shown_id, "7_1");
  EXPECT_EQ(history->entries[2].ending.exit, (ExitCode{2, 0}));
  EXPECT_EQ(history->entries[3].shown_id, "7_2");
  EXPECT_EQ(history->entries[3].ending.state, JobState::running);
  EXPECT_EQ(history->entries[3].id, slurm::element_job_id(7, 2));
  const auto one = load("7_1");
  ASSERT_TRUE(one);
  ASSERT_EQ(one->entries.size(), 1U);
  EXPECT_EQ(one->entries[0].shown_id, "7_1");
}

TEST_F(Load, a_submit_file_of_an_older_job_of_the_number_is_not_believed) {
  submitted(7, k_now - 9'000'000);
  accounting_is(raw(7, 0, k_now - 1000, 0, 0));
  const auto history = load("7");
  ASSERT_TRUE(history);
  ASSERT_EQ(history->entries.size(), 1U);
  EXPECT_EQ(history->entries[0].name, "n");
}

TEST_F(Load, an_engine_that_does_not_answer_is_no_empty_history) {
  accounting_is(raw(7, 0, k_now - 1000, 0, 0));
  m_engine.answer("qstat", {1, "", "error: unable to send message to qmaster\n"});
  queue_is("", "");
  m_engine.answer("qstat -xml", {1, "", "error: unable to send message to qmaster\n"});
  EXPECT_FALSE(load("7"));
}

TEST(CancelNote, reads_what_it_writes_and_skips_the_rest) {
  test::TempDir folder;
  const records::StatePaths state(folder.path());
  ASSERT_TRUE(records::make_state_folders(state));
  records::note_cancel(state, 7, {5, "a b", {3, 4}});
  records::note_cancel(state, 7, {6, "bob", {}});
  const auto notes = records::read_cancel_notes(state, 7);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].user, "a b");
  EXPECT_TRUE(notes[0].covers(4));
  EXPECT_FALSE(notes[0].covers(5));
  EXPECT_TRUE(notes[1].covers(5));
  EXPECT_TRUE(records::parse_cancel_notes("v2 1 a -\nv1 x a -\nv1 1 a 3,x\nv1 1\n").empty());
}

} // namespace
} // namespace shim::history
