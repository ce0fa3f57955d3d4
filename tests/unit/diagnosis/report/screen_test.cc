// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "diagnosis/made_diagnosis.h"
#include "mpa/base/columns.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"
#include "support/in_chinese.h"

namespace mpa {
namespace {

constexpr MetricInfo kLateBy{"late_by", "ns", "arrived {} after the second-to-last rank"};

using ScreenLines = std::vector<std::string>;

std::string JoinedScreen(const ScreenLines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool ScreenHolds(const ScreenLines& lines, std::string_view text) {
  return JoinedScreen(lines).find(text) != std::string::npos;
}

// Within 25 lines of 80 columns, without control characters.
void ExpectScreenFits(const ScreenLines& lines) {
  EXPECT_LE(lines.size(), 25u) << JoinedScreen(lines);
  for (const std::string& line : lines) {
    EXPECT_LE(ColumnsOf(line), 80u) << line;
    for (const char letter : line) EXPECT_GE(static_cast<unsigned char>(letter), 0x20) << line;
  }
}

TEST(DiagnosisScreen, SharesAddUpToHundred) {
  // 30.4 + 20.4 + 10.4 + 38.8 %: the rests are 0.4, 0.4, 0.4 and 0.8, and two percents are left.
  // One goes to the largest rest, one to the first of the equal ones.
  const ScreenLines lines = DiagnosisScreen(MadeDiagnosis(), 5);
  ASSERT_GE(lines.size(), 4u);
  EXPECT_EQ(lines[0], "2 of 8 ranks captured, step 50, Level1: step 100.0 ms");
  EXPECT_EQ(lines[1],
            "  compute 30.4 (31 %), waiting for ranks 20.4 (20 %), transfer 10.4 (10 %),");
  EXPECT_EQ(lines[2], "  device free 38.8 (39 %) on rank 0");
}

TEST(DiagnosisScreen, LargestRestsAreRoundedUp) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.ranks = {0};
  diagnosis.world = 1;
  // Thirds of 33.33 %: 33 each, and the percent that is left goes to the first.
  diagnosis.accounting[0].categories = {
      {"comp.vector", 20'000'000}, {"comm.transfer", 20'000'000}, {"free.python", 20'000'000}};
  const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
  EXPECT_EQ(lines[0], "1 rank, step 50, Level1: step 100.0 ms");
  EXPECT_EQ(lines[1], "  compute 20.0 (34 %), waiting for ranks 0.0 (0 %), transfer 20.0 (33 %),");
}

TEST(DiagnosisScreen, FreeTimeBelowHalfAPercentIsOther) {
  // Garbage collections take 0.4 of 100 ms.
  EXPECT_TRUE(
      ScreenHolds(DiagnosisScreen(MadeDiagnosis(), 5), "  device free: Python 38.4, other 0.4"));
}

TEST(DiagnosisScreen, WithoutFindingsTheLargestPartIsTheLimit) {
  const ScreenLines lines = DiagnosisScreen(MadeDiagnosis(), 5);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[4], "No finding above 1 % of the step.");
  EXPECT_EQ(lines[5], "Next limit: Python, 38.4 ms (38 % of the step)");
}

// The finding takes 7.4 ms, the first of its places 2.0 of them.
TEST(DiagnosisScreen, WhatWasMeasuredStandsBeforeTheFirstOfManyPlaces) {
  Diagnosis diagnosis = MadeDiagnosis();
  Finding finding = MadeFinding("host.python", 8'000'000);
  finding.metrics = {{&kCallsPerStep, 40}, {&kTimePerStep, 7.4e6}};
  Evidence& place = finding.evidence[0];
  place.name = "train.py(90): log";
  place.line = "train.py:90";
  place.calls = 1.5;
  place.time = 2'000'000;
  place.of_all = 7'400'000;
  diagnosis.findings = {finding};
  const auto facts = [&] { return DiagnosisScreen(diagnosis, 5).at(5); };
  EXPECT_EQ(facts(), "    7.4 ms a step, 40 calls a step; most: train.py(90): log (27 %)");
  diagnosis.findings[0].evidence[0].time = 138'000;  // 2 %
  EXPECT_EQ(facts(), "    7.4 ms a step, 40 calls a step; one of many: train.py(90): log");
  diagnosis.findings[0].evidence[0].time = 7'400'000;  // the only one
  EXPECT_EQ(facts(), "    train.py(90): log: 7.4 ms a step, 40 calls a step");
  diagnosis.findings[0].evidence[0].time = 7'380'000;  // the others do not count
  EXPECT_EQ(facts(), "    train.py(90): log: 7.4 ms a step, 40 calls a step");
  diagnosis.findings[0].metrics = {{&kLateBy, 2e6}};
  diagnosis.findings[0].evidence[0].time = 1'200'000;
  diagnosis.findings[0].evidence[0].line.clear();
  diagnosis.findings[0].evidence[0].name = "hcom_allReduce_";
  EXPECT_EQ(facts(),
            "    arrived 2.0 ms after the second-to-last rank; most: hcom_allReduce_ (16 %)");
  diagnosis.findings[0].evidence[0].time = 100'000;  // an example gives way to what was measured
  diagnosis.findings[0].metrics = {{&kLateBy, 2e6}, {&kCallsPerStep, 1}, {&kCallsPerStep, 40}};
  EXPECT_EQ(facts(),
            "    arrived 2.0 ms after the second-to-last rank, 1 calls a step");
}

TEST(DiagnosisScreen, PlacesTellTheTimeOfWhatWasOnlyCounted) {
  Diagnosis diagnosis = MadeDiagnosis();
  Finding finding = MadeFinding("comm.small", 8'000'000);
  finding.metrics = {{&kCallsPerStep, 543}};
  finding.evidence[0].name = "hcom_allReduce__868_2_1";
  finding.evidence[0].time = 470'000;
  finding.evidence[0].of_all = 1'000'000;
  diagnosis.findings = {finding};
  EXPECT_EQ(DiagnosisScreen(diagnosis, 5).at(5),
            "    1.0 ms a step, 543 calls a step; most: hcom_allReduce__868_2_1 (47 %)");
}

// How much of an operation is exposed is not recorded, only what a fix takes of each.
TEST(DiagnosisScreen, WhatCommunicationExposesIsTheMeasuredTime) {
  Diagnosis diagnosis = MadeDiagnosis();
  Finding finding = MadeFinding("comm.not_overlapped", 8'000'000);
  finding.metrics = {{&kTimePerStep, 5.1e6}};
  finding.evidence[0].name = "hcom_allReduce__868_2_1";
  finding.evidence[0].time = 470'000;
  finding.evidence[0].of_all = 1'000'000;
  diagnosis.findings = {finding};
  EXPECT_EQ(DiagnosisScreen(diagnosis, 5).at(5),
            "    5.1 ms a step; most: hcom_allReduce__868_2_1 (47 %)");
}

TEST(DiagnosisScreen, SaysOnWhichRanksAFindingWithoutCulpritShows) {
  Diagnosis diagnosis = MadeDiagnosis();
  Finding finding = MadeFinding("host.h2d", 8'000'000);
  finding.ranks.clear();
  finding.seen_on = {0, 1};
  finding.is_on_all = true;
  diagnosis.findings = {finding};
  const auto title = [&] { return TitleOf(diagnosis.findings[0]); };
  EXPECT_EQ(title(), "blocking copies stop the host (all ranks)");
  diagnosis.findings[0].is_on_all = false;
  EXPECT_EQ(title(), "blocking copies stop the host (ranks 0, 1)");
  diagnosis.findings[0].seen_on = {};  // of one rank, or without places
  EXPECT_EQ(title(), "blocking copies stop the host");
}

TEST(DiagnosisScreen, AFindingHasNumberPlaceAndAction) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000)};
  diagnosis.step_after_fixes = 92'000'000;
  const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(lines[4],
            "1 MEDIUM   blocking copies stop the host                      saves 8.0 ms (8 %)");
  EXPECT_EQ(lines[5], "    aten::to: 5.0 ms a step, 3 calls a step");
  EXPECT_EQ(lines[6], "    -> pin_memory=True; .to(device, non_blocking=True)");
  EXPECT_EQ(lines[7], "After all of these: 92.0 ms");
  EXPECT_EQ(lines[8], "Next: msprof-analyze advisor why 1 -d DIR");
}

