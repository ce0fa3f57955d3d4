// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/why.h"

#include <gtest/gtest.h>

#include "diagnosis/made_diagnosis.h"
#include "mpa/base/columns.h"
#include "support/failures.h"

namespace mpa {
namespace {

std::string WhyText(const Diagnosis& diagnosis, std::size_t finding, Language language = Language::kEnglish,
                    std::size_t places = 8) {
  std::string text;
  for (const std::string& line : WhyLines(diagnosis, diagnosis.findings[finding], language, places)) {
    EXPECT_LE(ColumnsOf(line), 80u) << line;
    text += line + "\n";
  }
  return text;
}

Diagnosis TwoFindings() {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("rank.late", 20'000'000), MadeFinding("host.h2d", 8'000'000)};
  diagnosis.findings[0].ranks = {5};
  diagnosis.findings[1].alone = 1'000'000;
  diagnosis.findings[1].after = {"rank.late"};
  diagnosis.not_causes = {{"aten::item", 9'000'000, "rank.late"}};
  return diagnosis;
}

TEST(Why, SaysWhatItWinsAndHowSureItIs) {
  const std::string text = WhyText(TwoFindings(), 1);
  EXPECT_HAS_TEXT(text, "MEDIUM blocking copies stop the host: saves 8.0 ms (alone 1.0)\n");
  EXPECT_HAS_TEXT(text, "  gain       8.0 ms of a step of 100.0 ms; alone 1.0 ms; at most 8.0 ms\n");
  EXPECT_HAS_TEXT(text, "  sure       medium\n");
  EXPECT_HAS_TEXT(text, "  ranks      all\n");
  EXPECT_HAS_TEXT(text, "  steps      1 of 1: 50\n");
  EXPECT_HAS_TEXT(text, "  measured   3 calls a step\n");
  EXPECT_HAS_TEXT(text, "  -> pin_memory=True");
}

TEST(Why, SaysWhatHidesWhat) {
  EXPECT_HAS_TEXT(WhyText(TwoFindings(), 1), "  hidden by  rank.late\n");
  const std::string first = WhyText(TwoFindings(), 0);
  EXPECT_HAS_TEXT(first, "  hides      host.h2d\n");
  EXPECT_HAS_TEXT(first, "  explains   aten::item, 9.0 ms\n");
  EXPECT_HAS_TEXT(first, "  ranks      rank 5\n");
}

TEST(Why, SaysWhichValuesAVariableHas) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("env.check", 0)};
  diagnosis.findings[0].setting = FoundSetting{"HCCL_BUFFSIZE", {{"", {0}}, {"400", {1}}}, true, "comm.buffer"};
  const std::string text = WhyText(diagnosis, 0);
  EXPECT_HAS_TEXT(text, "INFO the ranks have different values of HCCL_BUFFSIZE\n");
  EXPECT_HAS_TEXT(text, "  set        no value on rank 0\n  set        400 on rank 1\n  adds to    comm.buffer\n");
  EXPECT_HAS_TEXT(text, "  where      profiler_metadata.json");
  EXPECT_HAS_TEXT(WhyText(diagnosis, 0, Language::kChinese), "  取值       未设置：rank 0\n");
}

TEST(Why, ShowsThePlaces) {
  Diagnosis diagnosis = TwoFindings();
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1), "rank 0: aten::to\n");
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1), "at 7 ns, trace_view.json: host_ops\n");
  auto& places = diagnosis.findings[1].evidence;
  places.assign(10, places[0]);
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1, Language::kEnglish, 3), "7 more: --evidence N\n");
  places.clear();
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1), "the capture does not say\n");
}

TEST(Why, SpeaksChinese) {
  const std::string text = WhyText(TwoFindings(), 0, Language::kChinese);
  EXPECT_HAS_TEXT(text, "CRITICAL 集合通信等待 rank 5");
  EXPECT_HAS_TEXT(text, "  掩盖了     host.h2d\n");
}

TEST(Why, LongNamesStayWithinTheScreen) {
  Diagnosis diagnosis = TwoFindings();
  diagnosis.findings[1].evidence[0].name = std::string(500, 'x') + "\n\x1b[31m";
  for (int rank = 0; rank < 4000; ++rank) diagnosis.findings[1].ranks.push_back(2 * rank);
  const std::string text = WhyText(diagnosis, 1);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace mpa
