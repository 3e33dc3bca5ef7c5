#include "slurm_shim/posix/files.h"
#include "slurm_shim/records/batch_json.h"
#include "slurm_shim/records/submit_file.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include <sys/stat.h>

namespace shim::records {
namespace {

BatchJob example() {
  BatchJob job;
  job.tok = "9f3c21d07be84a55";
  job.job = 4711;
  job.slurm_id = 4711;
  job.dir = "/home/u/.local/state/slurm-shim/default";
  job.name = "7b train";
  job.user = "u";
  job.host = "n1";
  job.wd = "/home/u/p";
  job.signal = SignalRequest{12, 90, false};
  job.limit_s = 300;
  job.start_s = 1796002949;
  return job;
}

TEST(BatchJson, is_written_as_the_format_says) {
  EXPECT_EQ(
      to_json(example()),
      R"({"v":1,"tok":"9f3c21d07be84a55","job":4711,"task":null,"slurm_id":4711,"index":null,)"
      R"("dir":"/home/u/.local/state/slurm-shim/default","env":true,"name":"7b train","user":"u",)"
      R"("host":"n1","out":"slurm-%j.out","err":null,"in":"/dev/null","open_append":false,)"
      R"("wd":"/home/u/p","signal":{"num":12,"lead_s":90,"batch":false},"limit_s":300,)"
      R"("kill_wait_ms":30000,"records":true,"requeue":true,"umask":null,)"
      R"("login_timeout_s":null,"restart":0,"start_s":1796002949,)"
      R"("never":null,"command":[]})"
      "\n");
}

TEST(BatchJson, comes_back_with_every_byte) {
  auto job = example();
  job.task = 3;
  job.index = 20;
  job.out = "\xff\xfe-%j"; // not UTF-8: a path may be anything
  job.err = "e\"\n";
  job.never = Never{"dependency", "afterok:12: \xff"};
  job.command = {"sh", "", "-c", "\xff\n"};
  job.signal.reset();
  job.restart = 2;
  const auto back = batch_job_from_json(to_json(job), "x");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(job));
  EXPECT_EQ(back->out, job.out);
  EXPECT_EQ(back->err, job.err);
  EXPECT_EQ(back->never, job.never);
  EXPECT_EQ(back->command, job.command);
  EXPECT_EQ(back->key().stem(), "4711.3");
}

TEST(BatchJson, defaults_for_what_others_leave_out) {
  const auto job = batch_job_from_json(
      R"({"v":1,"tok":"9f3c21d07be84a55","job":5,"dir":"/s","wd":"/w","task":null})", "x");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->slurm_id, 5);
  EXPECT_EQ(job->out, "slurm-%j.out");
  EXPECT_EQ(job->err, std::nullopt);
  EXPECT_EQ(job->signal, std::nullopt);
}

TEST(BatchJson, errors_name_file_and_key) {
  const struct {
    std::string json, message;
  } cases[] = {
      {"", "f: not a JSON object"},
      {"[1]", "f: not a JSON object"},
      {R"({"tok":"a"})", "f: version missing, this slurm-shim knows 1"},
      {R"({"v":2})", "f: version 2, this slurm-shim knows 1"},
      {R"({"v":1,"tok":"9f3c21d07be84a55","dir":"/s","wd":"/w"})", "f: job: expected a value"},
      {R"({"v":1,"tok":"9f3c21d07be84a55","job":1,"dir":"s","wd":"/w"})",
       "f: dir: expected an absolute path"},
      {R"({"v":1,"tok":"zz","job":1,"dir":"/s","wd":"/w"})",
       "f: tok: expected 16 hexadecimal digits"},
      {R"({"v":1,"tok":"9f3c21d07be84a55","job":"1","dir":"/s","wd":"/w"})",
       "f: job: expected an integer"},
      {R"({"v":1,"tok":"9f3c21d07be84a55","job":1,"dir":"/s","wd":"/w","out":7})",
       "f: out: expected a string"},
      {R"({"v":1,"tok":"9f3c21d07be84a55","job":1,"dir":"/s","wd":"/w","restart":99999999999})",
       "f: restart: expected an integer of 32 bits"},
      {R"({"v":1,"tok":"9f3c21d07be84a55","job":1,"dir":"/s","wd":"/w","signal":{"num":65}})",
       "f: signal: num: expected a signal number from 1 to 64"},
  };
  for (const auto& c : cases) {
    const auto job = batch_job_from_json(c.json, "f");
    ASSERT_FALSE(job) << c.json;
    EXPECT_EQ(job.error().message, c.message);
  }
}

TEST(BatchJson, a_file_others_may_write_is_foreign) {
  const test::TempDir dir;
  const JobFolder folder(dir.path());
  ASSERT_EQ(read_batch_json(folder).error().kind, ErrorKind::not_found);
  ASSERT_TRUE(write_batch_json(folder, example()));
  ASSERT_TRUE(read_batch_json(folder));
  ASSERT_EQ(::chmod(folder.batch_json().c_str(), 0622), 0);
  EXPECT_EQ(read_batch_json(folder).error().kind, ErrorKind::refused);
}

TEST(SubmitFile, is_written_as_the_format_says_and_comes_back) {
  SubmitFile file;
  file.tok = "9f3c21d07be84a55";
  file.job = 4711;
  file.sub = 1796002949;
  file.host = "login";
  file.cmd = {"sbatch", "a b"};
  file.qsub = {"qsub", "-terse"};
  file.req = "v1;tok=9f3c21d07be84a55;dir=/s";
  EXPECT_EQ(to_json(file),
            R"({"v":1,"tok":"9f3c21d07be84a55","job":4711,"tasks":null,"native":true,)"
            R"("sub":1796002949,"host":"login","cmd":["sbatch","a b"],"qsub":["qsub","-terse"],)"
            R"("req":"v1;tok=9f3c21d07be84a55;dir=/s"})"
            "\n");
  file.tasks = "0-9:3,20";
  file.native = false;
  const test::TempDir dir;
  const StatePaths state(dir.path());
  ASSERT_TRUE(make_state_folders(state));
  ASSERT_TRUE(write_submit_file(state, file));
  const auto back = read_submit_file(state, 4711);
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(file));
  EXPECT_EQ(read_submit_file(state, 4712).error().kind, ErrorKind::not_found);
}

TEST(SubmitFile, arguments_that_are_not_utf8_do_not_spoil_it) {
  SubmitFile file;
  file.tok = "9f3c21d07be84a55";
  file.job = 1;
  file.cmd = {"sbatch", "\xff"};
  const auto back = submit_file_from_json(to_json(file), "x");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->cmd[1], "\xEF\xBF\xBD");
}

} // namespace
} // namespace shim::records
