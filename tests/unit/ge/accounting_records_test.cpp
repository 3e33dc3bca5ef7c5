#include "slurm_shim/ge/accounting.h"
#include "slurm_shim/posix/files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "support/fake_engine.h"
#include "support/temp_dir.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shim::ge {
namespace {

std::string fixture(const std::string& name) {
  auto text = posix::read_file(SHIM_TEST_DATA "/fixtures/" + name);
  EXPECT_TRUE(text) << name;
  return text.value_or("");
}

// A raw line of 8.1.9 with what matters.
std::string raw(std::uint64_t job,
                std::int64_t submit,
                std::int64_t end,
                int failed = 0,
                std::uint32_t task = 0,
                const std::string& owner = "alice") {
  return "batch.q:n1:users:" + owner + ":a name:" + std::to_string(job) +
         ":sge:0:" + std::to_string(submit) + ":" + std::to_string(submit) + ":" +
         std::to_string(end) + ":" + std::to_string(failed) +
         ":0:4:0.5:0.25:4040.000000:0:0:0:0:1149:0:0:0.000000:29:0:0:0:590:292:NONE:"
         "defaultdepartment:mpi:3:" +
         std::to_string(task) +
         ":0.75:0.1:0.2:-l h_rt=1:00:00 -pe mpi 3:0.000000:NONE:7659520.000000:0:0\n";
}

class AccountingRecords : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    ASSERT_TRUE(posix::make_directories(common()));
    m_env.set("SGE_ROOT", m_root.path());
  }
  std::string common() const { return m_root / "default/common"; }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(posix::write_file_atomic(common() + "/" + name, text, 0644));
  }
  Result<Accounting> read(const AccountingSelection& selection,
                          AccountingSource source = AccountingSource::automatic) {
    return read_accounting(Tools(m_runner, m_env, std::chrono::seconds(20)), source, selection);
  }
  test::TempDir m_root;
  EnvList m_env = EnvList::from_envp(environ);
  posix::ProcessRunner m_runner;
};

TEST_F(AccountingRecords, reads_a_line_of_8_1_9) {
  const auto record = parse_accounting_line(raw(4711, 1796003143, 1796003173, 100, 3));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->job, 4711U);
  EXPECT_EQ(record->task, 3U);
  EXPECT_EQ(record->name, "a name");
  EXPECT_EQ(record->submit, 1796003143);
  EXPECT_EQ(record->end, 1796003173);
  EXPECT_EQ(record->failed, 100);
  EXPECT_EQ(record->slots, 3);
  EXPECT_EQ(record->pe, "mpi");
  EXPECT_EQ(record->category, "-l h_rt=1:00:00 -pe mpi 3");
  EXPECT_EQ(record->project, "");
  EXPECT_TRUE(record->master());
  EXPECT_DOUBLE_EQ(record->max_vmem, 7659520);
  EXPECT_DOUBLE_EQ(record->max_rss, 4040.0 * 1024);
  EXPECT_DOUBLE_EQ(record->user_cpu, 0.5);
  EXPECT_DOUBLE_EQ(record->cpu, 0.75);
}

TEST_F(AccountingRecords, what_is_no_record_is_nothing) {
  for (const auto* line : {"", "# Version: 8.1.9", "a:b:c", "gpu.q:h:g:o:n:x:s:0:1:1:1:0:0"})
    EXPECT_FALSE(parse_accounting_line(line)) << line;
  for (const auto* line : {"{", "{}", "[]", R"({"job_number":1)", R"({"owner":"alice"})"})
    EXPECT_FALSE(parse_accounting_json(line)) << line;
  EXPECT_TRUE(parse_qacct("Total System Usage\n    WALLCLOCK\n").value().empty());
  EXPECT_FALSE(parse_accounting_line(raw(0, 1796003143, 1796003173, 0, 0)));
}

TEST_F(AccountingRecords, reads_the_captured_file_of_8_1_9) {
  write("accounting", fixture("8.1.9/accounting-tail.stdout"));
  const auto answer = read({.jobs = {62, 72}, .owners = {}});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->records.size(), 5U);
  EXPECT_EQ(answer->records[0].failed, 100);
  EXPECT_EQ(answer->records[0].exit_status, 137);
  EXPECT_EQ(answer->records[1].pe_task, "1.gedeb-master");
  EXPECT_EQ(answer->records[3].exit_status, 7);
  EXPECT_TRUE(answer->records[4].master());
  EXPECT_EQ(answer->records[4].slots, 3);
  EXPECT_TRUE(answer->warnings.empty());
}

