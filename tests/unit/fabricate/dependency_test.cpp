#include "slurm_shim/fabricate/dependency.h"

#include <gtest/gtest.h>

namespace shim::fabricate {
namespace {

using slurm::DependencyType;

JobFacts facts(const std::string& dep, const std::string& gone = "") {
  JobFacts facts;
  records::SubmitRecord record;
  record.set("dep", dep);
  if (!gone.empty()) record.set("depgone", gone);
  facts.record = std::move(record);
  return facts;
}

std::vector<std::string> texts(const Demands& demands) {
  std::vector<std::string> out;
  for (const auto& item : demands.items)
    out.push_back(item.text);
  return out;
}

TEST(Demands, are_made_by_the_types_that_ask_for_a_result) {
  const auto made =
      demands_of(facts("afterok:12,afterany:13,after:14,afternotok:15_3,singleton,aftercorr:16"));
  EXPECT_EQ(texts(made),
            (std::vector<std::string>{"afterok:12", "afternotok:15_3", "aftercorr:16"}));
  EXPECT_FALSE(made.any);
  EXPECT_EQ(made.items[1].index, 3U);
  EXPECT_EQ(made.items[2].type, DependencyType::after_ok);
  EXPECT_FALSE(made.items[2].index); // no element itself: all of 16
}

TEST(Demands, an_elements_own_id_names_its_position) {
  const auto made = demands_of(facts("afterok:20000050"));
  EXPECT_EQ(made.items.at(0).job, 12);
  EXPECT_EQ(made.items.at(0).element, 1U);
}

TEST(Demands, of_an_element_are_those_of_its_counterpart) {
  auto f = facts("aftercorr:16");
  f.record->set("array", "0-9:3");
  f.env.set("SGE_TASK_ID", "3");
  const auto made = demands_of(f);
  EXPECT_EQ(made.items.at(0).index, 6U);
  EXPECT_TRUE(made.items.at(0).corresponding);
}

TEST(Demands, of_jobs_that_nobody_knew_are_fulfilled) {
  EXPECT_EQ(texts(demands_of(facts("afterok:12:13", "12"))),
            std::vector<std::string>{"afterok:13"});
  EXPECT_TRUE(demands_of(facts("afterok:12?afterok:13", "12")).items.empty());
  auto f = facts("afterok:12");
  f.config.afterok_check = false;
  EXPECT_TRUE(demands_of(f).items.empty());
  EXPECT_TRUE(demands_of(JobFacts{}).items.empty());
}

TEST(Outcome, comes_from_the_end_line) {
  records::JobRecord record;
  EXPECT_FALSE(outcome_of(record));
  const struct {
    int code, sig;
    const char* reason;
    Ending ending;
    const char* how;
  } cases[] = {
      {0, 0, "exit", Ending::succeeded, "ended with exit code 0"},
      {99, 0, "exit", Ending::failed, "ended with exit code 99"},
      {137, 9, "exit", Ending::failed, "was ended by signal KILL"},
      {0, 0, "timeout", Ending::failed, "reached its time limit"},
      {0, 0, "cancel", Ending::failed, "was cancelled"},
      {1, 0, "dependency", Ending::failed, "could not run (dependency)"},
  };
  for (const auto& c : cases) {
    record.end = records::EndEvent{0, c.code, c.sig, c.reason};
    const auto outcome = outcome_of(record);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->ending, c.ending) << c.how;
    EXPECT_EQ(outcome->how, c.how);
  }
  record.end = records::EndEvent{0, 143, 15, "requeue"};
  EXPECT_FALSE(outcome_of(record));
}

TEST(Outcome, of_accounting_is_that_of_the_last_run) {
  ge::AccountingRecord first, second;
  first.job = second.job = 12;
  first.failed = 25; // rescheduled
  first.exit_status = 99;
  second.exit_status = 3;
  const auto outcome = outcome_of(std::vector{first, second}, 12, 0);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->how, "ended with exit code 3");
  EXPECT_FALSE(outcome_of(std::vector{first}, 12, 0));
  EXPECT_FALSE(outcome_of(std::vector{second}, 12, 1));
  EXPECT_FALSE(outcome_of(std::vector{second}, 13, 0));
  second.exit_status = 0;
  EXPECT_EQ(outcome_of(std::vector{second}, 12, 0)->ending, Ending::succeeded);
  second.failed = 37;
  EXPECT_EQ(outcome_of(std::vector{second}, 12, 0)->ending, Ending::failed);
  second.failed = 0;
  second.deleted_by = "u@n1";
  EXPECT_EQ(outcome_of(std::vector{second}, 12, 0)->ending, Ending::failed);
}

TEST(DemandedTasks, are_the_engines_numbers) {
  const slurm::ArraySpec native{{2, 4, 6}, 0}, dense{{0, 3, 20}, 0};
  Demand demand;
  EXPECT_EQ(demanded_tasks(demand, native), (std::vector<std::uint32_t>{2, 4, 6}));
  EXPECT_EQ(demanded_tasks(demand, dense), (std::vector<std::uint32_t>{1, 2, 3}));
  demand.index = 20;
  EXPECT_EQ(demanded_tasks(demand, dense), std::vector<std::uint32_t>{3});
  EXPECT_TRUE(demanded_tasks(demand, native).empty());
  demand.corresponding = true;
  EXPECT_EQ(demanded_tasks(demand, native).size(), 3U);
  demand = Demand{};
  demand.element = 1;
  EXPECT_EQ(demanded_tasks(demand, native), std::vector<std::uint32_t>{4});
  EXPECT_EQ(demanded_tasks(demand, dense), std::vector<std::uint32_t>{2});
}

TEST(Verdict, names_the_first_demand_that_failed) {
  Demands demands;
  demands.items.resize(2);
  demands.items[0].job = 12;
  demands.items[0].text = "afterok:12";
  demands.items[1].type = DependencyType::after_not_ok;
  demands.items[1].job = 13;
  demands.items[1].text = "afternotok:13";
  const Outcome good{Ending::succeeded, "ended with exit code 0"};
  const Outcome bad{Ending::failed, "ended with exit code 3"};
  const Outcome none{Ending::unknown, "ended, but how is not known"};
  EXPECT_EQ(verdict(demands, {good, bad}), std::nullopt);
  EXPECT_EQ(verdict(demands, {good, good}),
            "DependencyNeverSatisfied: afternotok:13: job 13 ended with exit code 0");
  EXPECT_EQ(verdict(demands, {bad, good}),
            "DependencyNeverSatisfied: afterok:12: job 12 ended with exit code 3");
  EXPECT_NE(verdict(demands, {good, none}), std::nullopt);
  demands.any = true;
  EXPECT_EQ(verdict(demands, {bad, bad}), std::nullopt);
  EXPECT_EQ(verdict(demands, {bad, good}),
            "DependencyNeverSatisfied: afterok:12: job 12 ended with exit code 3; "
            "afternotok:13: job 13 ended with exit code 0");
}

} // namespace
} // namespace shim::fabricate
