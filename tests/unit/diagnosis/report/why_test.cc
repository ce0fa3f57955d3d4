// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "diagnosis/made_diagnosis.h"
#include "mpa/base/columns.h"
#include "mpa/diagnosis/report/outputs.h"
#include "support/failures.h"
#include "support/in_chinese.h"

namespace mpa {
namespace {

std::string WhyText(const Diagnosis& diagnosis, std::size_t finding, std::size_t places = 8) {
  std::string text;
  for (const std::string& line : WhyLines(diagnosis, diagnosis.findings[finding], places)) {
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
  diagnosis.innocent_calls = {{"aten::item", 9'000'000, "rank.late"}};
  diagnosis.hidden = {MadeFinding("host.gc", 0)};
  diagnosis.hidden[0].alone = 7'000'000;
  diagnosis.hidden[0].after = {"rank.late"};
  return diagnosis;
}

TEST(Why, SaysWhatItWinsAndHowSureItIs) {
  const std::string text = WhyText(TwoFindings(), 1);
  EXPECT_HAS_TEXT(text, "MEDIUM blocking copies stop the host: saves 8.0 ms (alone 1.0 ms)\n");
  EXPECT_HAS_TEXT(text,
                  "  gain       8.0 ms of a step of 100.0 ms; alone 1.0 ms; at most 8.0 ms\n");
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
  EXPECT_HAS_TEXT(first, "  covers     host.gc: alone 7.0 ms, hardly anything more after this\n");
  EXPECT_EQ(WhyText(TwoFindings(), 1).find("covers"), std::string::npos);
  EXPECT_HAS_TEXT(first, "  explains   aten::item, 9.0 ms\n");
  EXPECT_HAS_TEXT(first, "  ranks      rank 5\n");
}

TEST(Why, SaysWhichValuesAVariableHas) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("env.check", 0)};
  diagnosis.findings[0].setting =
      FoundSetting{"HCCL_BUFFSIZE", {{"", {0}}, {"400", {1}}}, true, "comm.buffer"};
  const std::string text = WhyText(diagnosis, 0);
  EXPECT_HAS_TEXT(text, "INFO the ranks have different values of HCCL_BUFFSIZE\n");
  EXPECT_HAS_TEXT(
      text,
      "  set        no value on rank 0\n  set        400 on rank 1\n  adds to    comm.buffer\n");
  EXPECT_HAS_TEXT(text, "  where      profiler_metadata.json");
  EXPECT_HAS_TEXT(InChinese([&] { return WhyText(diagnosis, 0); }),
                  "  取值       未设置：rank 0\n");
}

TEST(Why, ShowsThePlaces) {
  Diagnosis diagnosis = TwoFindings();
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1), "rank 0: aten::to\n");
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1), "at 7 ns, trace_view.json: host_ops\n");
  auto& places = diagnosis.findings[1].evidence;
  places.assign(10, places[0]);
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1, 3), "7 more: --evidence N\n");
  places.clear();
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1), "the capture does not say\n");
}

TEST(Why, SpeaksChinese) {
  const std::string text = InChinese([&] { return WhyText(TwoFindings(), 0); });
  EXPECT_HAS_TEXT(text, "严重 集合通信等待 rank 5");
  EXPECT_HAS_TEXT(text, "  掩盖了     host.h2d\n");
}

