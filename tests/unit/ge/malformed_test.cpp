// Every reader of the engine's answers against answers that are not whole: what is cut off is never
// taken for the whole, noise around an answer changes nothing, and no bytes bring a reader down.
#include "accounting_files.h"

#include "slurm_shim/base/strings.h"
#include "slurm_shim/ge/accounting.h"
#include "slurm_shim/ge/cluster_queues.h"
#include "slurm_shim/ge/hosts.h"
#include "slurm_shim/ge/job_detail.h"
#include "slurm_shim/ge/jobs.h"
#include "slurm_shim/ge/pe_hostfile.h"
#include "slurm_shim/ge/qconf.h"
#include "slurm_shim/ge/reservations.h"
#include "slurm_shim/ge/schedule.h"
#include "slurm_shim/posix/files.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "support/temp_dir.h"

namespace shim::ge {
namespace {

using Lines = std::vector<std::string>;
// What a reader makes of a text, an entry for each thing that it found; nothing: it refused.
using Read = std::optional<Lines> (*)(const std::string&);

struct Reader {
  std::string_view name;
  std::string_view fixture;
  Read read;
  // The answer says where it ends: what is cut off is refused. Else it is a part of the whole.
  bool has_end = true;
};

template <class List, class Show>
std::optional<Lines> shown(const Result<List>& answer, Show&& show) {
  if (!answer) return std::nullopt;
  Lines lines;
  for (const auto& item : *answer)
    lines.push_back(show(item));
  return lines;
}

std::optional<Lines> job_list(const std::string& text) {
  return shown(parse_job_list(text), [](const JobRow& row) {
    return fmt::format("{} {} {} {} {} {} {}",
                       row.job,
                       row.name,
                       row.owner,
                       row.state,
                       row.host,
                       row.slots,
                       row.tasks.size());
  });
}

std::optional<Lines> job_facts(const std::string& text) {
  const auto answer = parse_job_facts(text);
  if (!answer) return std::nullopt;
  Lines lines;
  for (const auto& job : answer->jobs)
    lines.push_back(fmt::format("{} {} {} {}", job.job, job.owner, job.cwd, job.tasks.size()));
  return lines;
}

std::optional<Lines> hosts(const std::string& text) {
  const auto answer = parse_host_list(text);
  if (!answer) return std::nullopt;
  Lines lines;
  for (const auto& host : answer->hosts)
    lines.push_back(
        fmt::format("{} {} {}", host.name, host.processors.value_or(-1), host.queues.size()));
  return lines;
}

std::optional<Lines> cluster_queues(const std::string& text) {
  return shown(parse_cluster_queues(text),
               [](const ClusterQueue& q) { return fmt::format("{} {}", q.name, q.total); });
}

std::optional<Lines> reservations(const std::string& text) {
  return shown(parse_reservations(text),
               [](const Reservation& r) { return r.id + " " + r.name + " " + r.owner; });
}

std::optional<Lines> detail(const std::string& text) {
  const auto answer = parse_job_detail_xml(text, {44, 1});
  if (!answer) return std::nullopt;
  Lines lines;
  for (const auto& request : answer->hard_requests)
    lines.push_back(fmt::format("{}={}", request.complex, request.value));
  return lines;
}

std::string ending(const AccountingRecord& r) {
  return fmt::format("{}.{} {} {} {} {}", r.job, r.task, r.owner, r.end, r.failed, r.exit_status);
}

std::optional<Lines> qacct(const std::string& text) {
  return shown(parse_qacct(text), ending);
}

// As a file, whose last line may still be in the making.
std::optional<Lines> accounting(const std::string& text) {
  const test::TempDir folder;
  const auto path = folder / "accounting";
  EXPECT_TRUE(posix::write_file_atomic(path, text));
  EnvList env;
  posix::ProcessRunner runner;
  const Tools tools(runner, env, std::chrono::seconds(5));
  AccountingSelection selection;
  selection.older_namesakes = true;
  const auto answer = read_accounting_files(tools, {path}, selection, true);
  if (!answer) return std::nullopt;
  Lines lines;
  for (const auto& record : answer->records)
    lines.push_back(ending(record));
  return lines;
}

std::optional<Lines> schedule(const std::string& text) {
  Lines lines;
  for (const auto& [key, start] : parse_schedule(text))
    lines.push_back(fmt::format("{}.{} {}", key.first, key.second, start));
  return lines;
}

std::optional<Lines> complexes(const std::string& text) {
  Lines lines;
  for (const auto& complex : parse_complexes(text))
    lines.push_back(complex.name + " " + complex.consumable);
  return lines;
}

constexpr Reader k_readers[] = {
    {"qstat -r", "8.1.9/qstat-r-xml-states.stdout", job_list},
    {"qstat -g t", "8.1.9/qstat-gt-xml.stdout", job_list},
    {"qstat -r of OCS", "9.1.5/running-pe.qstat-r.xml", job_list},
    {"qstat -j", "8.1.9/qstat-j-two-xml.stdout", job_facts},
    {"qstat -j of OCS", "9.1.5/running-pe.qstat-j.xml", job_facts},
    {"qstat -j for the hook", "8.1.9/qstat-j-pe-running-xml.stdout", detail},
    {"qstat -g c", "8.1.9/qstat-gc-xml.stdout", cluster_queues},
    {"qhost", "8.1.9/qhost-q-xml.stdout", hosts},
    {"qhost -F of OCS", "9.1.5/qhost-F-q-j.xml", hosts},
    {"qrstat", "8.1.9/qrstat-xml.stdout", reservations},
    {"qacct", "8.1.9/qacct-petask.stdout", qacct, false},
    {"qacct of OCS", "9.1.5/qacct-rerun.txt", qacct, false},
    {"accounting", "8.1.9/accounting-tail.stdout", accounting, false},
    {"accounting of OCS", "9.1.5/accounting.jsonl", accounting, false},
    {"schedule", "8.1.9/schedule", schedule, false},
};

std::string fixture(const Reader& reader) {
  const auto text = posix::read_file(SHIM_TEST_DATA "/fixtures/" + std::string(reader.fixture));
  EXPECT_TRUE(text) << reader.fixture;
  return text.value_or("");
}

bool is_xml(std::string_view text) {
  return text.find("<?xml") != std::string_view::npos;
}

// Some hundred places of a text; every byte of a short one.
std::size_t stride_of(std::string_view text) {
  return std::max<std::size_t>(1, text.size() / 300);
}

TEST(Malformed, the_whole_is_read) {
  for (const auto& reader : k_readers) {
    const auto lines = reader.read(fixture(reader));
    ASSERT_TRUE(lines) << reader.name;
    EXPECT_FALSE(lines->empty()) << reader.name;
  }
}

TEST(Malformed, what_is_cut_off_is_not_the_whole) {
  for (const auto& reader : k_readers) {
    const auto text = fixture(reader);
    const auto whole = reader.read(text);
    ASSERT_TRUE(whole) << reader.name;
    const auto last = text.find_last_not_of(" \n");
    for (std::size_t size = 0; size <= last; size += stride_of(text)) {
      const auto lines = reader.read(text.substr(0, size));
      if (reader.has_end) {
        EXPECT_FALSE(lines) << reader.name << " of " << size << " bytes";
        continue;
      }
      for (const auto& line : lines.value_or(Lines{}))
        EXPECT_NE(std::ranges::find(*whole, line), whole->end())
            << reader.name << " of " << size << " bytes: " << line;
    }
  }
}

TEST(Malformed, noise_around_an_answer_changes_nothing) {
  constexpr std::string_view k_before = "Welcome to node <n1> & co.\n\nmodule: loaded \xff\xfe\n";
  constexpr std::string_view k_after = "\nlogout & bye\n";
  for (const auto& reader : k_readers) {
    const auto text = fixture(reader);
    if (!is_xml(text)) continue;
    EXPECT_EQ(reader.read(std::string(k_before) + text), reader.read(text)) << reader.name;
    EXPECT_EQ(reader.read(text + std::string(k_after)), reader.read(text)) << reader.name;
    EXPECT_FALSE(reader.read(std::string(k_before))) << reader.name;
    EXPECT_FALSE(reader.read("")) << reader.name;
  }
}

TEST(Malformed, another_document_is_no_answer) {
  for (const auto& reader : k_readers) {
    if (!is_xml(fixture(reader))) continue;
    for (const auto* text : {"<?xml version='1.0'?><other/>",
                             "<?xml version='1.0'?>\n",
                             "<?xml version='1.0'?><comlib_error>no contact</comlib_error>"})
      EXPECT_FALSE(reader.read(text)) << reader.name << ": " << text;
  }
}

// Bytes that are no text, and those that mean something, at every place.
TEST(Malformed, no_byte_brings_a_reader_down) {
  for (const auto& reader : k_readers) {
    const auto text = fixture(reader);
    const auto whole = reader.read(text);
    ASSERT_TRUE(whole) << reader.name;
    for (const char byte : {'\xff', '\xc3', '\0', '<', '>', '&', ';', '"', '\n', ':', '-', '9'})
      for (std::size_t at = 0; at < text.size(); at += 5 * stride_of(text)) {
        auto broken = text;
        broken[at] = byte;
        const auto lines = reader.read(broken);
        EXPECT_LE(lines.value_or(Lines{}).size(), whole->size() + 1) << reader.name << " at " << at;
      }
  }
}

TEST(Malformed, nor_do_lost_and_doubled_pieces) {
  std::mt19937 draw(1); // NOLINT: the same pieces each time
  for (const auto& reader : k_readers) {
    const auto text = fixture(reader);
    for (int i = 0; i < 60; ++i) {
      auto broken = text;
      const auto at = draw() % text.size();
      const auto size = draw() % 200;
      if (i % 2 == 0)
        broken.erase(at, size);
      else
        broken.insert(draw() % text.size(), text.substr(at, size));
      static_cast<void>(reader.read(broken));
    }
  }
}

TEST(Malformed, entities_are_undone_and_invented_ones_stay) {
  const auto named = [](const std::string& name) {
    const auto list = parse_job_list("<?xml version='1.0'?><job_info><queue_info><job_list "
                                     "state='running'><JB_job_number>7</JB_job_number><JB_name>" +
                                     name + "</JB_name></job_list></queue_info></job_info>");
    return list && list->size() == 1 ? list->front().name : "refused";
  };
  EXPECT_EQ(named("a&lt;b&gt;&amp;&quot;&apos;"), "a<b>&\"'");
  EXPECT_EQ(named("&#65;&#x42;&#xe4;"), "AB\xc3\xa4");
  for (const auto* text : {"&nosuch;", "&", "&#;", "&#0;", "&#x110000;", "&#99999999999;", "%lt"})
    EXPECT_EQ(named(text), text);
  EXPECT_EQ(named("%lt;b"), "<b") << "8.1.9 spells it so";
  EXPECT_EQ(named("\xff"), "\xff") << "bytes of another encoding stay";
}

TEST(Malformed, numbers_that_are_none_are_not_believed) {
  for (const auto* number : {"", "x", "-1", "99999999999999999999", "1e3"})
    EXPECT_FALSE(job_list(fmt::format("<?xml version='1.0'?><job_info><queue_info><job_list "
                                      "state='running'><JB_job_number>{}</JB_job_number>"
                                      "</job_list></queue_info></job_info>",
                                      number)))
        << number;
  for (const auto* number : {"-7", "1e300", "-1e300", "0", "null", "\"7\""})
    EXPECT_FALSE(parse_accounting_json(fmt::format("{{\"job_number\":{}}}", number))) << number;
  const auto record = parse_accounting_json(
      R"({"job_number":7,"task_number":-1,"exit_status":1e300,"start_time":-1e300,"slots":1e99})");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->task, 0U);
  EXPECT_EQ(record->exit_status, 0);
  EXPECT_EQ(record->start, 0);
  for (const auto* tasks : {"1-", "-1", "5-1", "1-2:0", "1,,2", "x", "1-99999999999"})
    EXPECT_FALSE(parse_task_ranges(tasks)) << tasks;
  EXPECT_EQ(expand_task_ranges({{1, 4'000'000'000, 1}}).size(), 1'000'000U) << "bounded";
}

TEST(Malformed, deep_and_endless_answers_are_bounded) {
  std::string deep = "<?xml version='1.0'?><job_info>";
  for (int i = 0; i < 100'000; ++i)
    deep += "<a>";
  EXPECT_FALSE(job_list(deep));
  EXPECT_FALSE(job_facts(deep));
  EXPECT_FALSE(parse_accounting_json(std::string(100'000, '[')));
  EXPECT_FALSE(parse_accounting_json("{\"job_number\":" + std::string(100'000, '9')));
}

TEST(Malformed, tables_of_qconf) {
  const auto text = posix::read_file(SHIM_TEST_DATA "/fixtures/8.1.9/qconf-sc.stdout");
  ASSERT_TRUE(text);
  const auto whole = complexes(*text);
  ASSERT_TRUE(whole);
  EXPECT_GT(whole->size(), 20U);
  for (std::size_t size = 0; size < text->size(); size += 13)
    EXPECT_LE(complexes(text->substr(0, size))->size(), whole->size());
  for (const auto* odd : {"", "\\", "\\\n\\\n", " x", "x", "x\\", "[", "a,[b", "a,[b=", "=,[=]"}) {
    static_cast<void>(parse_attributes(odd).text());
    static_cast<void>(parse_host_value(odd));
    static_cast<void>(complex_value(odd, "x"));
    static_cast<void>(parse_name_list(odd));
  }
  for (const auto* odd : {"", "\n", "n1", "n1 x q@n1 UNDEFINED", "n1 -1 q", "n1 99999999999 q"})
    EXPECT_FALSE(parse_pe_hostfile(odd)) << odd;
}

} // namespace
} // namespace shim::ge