TEST(DiagnosisScreen, SaysWhatMendingItAloneWins) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000)};
  diagnosis.findings[0].alone = 6'300'000;  // 1.7 ms less, which is more than a fifth
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "saves 8.0 ms (alone 6.3 ms)"));
  diagnosis.findings[0].alone = 6'500'000;  // 1.5 ms are not
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "saves 8.0 ms (8 %)"));
}

TEST(DiagnosisScreen, ShortStepsGetMoreDecimals) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.step = 9'204'000;
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "step 9.20 ms"));
  diagnosis.step = 546'000;
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "step 0.546 ms"));
}

TEST(DiagnosisScreen, FaultsAndOpportunitiesStandTogether) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000), MadeFinding("op.format", 9'000'000)};
  const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
  EXPECT_TRUE(lines[7].starts_with("2 MEDIUM   layouts and types are converted"));
}

TEST(DiagnosisScreen, WhatIsOfTheCaptureHasAHeadingOfItsOwn) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("op.format", 9'000'000), MadeFinding("env.check", 0),
                        MadeFinding("capture.missing", 0)};
  for (std::size_t i : {1, 2}) {
    diagnosis.findings[i].metrics.clear();
    diagnosis.findings[i].evidence.clear();
  }
  const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
  EXPECT_EQ(lines[7], "Settings and memory:");
  EXPECT_TRUE(lines[8].starts_with("2 INFO"));
  EXPECT_EQ(lines[10], "About the capture:");
  EXPECT_TRUE(lines[11].starts_with("3 INFO     the captures do not show all causes"));
  EXPECT_TRUE(
      ScreenHolds(InChinese([&] { return DiagnosisScreen(diagnosis, 5); }), "关于采集：\n"));
}

