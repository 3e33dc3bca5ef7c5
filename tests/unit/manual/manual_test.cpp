#include "completion.h"

#include "slurm_shim/manual/documents.h"
#include "slurm_shim/manual/topic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shim::manual {
namespace {

using cli::Arity;
using cli::Option;
using cli::Support;
using testing::HasSubstr;

constexpr Option k_rows[] = {
    {.name = "begin",
     .letter = 'b',
     .arity = Arity::required,
     .metavar = "time",
     .support = Support::later,
     .env = "T_BEGIN,T_OTHER",
     .maps_to = "qsub -a",
     .help = "start 'later'",
     .note = "starts at once"},
    {.name = "mode", .arity = Arity::optional, .metavar = "{append|truncate}", .help = "a|b"},
    {.name = "partition", .letter = 'p', .arity = Arity::required, .metavar = "names", .help = "p"},
    {.name = "part",
     .arity = Arity::required,
     .metavar = "names",
     .hidden = true,
     .alias_of = "partition"},
    {.name = "inside", .help = "what two of ours say to each other", .hidden = true},
};
cli::OptionTable rows() {
  return k_rows;
}

Topic table_topic() {
  const app::Command command{"t", "t", app::Kind::user, "does a thing", rows, nullptr, nullptr};
  auto topic = parse_topic(command,
                           "Usage: t [OPTIONS...] COMMAND\n\nDoes a thing.\n\nCommands:\n"
                           "  show node|job [NAME]  shows\n"
                           "  hold ID..., free ID...   two\n"
                           "  update A=N|B=X KEY=VALUE...\n"
                           "                        changes\n\n"
                           "Options:\n  -b, --begin=time  start\n\n.The end\\.\n");
  EXPECT_TRUE(topic);
  return *topic;
}

TEST(Topic, takes_rows_from_the_table_and_the_rest_from_the_help_text) {
  const auto topic = table_topic();
  EXPECT_EQ(topic.synopsis, "t [OPTIONS...] COMMAND");
  EXPECT_EQ(topic.page, "t");
  EXPECT_EQ(topic.section, 1);
  EXPECT_THAT(topic.description, testing::ElementsAre("Does a thing."));
  EXPECT_THAT(topic.epilogue, testing::ElementsAre(".The end\\."));
  ASSERT_EQ(topic.options.size(), std::size(k_rows));
  ASSERT_EQ(topic.subcommands.size(), 3U);
  EXPECT_EQ(unfolded(topic.subcommands[2].help), "changes");
}

TEST(Topic, reads_what_cli11_prints) {
  const app::Command command{"x", "", app::Kind::admin, "wires", nullptr, nullptr, nullptr};
  const auto topic = parse_topic(command,
                                 "Wires it.\nUsage: slurm-shim x [OPTIONS] SUBCOMMAND\n\n"
                                 "Options:\n"
                                 "  -h,--help                   Print this help message and exit\n"
                                 "  --queue TEXT ...            a queue; may be repeated\n"
                                 "  --apply                     execute\n\n"
                                 "Subcommands:\n"
                                 "  prune                       remove files\n");
  ASSERT_TRUE(topic);
  EXPECT_EQ(topic->name, "slurm-shim x");
  EXPECT_EQ(topic->page, "slurm-shim-x");
  EXPECT_EQ(topic->section, 8);
  EXPECT_THAT(topic->description, testing::ElementsAre("Wires it."));
  ASSERT_EQ(topic->options.size(), 3U);
  EXPECT_EQ(topic->options[0].letter, 'h');
  EXPECT_EQ(topic->options[0].name, "help");
  EXPECT_EQ(topic->options[0].arity, Arity::none);
  EXPECT_EQ(topic->options[1].name, "queue");
  EXPECT_EQ(topic->options[1].metavar, "TEXT");
  EXPECT_EQ(topic->options[1].arity, Arity::required);
  EXPECT_EQ(topic->options[1].help, "a queue; may be repeated");
  ASSERT_EQ(topic->subcommands.size(), 1U);
  EXPECT_EQ(topic->subcommands[0].word, "prune");
}

TEST(Topic, reads_a_text_written_by_hand) {
  const app::Command command{"e", "e-env", app::Kind::admin, "makes", nullptr, nullptr, nullptr};
  const auto topic = parse_topic(
      command,
      "Usage: e-env [--export]\n\nMakes it.\nAnd more.\n\n  --export   writes it, for:\n"
      "             eval\n  --help     this text\n");
  ASSERT_TRUE(topic);
  EXPECT_EQ(topic->name, "e-env");
  ASSERT_EQ(topic->options.size(), 2U);
  EXPECT_EQ(unfolded(topic->options[0].help), "writes it, for: eval");
  EXPECT_THAT(topic->description, testing::ElementsAre("Makes it.", "And more."));
}

TEST(Topic, keeps_what_is_no_option) {
  const app::Command command{"x", "", app::Kind::admin, "wires", nullptr, nullptr, nullptr};
  const auto topic = parse_topic(command,
                                 "Wires it.\nUsage: slurm-shim x [OPTIONS] FILE\n\n"
                                 "Positionals:\n  FILE TEXT                   a file\n\n"
                                 "Options:\n   (none of its own)\n  --apply    execute\n\n"
                                 "Exit status: 0 or 1.\n");
  ASSERT_TRUE(topic);
  EXPECT_THAT(topic->description,
              testing::ElementsAre("Wires it.",
                                   "",
                                   "Positionals:",
                                   "  FILE TEXT                   a file",
                                   "",
                                   "   (none of its own)"));
  ASSERT_EQ(topic->options.size(), 1U);
  EXPECT_THAT(topic->epilogue, testing::ElementsAre("Exit status: 0 or 1."));
}

TEST(Topic, refuses_a_text_without_usage) {
  const app::Command command{"x", "", app::Kind::admin, "wires", nullptr, nullptr, nullptr};
  const auto topic = parse_topic(command, "what?\n");
  ASSERT_FALSE(topic);
  EXPECT_THAT(topic.error().message, HasSubstr("slurm-shim x --help"));
}

TEST(ManPage, escapes_what_troff_would_take_for_itself) {
  const auto page = man_page(table_topic(), "1.2.3");
  EXPECT_THAT(page, HasSubstr(".TH T 1 \"\" \"slurm\\-shim 1.2.3\""));
  EXPECT_THAT(page,
              HasSubstr("\\fB\\-b\\fR, \\fB\\-\\-begin\\fR=\\fItime\\fR\n"
                        "start \\(aqlater\\(aq.\n"
                        "Becomes \\fIqsub \\-a\\fR.\n"
                        "\\fBno effect\\fR: starts at once.\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.The end\\e.\n"));
  EXPECT_THAT(page, HasSubstr("\\fBT_OTHER\\fR\nThe same as \\fB\\-\\-begin\\fR.\n"));
  EXPECT_THAT(page, testing::Not(HasSubstr("\\-\\-part\\fR")));
}

TEST(Completion, knows_values_and_verbs) {
  const auto topic = table_topic();
  EXPECT_EQ(values_of(topic, k_rows[0]), "");
  EXPECT_EQ(values_of(topic, k_rows[1]), "append|truncate");
  EXPECT_EQ(values_of(topic, k_rows[2]), "partitions");
  std::vector<std::string> verbs;
  for (const auto& verb : verbs_of(topic))
    verbs.push_back(verb.word + ":" + verb.object);
  EXPECT_THAT(verbs, testing::ElementsAre("show:node", "show:job", "hold:", "free:", "update:"));
  EXPECT_THAT(bash_completion({topic}),
              HasSubstr("rows='begin:r::b mode:o:append|truncate: partition:r:partitions:p'"));
  EXPECT_THAT(fish_completion(topic), HasSubstr("-d 'start \\'later\\''\n"));
  EXPECT_THAT(names_of("signals"), HasSubstr("TERM"));
  EXPECT_THAT(names_of("states"), testing::EndsWith("STOPPED"));
}

TEST(Compatibility, keeps_bars_out_of_the_table_and_counts_levels) {
  const auto text = compatibility({table_topic()});
  EXPECT_THAT(text, HasSubstr("| `--mode[={append\\|truncate}]` | works | a\\|b |\n"));
  EXPECT_THAT(text,
              HasSubstr("| `-b` `--begin=time` | no effect | start 'later'; becomes "
                        "`qsub -a`; *starts at once* |\n"));
  EXPECT_THAT(text, HasSubstr("| `--part=names` | | the same as `--partition` |\n"));
  EXPECT_THAT(text, HasSubstr("| [t](#t) | 2 | 0 | 0 | 1 | 0 |\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("inside")));
}

} // namespace
} // namespace shim::manual
