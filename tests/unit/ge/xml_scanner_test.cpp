#include "xml_scanner.h"

#include "slurm_shim/ge/jobs.h"

#include <gtest/gtest.h>

namespace shim::ge {
namespace {

using Step = XmlScanner::Step;

Step last_step(std::string_view text) {
  XmlScanner xml(text);
  for (;;)
    if (const auto step = xml.next(); step == Step::end || step == Step::error) return step;
}

TEST(XmlScanner, walks_elements_in_order) {
  XmlScanner xml("<?xml version='1.0'?>\n<!-- <a> --><a x='1' y=\"p>q\"><b/>text</a>\n");
  EXPECT_EQ(xml.next(), Step::open);
  EXPECT_EQ(xml.name(), "a");
  EXPECT_EQ(xml.attribute("x"), "1");
  EXPECT_EQ(xml.attribute("y"), "p>q");
  EXPECT_EQ(xml.attribute("z"), "");
  EXPECT_EQ(xml.next(), Step::open);
  EXPECT_EQ(xml.name(), "b");
  EXPECT_EQ(xml.depth(), 2U);
  EXPECT_EQ(xml.next(), Step::close);
  EXPECT_EQ(xml.text(), "");
  EXPECT_EQ(xml.next(), Step::close);
  EXPECT_EQ(xml.name(), "a");
  EXPECT_EQ(xml.text(), "text");
  EXPECT_EQ(xml.next(), Step::end);
}

TEST(XmlScanner, refuses_what_is_not_whole) {
  for (const auto* text : {"",
                           "no tag",
                           "<",
                           "<a",
                           "<a>",
                           "<a></b>",
                           "</a>",
                           "<a/><b/>",
                           "<></>",
                           "<a x='1></a>",
                           "<a><!-- </a>",
                           "<a></a",
                           "<?xml",
                           "< a></ a>"})
    EXPECT_EQ(last_step(text), Step::error) << text;
  for (const auto* text : {"<a/>", "<a></a >", "noise <a></a> noise", "<a >x</a>"})
    EXPECT_EQ(last_step(text), Step::end) << text;
  XmlScanner xml("<a><b></a>");
  while (xml.next() != Step::error) {
  }
  EXPECT_EQ(xml.error("qstat").message,
            "qstat: unexpected answer: an end without its beginning at byte 6");
}

TEST(XmlScanner, undoes_entities) {
  EXPECT_EQ(decode_text("plain"), "plain");
  EXPECT_EQ(decode_text("a&lt;b&gt;c&amp;d&quot;e&apos;f"), "a<b>c&d\"e'f");
  EXPECT_EQ(decode_text("&#65;&#x42;&#228;&#x6f22;&#x1f600;"), "AB\u00e4\u6f22\U0001f600");
  EXPECT_EQ(decode_text("%lt;x%y&nope;&#xzz;&#0;&#1114112;&"), "<x%y&nope;&#xzz;&#0;&#1114112;&");
  EXPECT_EQ(decode_text("\xff&amp;\xfe"), "\xff&\xfe") << "bytes that are no UTF-8 stay";
}

std::string one_job(const std::string& fields) {
  return "motd: <b>maintenance</b> at 5 > 4\n<?xml version='1.0'?><job_info><job_info>"
         "<job_list state=\"pending\">" +
         fields + "</job_list></job_info></job_info>\n";
}

TEST(JobList, reads_past_noise_and_keeps_odd_bytes) {
  const auto rows = parse_job_list(one_job("<JB_job_number>7</JB_job_number>"
                                           "<JB_name>\xff&lt;&#228;</JB_name><new><deep>x</deep>"
                                           "<JB_job_number>8</JB_job_number></new>"));
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front().job, 7U) << "only the row's own fields count";
  EXPECT_EQ(rows->front().name, "\xff<\u00e4");
}

TEST(JobList, a_row_that_cannot_be_right_is_an_error) {
  for (const auto* fields : {"",
                             "<JB_job_number>x</JB_job_number>",
                             "<JB_job_number>99999999999999999999999</JB_job_number>",
                             "<JB_job_number>7</JB_job_number><tasks>3-1:1</tasks>"})
    EXPECT_FALSE(parse_job_list(one_job(fields))) << fields;
  EXPECT_FALSE(parse_job_list("<qhost></qhost>"));
}

} // namespace
} // namespace shim::ge