TEST(DiagnosisScreen, AVariableHasItsValueItsRanksAndWhatItAddsTo) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.launch_bound", 9'000'000), MadeFinding("env.check", 0)};
  diagnosis.findings[1].setting =
      FoundSetting{"HCCL_DETERMINISTIC", {{"true", {0, 1}}}, false, "comm.inner"};
  const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
  EXPECT_EQ(lines[8],
            "2 INFO     HCCL_DETERMINISTIC=true: a fixed order of the sums slows collectives");
  EXPECT_EQ(lines[9], "    true on ranks 0, 1, adds to comm.inner");
  EXPECT_EQ(lines[10], "    -> HCCL_DETERMINISTIC=false unless results must repeat");
  EXPECT_TRUE(ScreenHolds(InChinese([&] { return DiagnosisScreen(diagnosis, 5); }),
                          "    true（rank 0, 1），影响 comm.inner\n"));
}

TEST(DiagnosisScreen, SaysThatAFindingNeedsTheNext) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 0), MadeFinding("host.sync", 9'000'000)};
  diagnosis.findings[0].pays_only_with_next = true;
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "pays only with the next finding\n"));
}

TEST(DiagnosisScreen, TheLeastShareIsThatOfTheRules) {
  Diagnosis diagnosis = MadeDiagnosis();
  SetRule("all", "least_share", 0.025, diagnosis.thresholds);
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "No finding above 2.5 % of the step.\n"));
}

TEST(DiagnosisScreen, FindingsOfTheCaptureAloneCostNothing) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("capture.missing", 0)};
  const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
  EXPECT_TRUE(ScreenHolds(lines, "No finding above 1 % of the step.\n"));
  EXPECT_FALSE(ScreenHolds(lines, "After all of these"));
  EXPECT_EQ(lines.back(), "Next: msprof-analyze advisor why 1 -d DIR");
}

