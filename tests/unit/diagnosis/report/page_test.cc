// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "diagnosis/made_diagnosis.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/outputs.h"
#include "mpa/writers/writers.h"
#include "support/failures.h"
#include "support/html.h"
#include "support/in_chinese.h"

namespace mpa {
namespace {

using test::ExpectWellFormed;

std::string HtmlOf(const Diagnosis& diagnosis) { return FormatPage(DiagnosisPage(diagnosis)); }

TEST(DiagnosisPage, ShowsFindingsAndWhatIsNotACause) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000), MadeFinding("op.format", 9'000'000)};
  diagnosis.innocent_calls = {{"aten::item", 9'000'000, "host.h2d"}};
  diagnosis.not_judged = {{&kHostGc, "gc_detect_threshold", "set it"}};
  diagnosis.hidden = {MadeFinding("host.memory", 0)};
  diagnosis.hidden[0].alone = 7'000'000;
  diagnosis.hidden[0].after = {"host.h2d", "op.format"};
  const std::string page = HtmlOf(diagnosis);
  ExpectWellFormed(page);
  for (const char* text :
       {"What costs the step", "blocking copies stop the host", "advisor why host.h2d",
        "aten::item", "gc_detect_threshold", "saves 8.0 ms (8 %)", "saves hardly anything once",
        "[\"host.h2d, op.format\"]"}) {
    EXPECT_HAS_TEXT(page, text);
  }
}

TEST(DiagnosisPage, ACardShowsThePlaceOfItsFinding) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000), MadeFinding("op.format", 9'000'000)};
  Timeline around{.title = "MatMul on rank 0",
                  .begin = 5'000'000,
                  .end = 9'000'000,
                  .kinds = {{"var(--compute)", "kernels"}}};
  around.Lane("rank 0, stream 2");
  around.Add({6'000'000, 6'500'000, 0, "MatMul", ""});
  diagnosis.pictures.places = {{"op.format", around}};
  const std::string page = FormatPage(DiagnosisPage(diagnosis, "./result"));
  ExpectWellFormed(page);
  EXPECT_HAS_TEXT(page, "<summary>Timeline around the longest</summary><figure data-chart=\"");
  EXPECT_HAS_TEXT(page, "<figcaption>MatMul on rank 0</figcaption>");
  EXPECT_HAS_TEXT(page, "\"title\":\"rank 0, stream 2\",\"spans\":[[1,0.5,0,\"MatMul\",\"\"]]");
  EXPECT_HAS_TEXT(page, "<code>msprof-analyze advisor why host.h2d -d ./result</code>");
  EXPECT_HAS_TEXT(page,
                  "<code>msprof-analyze export timeline --around op.format -d ./result</code>");
  EXPECT_EQ(page.find("--around host.h2d"), std::string::npos) << "it has no place";
}

TEST(DiagnosisPage, SpeaksChinese) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000)};
  diagnosis.not_judged = {
      {&kRankLateHost, "the clock of the cores", "captures of more ranks or steps"}};
  const std::string page = InChinese([&] { return HtmlOf(diagnosis); });
  ExpectWellFormed(page);
  EXPECT_HAS_TEXT(page, "lang=\"zh-CN\"");
  EXPECT_HAS_TEXT(page, "阻塞式拷贝使 host 停顿");
  EXPECT_HAS_TEXT(page, "\"采集更多的卡或 step\"");
  // Its scripts find their texts there; those of an English page have them already.
  EXPECT_HAS_TEXT(page, "\"Search\":\"搜索\"");
  EXPECT_EQ(HtmlOf(diagnosis).find("id=\"texts\""), std::string::npos);
}

TEST(DiagnosisPage, TextsOfCapturesAreNoMarkup) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.level = "<b>&\"";
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000)};
  diagnosis.findings[0].key = diagnosis.findings[0].evidence[0].name = "<script>alert(1)</script>";
  diagnosis.innocent_calls = {{"<i>", 1, "<u>"}};
  diagnosis.notes = {"<s>"};
  const std::string page = HtmlOf(diagnosis);
  ExpectWellFormed(page);
  for (const char* text : {"<script>alert", "<b>&\"", "<i>", "<u>", "<s>"})
    EXPECT_EQ(page.find(text), std::string::npos) << text;
  EXPECT_HAS_TEXT(page, "&lt;script&gt;");
}

TEST(DiagnosisPage, OfNothing) { ExpectWellFormed(HtmlOf({})); }

}  // namespace
}  // namespace mpa
