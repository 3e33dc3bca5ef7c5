#include "slurm_shim/slurm/array_spec.h"
#include "slurm_shim/slurm/distribution.h"
#include "slurm_shim/slurm/job_id.h"
#include "slurm_shim/slurm/numbers.h"
#include "slurm_shim/slurm/resources.h"
#include "slurm_shim/slurm/signals.h"
#include "slurm_shim/slurm/states.h"
#include "slurm_shim/slurm/time_limit.h"
#include "slurm_shim/slurm/words.h"

#include <gtest/gtest.h>

namespace shim::slurm {

namespace {

TEST(JobId, gives_every_array_element_an_id_of_its_own) {
  EXPECT_EQ(element_job_id(4711, 0), 10004730U);
  EXPECT_EQ(decode_job_id(4711), (DecodedJobId{4711, std::nullopt}));
  EXPECT_EQ(decode_job_id(10004730), (DecodedJobId{4711, 0}));
  for (const std::uint64_t element : {0U, 1U, 212U, 74999U})
    EXPECT_EQ(decode_job_id(element_job_id(9999999, element)), (DecodedJobId{9999999, element}));
  EXPECT_LE(element_job_id(9999999, 212), 0x7fffffffU); // what fits 31 bits
}

TEST(JobId, reads_every_spelling) {
  const auto plain = parse_job_id("4711").value();
  EXPECT_EQ(plain.job, 4711U);
  EXPECT_FALSE(plain.element);
  EXPECT_TRUE(plain.indices.empty());
  const auto element = parse_job_id("20004749.batch").value();
  EXPECT_EQ(element.id, 20004749U);
  EXPECT_EQ(element.job, 4711U);
  EXPECT_EQ(element.element, 1U);
  EXPECT_EQ(element.step, "batch");
  const auto index = parse_job_id("4711_3.0").value();
  EXPECT_TRUE(index.single_index());
  EXPECT_EQ(index.indices, (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(index.step, "0");
  const auto list = parse_job_id("4711_[7,1-3%2]").value();
  EXPECT_EQ(list.indices, (std::vector<std::uint32_t>{1, 2, 3, 7}));
  EXPECT_FALSE(list.single_index());
  EXPECT_TRUE(parse_job_id("4711_*").value().whole_array);
}

TEST(JobId, refuses_with_the_text_that_was_given) {
  for (const auto* text : {"abc",
                           "0",
                           "-5",
                           "",
                           "1_",
                           "1_x",
                           "1.",
                           "1.x",
                           "1_[]",
                           "_1",
                           "1_-1",
                           "99999999999999999999",
                           "10000019",
                           "1 "}) {
    const auto ref = parse_job_id(text);
    ASSERT_FALSE(ref) << text;
    EXPECT_EQ(ref.error().exit_code, 1);
    EXPECT_TRUE(ref.error().message.ends_with("Invalid job id " + std::string(text))) << text;
  }
  EXPECT_EQ(parse_job_id("12_[x]").error().message,
            "_parse_single_range: Invalid range: `x'\nInvalid job id 12_[x]");
}

TEST(States, name_grid_engine_letters) {
  struct Row {
    const char* letters;
    const char* state;
  };
  for (const auto& row : {Row{"", "CD"},
                          Row{"dr", "CG"},
                          Row{"dqw", "CG"},
                          Row{"Eqw", "PD"},
                          Row{"s", "S"},
                          Row{"tS", "S"},
                          Row{"T", "S"},
                          Row{"r", "R"},
                          Row{"t", "R"},
                          Row{"Rr", "R"},
                          Row{"qw", "PD"},
                          Row{"hqw", "PD"},
                          Row{"Rq", "PD"},
                          Row{"hRwq", "PD"},
                          Row{"w", "PD"},
                          Row{"dRr", "CG"},
                          Row{"Ehqw", "PD"}})
    EXPECT_EQ(short_name(from_ge_state(row.letters)), row.state) << row.letters;
  EXPECT_EQ(parse_job_state("pending"), JobState::pending);
  EXPECT_EQ(parse_job_state("oom"), JobState::out_of_memory);
  EXPECT_FALSE(parse_job_state("bogus"));
  EXPECT_TRUE(is_live(JobState::completing));
  EXPECT_FALSE(is_live(JobState::timeout));
  EXPECT_EQ(long_name(JobState::node_fail), "NODE_FAIL");
}

TEST(States, combine_a_hosts_queue_instances) {
  struct Row {
    std::vector<QueueInstanceState> instances;
    const char* state;
  };
  for (const auto& row : {Row{{{"", 0, 4}}, "idle"},
                          Row{{{"", 2, 4}}, "mix"},
                          Row{{{"", 4, 4}}, "alloc"},
                          Row{{{"a", 0, 4}}, "idle"},
                          Row{{{"au", 0, 4}}, "down"},
                          Row{{{"au", 0, 4}, {"", 0, 4}}, "idle"},
                          Row{{{"d", 0, 4}}, "drain"},
                          Row{{{"d", 1, 4}}, "drng"},
                          Row{{}, "down"}})
    EXPECT_EQ(short_name(node_state(row.instances)), row.state);
}

TEST(Durations, print_as_squeue_and_scontrol_do) {
  EXPECT_EQ(format_duration_short(5), "0:05");
  EXPECT_EQ(format_duration_short(754), "12:34");
  EXPECT_EQ(format_duration_short(3600), "1:00:00");
  EXPECT_EQ(format_duration_short(183845), "2-03:04:05");
  EXPECT_EQ(format_duration(5), "00:00:05");
  EXPECT_EQ(format_time_limit_short(1440), "1-00:00:00");
  EXPECT_EQ(format_time_limit_short(k_unlimited_minutes), "UNLIMITED");
  EXPECT_FALSE(parse_time_limit("-5"));
  EXPECT_FALSE(parse_time_limit("1-2:3:4:5"));
}

TEST(ArraySpecs, know_when_grid_engine_can_number_them) {
  const auto native = [](const char* text) {
    const auto range = native_range(*parse_array_spec(text).value());
    return range ? range->text() : "dense";
  };
  EXPECT_EQ(native("1-5"), "1-5:1");
  EXPECT_EQ(native("1,3,5"), "1-5:2");
  EXPECT_EQ(native("7"), "7-7:1");
  EXPECT_EQ(native("0-3"), "dense");
  EXPECT_EQ(native("1-3,7"), "dense");
  const auto spec = *parse_array_spec("2-8:3%4").value();
  EXPECT_EQ(spec.min(), 2U);
  EXPECT_EQ(spec.max(), 8U);
  EXPECT_EQ(spec.step(), 3U);
  EXPECT_EQ(spec.count(), 3U);
  EXPECT_EQ(spec.throttle, 4U);
  EXPECT_TRUE(parse_array_spec("0-74999", 75000));
  EXPECT_FALSE(parse_array_spec("0-99999999999999999999", 75000));
  EXPECT_FALSE(parse_array_spec("0-3:99999999999999999999:"));
  EXPECT_FALSE(parse_array_spec(","));
}

TEST(Signals, are_names_or_numbers) {
  EXPECT_EQ(signal_number("sigusr1"), 10);
  EXPECT_EQ(signal_number("9"), 9);
  EXPECT_FALSE(signal_number("0"));
  EXPECT_FALSE(signal_number("BOGUS"));
  EXPECT_EQ(signal_name(15), "TERM");
  EXPECT_EQ(signal_name(34), "34");
  const auto spec = parse_signal_spec("BR:USR1@120").value();
  EXPECT_TRUE(spec.batch_only && spec.reservation);
  EXPECT_EQ(spec.seconds_before, 120);
  EXPECT_EQ(parse_signal_spec("USR2@").value().seconds_before, 60);
}

TEST(Export, takes_names_settings_and_quotes) {
  EXPECT_TRUE(parse_export("ALL").value().all);
  EXPECT_TRUE(parse_export("none").value().none);
  EXPECT_TRUE(parse_export("NIL").value().none);
  const auto list = parse_export("ALL,A=1,B,C='x,y',D=\"p q\",E=a=b").value();
  EXPECT_TRUE(list.all);
  EXPECT_EQ(list.names, (std::vector<std::string>{"B"}));
  const std::vector<std::pair<std::string, std::string>> want{
      {"A", "1"}, {"C", "x,y"}, {"D", "p q"}, {"E", "a=b"}};
  EXPECT_EQ(list.settings, want);
  EXPECT_FALSE(parse_export("A=1").value().all);
  EXPECT_EQ(parse_export("=x").error().message, "Invalid --export specification");
  EXPECT_FALSE(parse_export("A='x"));
}

TEST(Resources, read_types_and_counts) {
  const auto list = parse_gres("gpu:a100:2,shard,craynetwork:1k").value();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[0], (Gres{"gpu", "a100", 2}));
  EXPECT_EQ(list[1], (Gres{"shard", "", 1}));
  EXPECT_EQ(list[2], (Gres{"craynetwork", "", 1024}));
  EXPECT_TRUE(parse_gres("none").value().empty());
  EXPECT_EQ(total_count(parse_gpus("a100:2,v100:1").value()), 3U);
  EXPECT_FALSE(parse_gres("gpu:a:b:1"));
  EXPECT_FALSE(parse_gres(",gpu"));
  EXPECT_FALSE(parse_gpus(""));
  EXPECT_EQ(parse_licenses("a:2;b@srv,c=3").value(),
            (std::vector<License>{{"a", 2}, {"b@srv", 1}, {"c", 3}}));
  EXPECT_FALSE(parse_licenses("a:0"));
}

TEST(GpuBind, all_its_words) {
  using Kind = GpuBind::Kind;
  const struct {
    const char* text;
    GpuBind want;
  } good[] = {{"none", {Kind::none}},
              {"closest", {Kind::closest}},
              {"per_task", {Kind::per_task}},
              {"Per-Task:2", {Kind::per_task, 2}},
              {"single:3", {Kind::single, 3}},
              {"verbose,single:2", {Kind::single, 2, {}, true}},
              {"gpu:verbose,gpu:closest", {Kind::closest, 0, {}, true}},
              {"map_gpu:0,1", {Kind::map, 0, {0, 1}}},
              {"map_gpu:0*2,3", {Kind::map, 0, {0, 0, 3}}},
              {"mask_gpu:0x3,c*2", {Kind::mask, 0, {3, 12, 12}}}};
  for (const auto& c : good) {
    const auto got = parse_gpu_bind(c.text);
    ASSERT_TRUE(got) << c.text;
    EXPECT_EQ(*got, c.want) << c.text;
  }
  for (const auto* bad : {"",
                          "bogus",
                          "single",
                          "single:0",
                          "single:-1",
                          "per_task:x",
                          "none:1",
                          "map_gpu",
                          "map_gpu:",
                          "map_gpu:0,",
                          "map_gpu:x",
                          "map_gpu:0*0",
                          "map_gpu:-1",
                          "mask_gpu:0x",
                          "mask_gpu:g",
                          "map_gpu:0*99999999",
                          "mask_gpu:1ffffffffffffffff",
                          "verbose,"}) {
    const auto got = parse_gpu_bind(bad);
    ASSERT_FALSE(got) << bad;
    EXPECT_EQ(got.error().message, "Invalid --gpu-bind argument: gpu:" + std::string(bad));
  }
}

TEST(Numbers, refuse_what_does_not_fit) {
  EXPECT_EQ(parse_positive("99999999999", "--ntasks").error().message,
            "Numeric argument (99999999999) to big for --ntasks.");
  EXPECT_EQ(parse_non_negative("0", "--relative").value(), 0);
  EXPECT_FALSE(parse_node_count("99999999999"));
  EXPECT_FALSE(parse_node_count("2097152k"));
  EXPECT_EQ(parse_nice(std::nullopt).value(), 100);
  const auto switches = parse_switches("2@10:00").value();
  EXPECT_EQ(switches.count, 2);
  EXPECT_EQ(switches.max_wait_minutes, 10U);
  EXPECT_EQ(parse_extra_node_info("2:*:1").value().threads, 1);
  EXPECT_EQ(parse_extra_node_info("2:x").error().message,
            "Invalid numeric value \"x\" for second arg of -B.");
}

TEST(Distribution, prints_back_what_it_read) {
  for (const auto* text : {"block",
                           "cyclic",
                           "arbitrary",
                           "block:cyclic",
                           "block:cyclic:fcyclic",
                           "*:block",
                           "block,Pack",
                           "cyclic:*:block,NoPack"})
    EXPECT_EQ(format_distribution(parse_distribution(text).value()), text);
  EXPECT_EQ(parse_distribution("plane=4").value().plane_size, 4);
}

} // namespace

} // namespace shim::slurm