TEST(DiagnosisScreen, UnsureFindingsSaySo) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("rank.late", 8'000'000)};
  diagnosis.findings[0].confidence = Certainty::kLow;
  diagnosis.findings[0].ranks = {5};
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "probably: collectives wait for rank 5"));
  EXPECT_TRUE(ScreenHolds(InChinese([&] { return DiagnosisScreen(diagnosis, 5); }),
                          "可能：集合通信等待 rank 5"));
}

TEST(DiagnosisScreen, NamesWhatOnlyLooksGuilty) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("rank.late", 8'000'000)};
  diagnosis.innocent_calls = {{"aclrtSynchronizeStream", 91'700'000, "rank.late"},
                              {"aten::nonzero", 3'000'000, ""},
                              {"third", 1, ""}};
  const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
  EXPECT_TRUE(ScreenHolds(
      lines, "Not a cause: aclrtSynchronizeStream, 91.7 ms: waits for what 1 delays\n"));
  EXPECT_TRUE(
      ScreenHolds(lines, "Not a cause: aten::nonzero, 3.0 ms: the wait itself costs nothing\n"));
  EXPECT_FALSE(ScreenHolds(lines, "third"));
}

TEST(DiagnosisScreen, NamesTheLinesOfTheProgram) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000)};
  diagnosis.findings[0].evidence[0].line = "train.py:90";
  diagnosis.innocent_calls = {{"aten::_local_scalar_dense", 91'700'000, "host.h2d", "main.py:485"}};
  const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
  EXPECT_TRUE(ScreenHolds(lines, "    aten::to at train.py:90: 5.0 ms a step, 3 calls"));
  // 80 columns: the middle of the name gives way.
  EXPECT_TRUE(ScreenHolds(lines, "r_dense at main.py:485, 91.7 ms: waits for what 1 delays\n"));
  EXPECT_TRUE(ScreenHolds(InChinese([&] { return DiagnosisScreen(diagnosis, 5); }),
                          "aten::to（train.py:90）：每个 step 5.0 ms，每个 step 3 次"));
}

TEST(DiagnosisScreen, WhatOthersMayDoAsWellIsSaidSo) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("rank.late", 50'000'000)};
  diagnosis.hidden = {MadeFinding("host.dataloader", 0)};
  diagnosis.hidden[0].alone = 3'400'000;
  diagnosis.hidden[0].after = {"rank.late"};
  diagnosis.hidden[0].if_uncaptured_ranks_do_too = true;
  EXPECT_TRUE(
      ScreenHolds(DiagnosisScreen(diagnosis, 5),
                  "\nHidden behind 1: the device waits for the data loader; saves up to 3.4 ms if\n"
                  "  others do the same\n"));
}

TEST(DiagnosisScreen, CountsWhatItLeavesOut) {
  Diagnosis diagnosis = MadeDiagnosis();
  for (int i = 0; i < 7; ++i) diagnosis.findings.push_back(MadeFinding("host.h2d", 8'000'000));
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "\n2 more: --json lists them\n"));
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 1), "\n6 more: --json lists them\n"));
}

TEST(DiagnosisScreen, CountsWhatIsFine) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.passed_checks = {&kHostGc, &kOpFp32, &kDevClock};
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "\n3 checks passed\n"));
  for (int i = 0; i < 7; ++i) diagnosis.findings.push_back(MadeFinding("host.h2d", 8'000'000));
  EXPECT_TRUE(
      ScreenHolds(DiagnosisScreen(diagnosis, 5), "\n2 more: --json lists them; 3 checks passed\n"));
}

Finding HiddenBehind(std::string_view id, TimeNs alone, std::vector<std::string> keys) {
  Finding cause = MadeFinding(id, 0);
  cause.alone = alone;
  cause.after = std::move(keys);
  return cause;
}

