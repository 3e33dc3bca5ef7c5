#include "columns.h"
#include "order.h"
#include "request.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/commands/squeue.h"

#include <gtest/gtest.h>

#include "support/case_file.h"

namespace shim::commands::squeue {
namespace {

using Words = std::vector<std::string>;

Result<Request> request_of(const Words& words, Words env = {}) {
  const auto parsed = cli::parse(squeue_options(), words, {.command = "squeue", .permute = true});
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  return make_request(*parsed, EnvList(std::move(env)));
}

std::string header(const Request& request) {
  std::string line;
  append_header(request.format, line);
  return line;
}

std::string header(std::string_view format) {
  std::string line;
  append_header(parse_format(format), line);
  return line;
}

Request good(const Words& words, Words env = {}) {
  auto request = request_of(words, std::move(env));
  EXPECT_TRUE(request) << request.error().message;
  return request.value_or(Request{});
}

// Every state of the captured cases: those that Slurm refuses, in its words, and those it takes.
TEST(SqueueRequest, KnowsTheStatesThatSlurmKnows) {
  std::size_t refused = 0, taken = 0;
  const auto topic = test::load_json("vectors/07_squeue.json");
  for (const auto& known : topic.at("cases")) {
    const auto id = known.at("id").get<std::string>();
    if (!id.starts_with("sq.t.") || !known.at("robust").get<bool>()) continue;
    const auto states = id.substr(5);
    const auto request = request_of({"-t", states});
    if (known.at("rc").get<int>() == 0) {
      EXPECT_TRUE(request) << id;
      ++taken;
      continue;
    }
    ++refused;
    ASSERT_FALSE(request) << id;
    // Each line is printed with the prefix; the empty one at the end without.
    const auto lines = split(request.error().message, '\n');
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ("squeue: error: " + std::string(lines[0]) +
                  "\nsqueue: error: " + std::string(lines[1]) + "\n\n",
              known.at("stderr").get<std::string>());
  }
  EXPECT_GE(taken, 15U);
  EXPECT_GE(refused, 4U);
}

TEST(SqueueRequest, RefusesWhatIsNoJobId) {
  for (const auto* id : {"abc", "0", "7,x", "-1"}) {
    const auto request = request_of({std::string("-j") + id});
    ASSERT_FALSE(request) << id;
    EXPECT_EQ(request.error().exit_code, 1);
    EXPECT_TRUE(request.error().message.starts_with("Invalid job id: ")) << request.error().message;
  }
  EXPECT_EQ(request_of({"-jabc"}).error().message, "Invalid job id: abc");
  EXPECT_EQ(request_of({"--jobs=7,x"}).error().message, "Invalid job id: x");
  EXPECT_FALSE(request_of({"-w", "node[3-1]"}));
}

TEST(SqueueRequest, TakesListsFromOptionsAndEnvironment) {
  const auto request = good({"-j7,8_[1,3]", "-u", "alice,bob", "-n", "a b,c", "-p", "gpu,debug"});
  ASSERT_EQ(request.jobs.size(), 2U);
  EXPECT_EQ(request.jobs[1].indices, (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(request.users, (Words{"alice", "bob"}));
  EXPECT_EQ(request.names, (Words{"a b", "c"}));
  EXPECT_EQ(request.partitions, (Words{"gpu", "debug"}));
  const auto set = good({},
                        {"SQUEUE_STATES=S",
                         "SQUEUE_PARTITION=gpu",
                         "SQUEUE_NAMES=held",
                         "SQUEUE_ARRAY=1",
                         "SQUEUE_SORT=-i",
                         "SQUEUE_FORMAT=%i:%j"});
  EXPECT_EQ(set.states, std::vector<slurm::JobState>{slurm::JobState::suspended});
  EXPECT_EQ(set.partitions, Words{"gpu"});
  EXPECT_EQ(set.names, Words{"held"});
  EXPECT_TRUE(set.split_arrays);
  EXPECT_EQ(set.sort, "-i");
  EXPECT_EQ(header(set), "JOBID:NAME\n");
  EXPECT_EQ(header(good({"-o", "%j"}, {"SQUEUE_FORMAT=%i"})), "NAME\n");
  EXPECT_EQ(header(good({}, {"SQUEUE_FORMAT2=JobID:6,Name:5"})), "JOBID NAME \n");
  EXPECT_EQ(header(good({}, {"SQUEUE_FORMAT=%t", "SQUEUE_FORMAT2=JobID"})), "ST\n");
  EXPECT_EQ(header(good({"-O", "Name:5"}, {"SQUEUE_FORMAT=%t"})), "NAME \n");
  EXPECT_EQ(good({}, {"SLURM_TIME_FORMAT=%s"}).time_format, "%s");
  EXPECT_TRUE(good({"-t", "all"}).states.empty());
  EXPECT_TRUE(good({"-t", "all"}).wants_ended());
  EXPECT_TRUE(good({"-t", "R,CD"}).wants_ended());
  EXPECT_FALSE(good({"-t", "R,PD,CG"}).wants_ended());
}

TEST(SqueueRequest, HasSlurmsDefaults) {
  const auto request = good({});
  EXPECT_EQ(header(request), header(k_default_format));
  EXPECT_EQ(request.sort, k_default_sort);
  EXPECT_TRUE(request.header);
  EXPECT_FALSE(request.split_arrays);
  EXPECT_EQ(header(good({"-l"})), header(k_long_format));
  EXPECT_EQ(header(good({"-l"}, {"SQUEUE_FORMAT=%i"})), header(k_long_format));
  EXPECT_EQ(header(good({"--start"})), header(k_start_format));
  EXPECT_EQ(good({"--start"}).sort, "S");
  EXPECT_EQ(header(good({"-s"})),
            "         STEPID     NAME PARTITION     USER      TIME NODELIST\n");
  EXPECT_EQ(good({"--json"}).output, Output::json);
  EXPECT_EQ(good({"--yaml"}).output, Output::yaml);
  EXPECT_FALSE(good({"-h"}).header);
  EXPECT_TRUE(good({"-r"}).split_arrays);
  EXPECT_EQ(header(good({"-o", ""})), "\n");
}

TEST(SqueueRequest, RefusesWhatIsNoIntervalAndNoStep) {
  EXPECT_EQ(request_of({"-i", "x"}).error().message, "--iterate=x\n");
  EXPECT_EQ(request_of({"-i", "0"}).error().message, "--iterate=0\n");
  EXPECT_EQ(good({"-i", "5"}).iterate_s, 5);
  EXPECT_FALSE(request_of({"-sx.1"}));
}

TEST(SqueueRequest, FiltersSteps) {
  queue::Step step;
  step.job = step.id = 7;
  step.job_id = "7";
  step.step = "0";
  for (const auto* text : {"7", "7.0", "8,7.0"})
    EXPECT_TRUE(keeps(good({std::string("-s") + text}), step)) << text;
  for (const auto* text : {"8", "7.1", "7.batch", "7_1.0"})
    EXPECT_FALSE(keeps(good({std::string("-s") + text}), step)) << text;
  step.job_id = "7_1";
  EXPECT_TRUE(keeps(good({"-s7_1.0"}), step));
  EXPECT_FALSE(keeps(good({"-s7_2.0"}), step));
}

TEST(SqueueRequest, FiltersWhatWasAskedFor) {
  records::SubmitRecord record;
  record.set("lic", "matlab:2,ansys");
  record.set("resv", "12");
  queue::Job job;
  job.partition = "batch,gpu";
  EXPECT_TRUE(keeps(good({"-q", "normal"}), job)) << "what has no quality has the normal one";
  EXPECT_FALSE(keeps(good({"-L", "matlab"}), job));
  EXPECT_FALSE(keeps(good({"-R", "12"}), job));
  record.set("qos", "high");
  job.record = std::make_shared<const records::SubmitRecord>(record);
  EXPECT_TRUE(keeps(good({"-q", "low,high", "-L", "matlab", "-R", "12", "-p", "gpu"}), job));
  EXPECT_FALSE(keeps(good({"-q", "normal"}), job));
  EXPECT_FALSE(keeps(good({"-L", "mat"}), job));
  EXPECT_TRUE(keeps(good({"--start"}), job));
  job.state = slurm::JobState::completed;
  EXPECT_FALSE(keeps(good({}), job));
  EXPECT_FALSE(keeps(good({"--start", "-t", "all"}), job));
  EXPECT_TRUE(keeps(good({"-t", "all"}), job));
  EXPECT_TRUE(keeps(good({"-t", "CD"}), job));
}

TEST(SqueueRequest, FiltersAgree) {
  queue::Job job;
  job.job = job.id = 7;
  job.state = slurm::JobState::running;
  job.name = "name with spaces";
  job.partition = "gpu";
  job.account = "acct1";
  job.hosts = {"node002", "node003.example.org"};
  for (const auto& words : std::vector<Words>{{},
                                              {"-j7"},
                                              {"-j8,7"},
                                              {"-t", "pd,r"},
                                              {"-n", "name with spaces"},
                                              {"-p", "batch,gpu"},
                                              {"-A", "acct1"},
                                              {"-w", "node[003-004]"},
                                              {"-w", "node003.example.org"}})
    EXPECT_TRUE(keeps(good(words), job)) << join(words, " ");
  for (const auto& words : std::vector<Words>{{"-j8"},
                                              {"-t", "PD"},
                                              {"-n", "name"},
                                              {"-p", "batch"},
                                              {"-A", "acct"},
                                              {"-w", "node001"},
                                              {"-j7", "-t", "PD"}})
    EXPECT_FALSE(keeps(good(words), job)) << join(words, " ");
}

} // namespace
} // namespace shim::commands::squeue