TEST_F(AccountingRecords, reads_the_captured_file_of_9_1_5) {
  write("accounting.jsonl", fixture("9.1.5/accounting.jsonl"));
  const auto answer = read({.jobs = {1}, .owners = {}});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->records.size(), 1U);
  const auto& record = answer->records[0];
  EXPECT_EQ(record.deleted_by, "execd@ocs-worker1");
  EXPECT_EQ(record.failed, 100);
  EXPECT_EQ(record.start, 1796002634);
  EXPECT_DOUBLE_EQ(record.max_rss, 3473408);
  EXPECT_DOUBLE_EQ(record.max_vmem, 5746688);
  EXPECT_DOUBLE_EQ(record.wallclock, 2.116409);
  EXPECT_EQ(record.command, "qsub -terse -b y -o /dev/null -j y hostname");
  EXPECT_EQ(record.category, "");
}

TEST_F(AccountingRecords, a_line_that_is_not_utf8_is_read) {
  const auto line = fixture("9.1.5/accounting-nonutf.jsonl");
  const auto record = parse_accounting_json(line);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->owner, "alice");
}

TEST_F(AccountingRecords, text_and_file_agree) {
  const auto old = parse_qacct(fixture("8.1.9/qacct-hrt.stdout")).value();
  ASSERT_EQ(old.size(), 1U);
  EXPECT_EQ(old[0].failed, 37);
  EXPECT_EQ(old[0].exit_status, 137);
  EXPECT_EQ(old[0].submit, 1796003107);
  EXPECT_EQ(old[0].category, "-l h_rt=3");
  EXPECT_NEAR(old[0].max_rss, 3.934 * 1024 * 1024, 1);
  EXPECT_NEAR(old[0].max_vmem, 652.0 * 1024, 1);
  EXPECT_DOUBLE_EQ(old[0].wallclock, 5);
  const auto ocs = parse_qacct(fixture("9.1.5/qacct-hrt.txt")).value();
  ASSERT_EQ(ocs.size(), 1U);
  EXPECT_EQ(ocs[0].deleted_by, "execd@ocs-worker1");
  EXPECT_EQ(ocs[0].pe_task, "");
  EXPECT_DOUBLE_EQ(ocs[0].max_rss, 1449984);
  EXPECT_DOUBLE_EQ(ocs[0].wallclock, 7.703);
  const auto rerun = parse_qacct(fixture("9.1.5/qacct-rerun.txt")).value();
  ASSERT_EQ(rerun.size(), 2U);
  EXPECT_TRUE(is_requeue(rerun[0]));
  EXPECT_EQ(rerun[0].start, 0);
}

TEST_F(AccountingRecords, selects_by_owner_and_end) {
  write("accounting", raw(1, 1000, 1100) + raw(2, 1000, 2000) + raw(3, 1000, 2000, 0, 0, "bob"));
  const auto answer = read({.jobs = {}, .owners = {"alice"}, .since = 1500});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->records.size(), 1U);
  EXPECT_EQ(answer->records[0].job, 2U);
}

TEST_F(AccountingRecords, rotated_files_are_read_in_order_of_writing) {
  write("accounting", raw(7, 500'000, 500'100, 0, 2));
  write("accounting.0", raw(7, 500'000, 500'050, 0, 1));
  const struct timespec times[2] = {{500'060, 0}, {500'060, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (common() + "/accounting.0").c_str(), times, 0), 0);
  const auto answer = read({.jobs = {7}, .owners = {}});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->records.size(), 2U);
  EXPECT_EQ(answer->records[0].task, 1U);
  EXPECT_EQ(answer->records[1].task, 2U);
}