TEST(DiagnosisScreen, NamesWhatFindingsHide) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.sync", 9'000'000), MadeFinding("host.h2d", 8'000'000)};
  diagnosis.hidden = {HiddenBehind("host.gc", 13'000'000, {"host.h2d"})};
  EXPECT_TRUE(ScreenHolds(
      DiagnosisScreen(diagnosis, 5),
      "\nHidden behind 2: Python collects garbage in the step, 13.0 ms alone, hardly any\n"
      "  after it\n"));
  EXPECT_TRUE(
      ScreenHolds(InChinese([&] { return DiagnosisScreen(diagnosis, 5); }),
                  "\n被问题 2 掩盖：step 内 Python 垃圾回收，单独 13.0 ms，其后几乎无收益\n"));
  diagnosis.hidden = {HiddenBehind("host.gc", 13'000'000, {"host.sync", "host.h2d"}),
                      HiddenBehind("op.fp32", 3'000'000, {"host.sync"})};
  EXPECT_TRUE(ScreenHolds(
      DiagnosisScreen(diagnosis, 5),
      "\nHidden behind 1 and 1 more: Python collects garbage in the step, 13.0 ms alone,\n"
      "  hardly any after it; 1 more\n"));
}

TEST(DiagnosisScreen, NamesWhatHasToBeFixedAsWell) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000)};
  diagnosis.step_after_fixes = 72'000'000;
  diagnosis.hiding_findings_not_shown = {{"rank.late/r5", 20'000'000}};
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5),
                          "After all of these and rank.late/r5 of 'advisor all': 72.0 ms\n"));
}

TEST(DiagnosisScreen, WhatIsNotSplitIsCommunication) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.accounting[0].categories = {
      {"comp.matmul", 60'000'000}, {"comm.unsplit", 15'000'000}, {"free.python", 25'000'000}};
  const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
  EXPECT_EQ(lines[1], "  compute 60.0 (60 %), communication 15.0 (15 %),");
  EXPECT_EQ(lines[2], "  device free 25.0 (25 %) on rank 0");
}

TEST(DiagnosisScreen, ShowsARankThatNoFaultIsAbout) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.accounting.push_back({1, 50, 98'000'000, {{"comp.matmul", 98'000'000}}});
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "on rank 0"));
  diagnosis.findings = {MadeFinding("rank.late_host", 8'000'000)};
  diagnosis.findings[0].ranks = {0};
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "on rank 1"));
  diagnosis.findings.clear();
  diagnosis.culprits = {0};
  EXPECT_TRUE(ScreenHolds(DiagnosisScreen(diagnosis, 5), "on rank 1"));
}

TEST(DiagnosisScreen, RoundsEachNumberInOneWay) {
  // The rest of 0.6 % is rounded up in both places.
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.accounting[0].categories = {{"comp.matmul", 40'400'000},
                                        {"comm.wait_peer", 59'600'000}};
  const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
  EXPECT_TRUE(ScreenHolds(lines, "waiting for ranks 59.6 (60 %)"));
  EXPECT_TRUE(ScreenHolds(lines, ", 59.6 ms (60 % of the step)"));
}