TEST(Why, LongNamesStayWithinTheScreen) {
  Diagnosis diagnosis = TwoFindings();
  diagnosis.findings[1].evidence[0].name = std::string(500, 'x') + "\n\x1b[31m";
  for (int rank = 0; rank < 4000; ++rank) diagnosis.findings[1].ranks.push_back(2 * rank);
  const std::string text = WhyText(diagnosis, 1);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

Diagnosis WithChain() {
  Diagnosis diagnosis = TwoFindings();
  FindingChain chain;
  chain.late.emplace();
  chain.late->rank = 3;
  chain.late->compared = 8;
  chain.late->lateness = 4'000'000;
  chain.late->share = 0.75;
  chain.late->explained = Explained::kMainly;
  chain.late->categories = {{"free.dispatch.op", 4'000'000, 1'000'000},
                            {"free.python", 1'000'000, 0}};
  for (std::int64_t rank = 0; rank < 1000; ++rank) chain.late->waiting.push_back({rank, 4'000'000});
  chain.late->divergence = Divergence{
      3, 1, 10, "MatMulV3", "64,64", "", "", 2'000'000, "hcom_allReduce__1_0", 4'000'000};
  chain.arrivals = {{"hcom_allReduce__1_0", 10, 4'000'000, {{0, 4'100'000}}, 0, 0},
                    {"hcom_allReduce__1_3", 10, 50'000, {{0, 50'000}}, 27'000'000, 12'100'000}};
  chain.path = {{3, "free.dispatch.op", 3'200'000}, {-1, "hcom_allReduce__1_0", 800'000}};
  chain.more_path = 2;
  diagnosis.findings[0].chain = std::move(chain);
  return diagnosis;
}

TEST(Why, ShowsTheChainOfEvidence) {
  const std::string text = WhyText(WithChain(), 0);
  EXPECT_HAS_TEXT(
      text, "  work       rank 3, a step                       own  usual of 8      excess\n");
  EXPECT_HAS_TEXT(text, "operator calls                    4.0 ms      1.0 ms     +3.0 ms\n");
  EXPECT_HAS_TEXT(text, "together                          5.0 ms      1.0 ms     +4.0 ms\n");
  EXPECT_HAS_TEXT(text, "  late by    4.0 ms a step; mainly operator calls (75 %)\n");
  EXPECT_HAS_TEXT(text, "  waiting    rank 0 4.0 ms, rank 1 4.0 ms, rank 2 4.0 ms; 997 more\n");
  EXPECT_HAS_TEXT(text,
                  "  differs    first at MatMulV3 (64,64), step 10: 2.0 ms behind rank 1; in the\n"
                  "               end 4.0 ms late to hcom_allReduce__1_0\n");
  EXPECT_HAS_TEXT(text, "  arrivals   hcom_allReduce__1_0, step 10: 4.0 ms after the others\n");
  EXPECT_HAS_TEXT(text, "hcom_allReduce__1_3, step 10: 50.0 us after the others\n");
  EXPECT_HAS_TEXT(text, "came 27.0 ms after the first one; called for 12.1 ms after it\n");
  EXPECT_HAS_TEXT(text, "3.2 ms a step\n");
  EXPECT_HAS_TEXT(text, "rank 5: hcom_allReduce__1_0 0.8 ms a step\n");
  EXPECT_HAS_TEXT(text, "2 shorter pieces\n");
  EXPECT_HAS_TEXT(InChinese([&] { return WhyText(WithChain(), 0); }), "  等待       rank 0 4.0 ms");
}

TEST(Why, NamesTheOperatorThatLaunchedTheKernel) {
  Diagnosis diagnosis = WithChain();
  diagnosis.findings[0].chain->late->divergence->op = "aten::linear";
  EXPECT_HAS_TEXT(WhyText(diagnosis, 0),
                  "  differs    first at MatMulV3 (64,64) of aten::linear, step 10:");
  diagnosis.findings[0].chain->late->divergence->line = "train.py:90";
  EXPECT_HAS_TEXT(WhyText(diagnosis, 0),
                  "first at MatMulV3 (64,64) of aten::linear at train.py:90,");
  EXPECT_HAS_TEXT(InChinese([&] { return WhyText(diagnosis, 0); }),
                  "首次出现于 MatMulV3 (64,64)，算子 aten::linear（train.py:90）");
}

TEST(Why, ShowsTenStepsThatStall) {
  Diagnosis diagnosis = WithChain();
  auto& stalls = diagnosis.findings[0].chain->stalls;
  for (std::int32_t step = 0; step < 10; ++step)
    stalls.push_back({step + 20, step % 3, 2'000'000, 500'000});
  const std::string ten = WhyText(diagnosis, 0);
  EXPECT_HAS_TEXT(ten,
                  "  stalls     step 20: rank 0 takes 2.0 ms more than usual, the next 0.5 ms\n");
  EXPECT_HAS_TEXT(ten, "             step 29: rank 0 takes");
  EXPECT_EQ(ten.find("more: --json lists them"), std::string::npos);
  stalls.push_back({30, 1, 2'000'000, 0});
  stalls.push_back({31, 1, 2'000'000, 0});
  const std::string twelve = WhyText(diagnosis, 0);
  EXPECT_HAS_TEXT(twelve, "             2 more: --json lists them\n");
  EXPECT_EQ(twelve.find("step 30"), std::string::npos);
}

TEST(Why, ShortTimesAreInMicroseconds) {
  Diagnosis diagnosis = TwoFindings();
  diagnosis.findings[1].evidence[0].dur = 12'300;
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1), "  longest 12.3 us at 7 ns, trace_view.json: host_ops\n");
  diagnosis.findings[1].evidence[0].dur = 100'000;
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1), "  longest 0.1 ms at 7 ns");
}

TEST(Why, ShowsTheLineOfTheProgram) {
  Diagnosis diagnosis = TwoFindings();
  diagnosis.findings[1].evidence[0].line = "train.py:90";
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1), "rank 0: aten::to at train.py:90\n");
  diagnosis.findings[1].evidence[0].name = std::string(200, 'x');
  EXPECT_HAS_TEXT(WhyText(diagnosis, 1), " at train.py:90\n");
}

}  // namespace
}  // namespace mpa