TEST_F(AccountingRecords, a_packed_file_is_read_and_another_packing_is_told) {
  write("accounting.1", raw(7, 500'000, 500'050));
  const auto packed = Tools(m_runner, m_env, std::chrono::seconds(20))
                          .run_program({"gzip", common() + "/accounting.1"});
  ASSERT_TRUE(packed);
  ASSERT_EQ(packed->status, 0);
  write("accounting.2.xz", "?");
  const auto answer = read({.jobs = {7}, .owners = {}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->records.size(), 1U);
  ASSERT_EQ(answer->warnings.size(), 1U);
  EXPECT_NE(answer->warnings[0].find("accounting.2.xz"), std::string::npos);
}

TEST_F(AccountingRecords, a_number_means_its_newest_job) {
  write("accounting", raw(9, 1000, 1100) + raw(9, 900'000, 900'050, 25) + raw(9, 900'000, 900'100));
  const auto newest = read({.jobs = {9}, .owners = {}});
  ASSERT_TRUE(newest);
  ASSERT_EQ(newest->records.size(), 2U);
  EXPECT_TRUE(is_requeue(newest->records[0]));
  const auto all = read({.jobs = {9}, .owners = {}, .since = 0, .older_namesakes = true});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->records.size(), 3U);
}

TEST_F(AccountingRecords, does_not_read_on_when_nothing_can_come) {
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += raw(static_cast<std::uint64_t>(i) + 1, 1000 + i, 2000 + i);
  text += raw(77, 5'000'000, 5'000'100);
  write("accounting", text);
  const AccountingSelection selection{.jobs = {77}, .owners = {}};
  const auto answer = read(selection); // job 77 of long ago has the same number
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->records.size(), 1U);
  EXPECT_EQ(answer->records[0].submit, 5'000'000);
}

TEST_F(AccountingRecords, a_line_that_is_still_being_written_is_no_record_yet) {
  const auto first = raw(1, 5'000'000, 5'000'100);
  const auto second = raw(2, 5'000'000, 5'000'200);
  for (std::size_t size = 0; size < second.size(); size += 10) {
    write("accounting", first + second.substr(0, size));
    const auto answer = read({.jobs = {}, .owners = {}});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->records.size(), 1U) << size;
  }
  write("accounting", first + second);
  EXPECT_EQ(read({.jobs = {}, .owners = {}})->records.size(), 2U);
}

TEST_F(AccountingRecords, lines_over_block_borders_are_whole) {
  std::string text;
  constexpr int k_records = 40'000; // about 10 MB
  for (int i = 0; i < k_records; ++i)
    text += raw(static_cast<std::uint64_t>(i) + 1, 5'000'000, 5'000'000 + i);
  write("accounting", text);
  const auto answer = read({.jobs = {}, .owners = {}});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->records.size(), static_cast<std::size_t>(k_records));
  for (int i = 0; i < k_records; ++i)
    ASSERT_EQ(answer->records[static_cast<std::size_t>(i)].job, static_cast<std::uint64_t>(i) + 1);
}

TEST_F(AccountingRecords, without_a_file_qacct_is_asked) {
  EnvList env;
  test::FakeEngine engine(env);
  engine.answer_file("qacct -j 61", "8.1.9/qacct-hrt.stdout");
  engine.answer("qacct -j 99", {1, "", "error: job id 99 not found\n"});
  const Tools tools(engine, env, std::chrono::seconds(5));
  const auto known =
      read_accounting(tools, AccountingSource::automatic, {.jobs = {61, 99}, .owners = {}});
  ASSERT_TRUE(known);
  EXPECT_EQ(known->records.size(), 1U);
  engine.answer("qacct -j 99", {1, "", "error: no such file\n"});
  const auto broken =
      read_accounting(tools, AccountingSource::automatic, {.jobs = {99}, .owners = {}});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, ErrorKind::unavailable);
  const auto demanded = read_accounting(tools, AccountingSource::file, {});
  EXPECT_FALSE(demanded);
}

TEST_F(AccountingRecords, a_file_that_cannot_be_read_is_no_empty_accounting) {
  ASSERT_TRUE(posix::make_directories(common() + "/accounting"));
  const auto empty = read_accounting(Tools(m_runner, m_env, std::chrono::seconds(5)),
                                     AccountingSource::file,
                                     {},
                                     common() + "/accounting");
  EXPECT_FALSE(empty);
}

} // namespace
} // namespace shim::ge