// As many ranks, findings and long names as may come.
Diagnosis LargeDiagnosis() {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.world = 4096;
  diagnosis.ranks.clear();
  diagnosis.steps.clear();
  for (std::int64_t rank = 0; rank < 2048; ++rank) diagnosis.ranks.push_back(rank);
  for (std::int32_t step = 100000; step < 100900; ++step) diagnosis.steps.push_back(step);
  diagnosis.dropped_steps = {99997, 99998, 99999};
  diagnosis.level = "Level1";
  diagnosis.step = diagnosis.step_after_fixes = 123'456'789'000'000;
  AccountRow& row = diagnosis.accounting[0];
  row.rank = 2047;
  row.window = diagnosis.step;
  row.categories.clear();
  for (const std::string_view category :
       {"comp.vector", "comm.wait_peer", "comm.bubble", "comm.transfer", "copy.h2d",
        "free.dispatch.comm", "free.launch_latency", "free.sync.scalar", "free.copy", "free.aclop",
        "free.gc", "free.python", "free.device_queue"}) {
    row.categories.emplace_back(category, 9'000'000'000'000);
  }
  const std::string wild = "\x1b[31m" + std::string(300, 'x') + "\n\xff";
  for (const FindingType* entry : Catalogue()) {
    Finding finding = MadeFinding(entry->id, 9'876'543'210'000);
    finding.alone = 1;
    for (std::int64_t rank = 0; rank < 2048; rank += 2) finding.ranks.push_back(rank);
    finding.evidence[0].name = wild;
    finding.metrics.assign(12, {&kSlowerThanPeers, 1.5});
    diagnosis.findings.push_back(std::move(finding));
  }
  diagnosis.innocent_calls = {{wild, 1'000'000'000, diagnosis.findings[0].key},
                              {wild, 1'000'000'000, ""}};
  diagnosis.hidden.assign(40, diagnosis.findings[0]);
  diagnosis.hidden[0].alone = 1'000'000'000;
  diagnosis.hidden[0].after.assign(100, diagnosis.findings[0].key);
  return diagnosis;
}

TEST(DiagnosisScreen, FitsWhateverComes) {
  const Diagnosis large = LargeDiagnosis();
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const LanguageFor in(language);
    // Each kind of finding as the first one, with the next ones behind it.
    for (std::size_t first = 0; first < large.findings.size(); ++first) {
      Diagnosis diagnosis = large;
      std::rotate(diagnosis.findings.begin(),
                  diagnosis.findings.begin() + static_cast<std::ptrdiff_t>(first),
                  diagnosis.findings.end());
      const ScreenLines lines = DiagnosisScreen(diagnosis, 50);
      ExpectScreenFits(lines);
      EXPECT_TRUE(
          ScreenHolds(lines, language == Language::kEnglish ? " more: --json" : "见 --json"));
    }
  }
}

TEST(DiagnosisScreen, ShowsFiveUsualFindings) {
  Diagnosis diagnosis = MadeDiagnosis();
  for (const std::string_view id :
       {"host.dataloader", "host.h2d", "host.sync", "host.compile", "op.format", "comm.small"}) {
    diagnosis.findings.push_back(MadeFinding(id, 8'000'000));
  }
  diagnosis.innocent_calls = {{"aclrtSynchronizeStream", 91'700'000, "host.sync"},
                              {"aten::nonzero", 3'000'000, ""}};
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const LanguageFor in(language);
    const ScreenLines lines = DiagnosisScreen(diagnosis, 5);
    ExpectScreenFits(lines);
    EXPECT_TRUE(ScreenHolds(lines, "\n5 ")) << JoinedScreen(lines);
  }
}

TEST(DiagnosisScreen, ChineseCountsTwoColumns) {
  Diagnosis diagnosis = MadeDiagnosis();
  diagnosis.findings = {MadeFinding("host.h2d", 8'000'000)};
  const ScreenLines lines = InChinese([&] { return DiagnosisScreen(diagnosis, 5); });
  EXPECT_EQ(lines[0], "共 8 卡，采集 2 卡，step 50，Level1：step 耗时 100.0 ms");
  // The gain ends in column 80: 11 + 22 columns before it, 19 of its own.
  EXPECT_EQ(lines[4],
            "1 中       阻塞式拷贝使 host 停顿                             可省 8.0 ms（8 %）");
  EXPECT_EQ(ColumnsOf(lines[4]), 80u);
}

TEST(DiagnosisScreen, WithoutAnyRankNothingBreaks) {
  const ScreenLines lines = DiagnosisScreen(Diagnosis{}, 5);
  EXPECT_EQ(lines, (ScreenLines{"0 ranks: step 0.000 ms", "No finding above 1 % of the step."}));
}

TEST(Screen, ALineIsNamedOnce) {
  const auto at = [](const char* name, const char* line) { return AtLine(name, line, 60); };
  EXPECT_EQ(at("aten::item", "train.py:90"), "aten::item at train.py:90");
  EXPECT_EQ(at("train.py(90): step", "train.py:90"), "train.py(90): step");
  EXPECT_EQ(at("train.py(90): step", "train.py:9"), "train.py(90): step at train.py:9");
  EXPECT_EQ(at("aten::item", ""), "aten::item");
}

}  // namespace
}  // namespace mpa
