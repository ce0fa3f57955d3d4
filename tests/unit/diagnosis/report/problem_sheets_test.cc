// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnosis/made_diagnosis.h"
#include "diagnosis/made_ranks.h"
#include "mpa/diagnosis/report/outputs.h"
#include "support/in_chinese.h"

namespace mpa {
namespace {

struct MadeSheets {
  RankDiagnosis part = MadeRank();
  Diagnosis diagnosis = MadeDiagnosis();
  Report Of() {
    Report report;
    report.ranks = {0, 1};
    AddProblemSheets({{0, &part}, {1, &part}}, diagnosis, report);
    return report;
  }
};

std::vector<std::string> NamesOf(const Report& report) {
  std::vector<std::string> names;
  for (const Sheet& sheet : report.sheets) names.push_back(sheet.name);
  return names;
}

const Sheet& SheetNamed(const Report& report, const std::string& name) {
  for (const Sheet& sheet : report.sheets) {
    if (sheet.name == name) return sheet;
  }
  throw std::out_of_range(name);
}

TEST(ProblemSheets, HaveTheColumnsOfThePythonToolFirst) {
  MadeSheets made;
  made.diagnosis.findings = {MadeFinding("host.dataloader", 8'000'000)};
  const Report report = made.Of();
  const Sheet& problems = SheetNamed(report, "problems");
  std::vector<std::string> columns;
  for (const Column& column : problems.columns) columns.push_back(column.name);
  columns.resize(8);
  EXPECT_EQ(columns, (std::vector<std::string>{"category", "description", "suggestion",
                                               "problem count", "total_time(us)", "time ratio",
                                               "income(us)", "income ratio"}));
  const std::vector<Cell>& row = problems.rows[0].cells;
  EXPECT_EQ(row[0], Cell("Slow Dataloader Issues"));
  EXPECT_EQ(row[3], Cell(3.0));
  EXPECT_EQ(row[4], Cell(std::int64_t{5'000'000}));
  EXPECT_EQ(row[5], Cell(0.05));  // 5 of 100 ms
  EXPECT_EQ(row[6], Cell(std::int64_t{8'000'000}));
  EXPECT_EQ(row[7], Cell(0.08));
  EXPECT_EQ(row[8], Cell("medium"));
}

TEST(ProblemSheets, KernelsOfManyRanksAreTheLongestOfEach) {
  MadeSheets made;
  KernelList& kernels = made.part.analyzers.on_some_cores;
  kernels = {};
  kernels.count = 700;
  for (TimeNs dur = 600; dur > 0; --dur) {
    KernelRow& kernel = kernels.rows.emplace_back();
    kernel.name = "k";
    kernel.dur = dur;
  }
  const auto report_of = [&](std::size_t ranks) {
    Report report;
    report.ranks = {0, 1};
    AddProblemSheets(std::vector<DiagnosedRank>(ranks, {0, &made.part}), made.diagnosis, report);
    return report;
  };
  const Report few = report_of(2);
  EXPECT_EQ(SheetNamed(few, "Block Dim Issues").rows.size(), 1200U);
  EXPECT_TRUE(few.notes.empty());
  const Report many = report_of(200);
  const Rows& rows = SheetNamed(many, "Block Dim Issues").rows;
  ASSERT_EQ(rows.size(), 100'000U);
  EXPECT_EQ(rows[499].cells[3], Cell(std::int64_t{101}));
  EXPECT_EQ(rows[500].cells[3], Cell(std::int64_t{600})) << "of the next rank";
  EXPECT_EQ(many.notes, std::vector<std::string>{"Block Dim Issues has the 500 longest kernels of"
                                                 " each rank; 40000 shorter ones are left out"});
}

TEST(ProblemSheets, TheOverallSummaryAddsUp) {
  MadeSheets made;
  const Report report = made.Of();
  const Sheet& overall = SheetNamed(report, "Overall Summary");
  const auto time_of = [&](const std::string& index) {
    for (const Row& row : overall.rows) {
      if (row.cells[0] == Cell(index)) return std::get<std::int64_t>(row.cells[1]);
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(time_of("Computing Time"), 30'400'000);
  EXPECT_EQ(time_of("    -- Matmul"), 30'400'000);
  EXPECT_EQ(time_of("Uncovered Communication Time"), 30'800'000);
  EXPECT_EQ(time_of("    -- Wait"), 20'400'000);
  EXPECT_EQ(time_of("    -- Transmit"), 10'400'000);
  EXPECT_EQ(time_of("Free Time"), 38'800'000);
  EXPECT_EQ(time_of("E2E Time"), 100'000'000);
}

TEST(ProblemSheets, AnalyzersHaveSheetsWhereTheyFoundSomething) {
  MadeSheets made;
  EXPECT_EQ(NamesOf(made.Of()), (std::vector<std::string>{"problems", "Overall Summary",
                                                          "Step Accounting", "slow rank"}));
  made.part.analyzers.compiles = 19;
  made.part.analyzers.compile_time = 14'000'000;
  MovedRow moved{"hcom_allReduce__1_0_1", 7, {1, 1'000'000, 100'000}, {}, {1, 500'000, 20'000}};
  made.part.analyzers.moved = {moved};
  const Report report = made.Of();
  EXPECT_EQ(NamesOf(report), (std::vector<std::string>{
                                 "problems", "observations", "Overall Summary", "Step Accounting",
                                 "slow rank", "slow link", "Operator Dispatch Issues",
                                 "Byte Alignment Analysis", "Packet Analysis"}));
  const std::vector<Cell>& link = SheetNamed(report, "slow link").rows[0].cells;
  EXPECT_EQ(link[0], Cell(std::int64_t{7}));
  EXPECT_EQ(link[5], Cell(10.0));  // a megabyte in 100 us
  EXPECT_EQ(link[6], Cell(1.0));
  // One row of each for both ranks together, without a price.
  const Sheet& observations = SheetNamed(report, "observations");
  ASSERT_EQ(observations.rows.size(), 3u);
  EXPECT_EQ(observations.rows[0].cells[0], Cell("Operator Dispatch Issues"));
  EXPECT_EQ(observations.rows[0].cells[3], Cell(std::int64_t{38}));
  EXPECT_EQ(observations.columns.size(), 5u);
  EXPECT_TRUE(SheetNamed(report, "problems").rows.empty());
}

TEST(ProblemSheets, WhatAFindingPricesIsNotSaidAgain) {
  MadeSheets made;
  made.part.analyzers.compiles = 19;
  made.diagnosis.findings = {MadeFinding("host.aclop", 8'000'000)};
  const Report report = made.Of();
  EXPECT_EQ(SheetNamed(report, "problems").rows.size(), 1u);
  EXPECT_EQ(SheetNamed(report, "Operator Dispatch Issues").rows.size(), 2u);
}

TEST(ProblemSheets, SlowRanksAddUpToTheStep) {
  MadeSheets made;
  const Report report = made.Of();
  const Sheet& ranks = SheetNamed(report, "slow rank");
  ASSERT_EQ(ranks.rows.size(), 4u);  // two steps of two ranks
  for (const Row& row : ranks.rows) {
    EXPECT_EQ(std::get<std::int64_t>(row.cells[2]) + std::get<std::int64_t>(row.cells[3]) +
                  std::get<std::int64_t>(row.cells[4]),
              10'000'000);
  }
}

TEST(ProblemSheets, SheetsHaveChineseNames) {
  MadeSheets made;
  EXPECT_EQ(NamesOf(InChinese([&] { return made.Of(); })),
            (std::vector<std::string>{"问题综述", "整网耗时分析", "step耗时明细", "慢卡分析"}));
}

// Six tasks of 1 MB at 10 GB/s alone, six at 5 GB/s beside computing: all of those belong to the
// first operation. The other one is a little slower only.
TEST(ProblemSheets, OperationsThatLoseBandwidthToComputingAreListed) {
  constexpr std::int64_t kMb = 1'000'000;
  MadeSheets made;
  const auto slow = static_cast<NameId>(made.part.names.size());
  made.part.names.insert(made.part.names.end(), {"hcom_allReduce__1", "hcom_allReduce__2", "SDMA"});
  made.part.operations.resize(2);
  made.part.operations[0].name = slow;
  made.part.operations[1].name = slow + 1;
  made.part.transfers = {{.operation = 0,
                          .peer = 1,
                          .transport = slow + 2,
                          .all = {12, 12 * kMb, 1'800'000},
                          .beside = {6, 6 * kMb, 1'200'000}},
                         {.operation = 1,
                          .peer = 1,
                          .transport = slow + 2,
                          .all = {1, kMb, 110'000},
                          .beside = {1, kMb, 110'000}}};
  const Report report = made.Of();
  const Sheet& sheet = SheetNamed(report, "Bandwidth Contention Analysis");
  ASSERT_EQ(sheet.rows.size(), 2);  // one of either rank
  EXPECT_EQ(sheet.rows[0].cells, (std::vector<Cell>{"hcom_allReduce__1", std::int64_t{1'200'000},
                                                    5.0, 10.0, "SDMA", std::int64_t{0}}));
  made.part.transfers[0].beside.time = 650'000;  // 9.2 GB/s, and 5.2 alone
  for (const std::string& name : NamesOf(made.Of()))
    EXPECT_NE(name, "Bandwidth Contention Analysis");
}

// The second sequence is of either kind; the third one was cut off by its limit and counts all the
// same.
TEST(ProblemSheets, SequencesOfKernelsHaveASheetOfEitherKind) {
  MadeSheets made;
  SequenceList& list = made.part.analyzers.sequences;
  list.rows = {{.first = 4,
                .last = 6,
                .count = 7,
                .total = 9'000'000,
                .busy = 2'000'000,
                .host_bound = true,
                .names = {"a", "b", "c"}},
               {.first = 9,
                .last = 12,
                .count = 6,
                .total = 800'000,
                .busy = 300'000,
                .moving = 250'000,
                .host_bound = true,
                .mte_bound = true,
                .names = {}}};
  list.count = 3;
  list.total = 10'000'000;
  list.busy = 2'500'000;
  list.moving = 500'000;
  const Report report = made.Of();
  const Sheet& host = SheetNamed(report, "Host Bound Operator Sequences");
  ASSERT_EQ(host.rows.size(), 4u);  // two of either rank
  const auto number = [](std::int64_t value) { return Cell(value); };
  EXPECT_EQ(host.rows[0].cells,
            (std::vector<Cell>{number(4), number(6), number(9'000'000), number(2'000'000), Cell(),
                               number(7), "False", "True", "a, b, c", number(0)}));
  const Sheet& mte = SheetNamed(report, "MTE Bound Operator Sequences");
  ASSERT_EQ(mte.rows.size(), 2u);
  EXPECT_EQ(mte.rows[1].cells,
            (std::vector<Cell>{number(9), number(12), number(800'000), number(300'000),
                               number(250'000), number(6), "True", "True", "", number(1)}));
  std::vector<std::string> columns;
  for (const Column& column : host.columns) columns.push_back(column.name);
  EXPECT_EQ(columns, (std::vector<std::string>{"start index", "end index", "total time(us)",
                                               "execution time(us)", "mte time(us)", "occurrences",
                                               "mte bound", "host bound", "op_names", "rank_id"}));
  const std::vector<Cell>& problem = SheetNamed(report, "observations").rows[0].cells;
  EXPECT_EQ(problem[0], Cell("Fusible Operator Analysis"));
  EXPECT_EQ(problem[1], Cell("repeated sequences of kernels that could be fused: 6. They take"
                             " 20.000 ms, of which kernels run for"
                             " 5.000 ms; 0.750 of the time are gaps, 0.050 loads and stores"));
  EXPECT_EQ(problem[3], number(6));
  EXPECT_EQ(problem[4], number(20'000'000));
  list.moving = 0;  // without counters
  EXPECT_EQ(SheetNamed(made.Of(), "observations").rows[0].cells[1],
            Cell("repeated sequences of kernels that could be fused: 6. They take 20.000 ms, of"
                 " which kernels run for"
                 " 5.000 ms; 0.750 of the time are gaps"));
  const std::vector<std::string> names = NamesOf(InChinese([&] { return made.Of(); }));
  EXPECT_EQ(names[names.size() - 2], "基于host瓶颈的算子序列分析");
  EXPECT_EQ(names.back(), "基于mte瓶颈的算子序列分析");
}

TEST(ProblemSheets, VariablesThatCostTimeAreListedWithTheirValues) {
  MadeSheets made;
  made.diagnosis.findings = {MadeFinding("env.check", 0)};
  made.diagnosis.findings[0].setting = FoundSetting{"TASK_QUEUE_ENABLE", {{"0", {1}}}};
  made.diagnosis.findings[0].ranks = {1};
  made.part.settings = {{"ACLNN_CACHE_LIMIT", "9999"},
                        {"HOST_CACHE_CAPACITY", "0"},
                        {"PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True,max_split_size_mb:64"},
                        {"TASK_QUEUE_ENABLE", "0"}};
  const Report report = made.Of();
  const Sheet& sheet = SheetNamed(report, "Environment Variable Issues");
  ASSERT_EQ(sheet.rows.size(), 3);  // the finding is of rank 1 alone
  EXPECT_EQ(sheet.rows[0].cells[0], Cell("ACLNN_CACHE_LIMIT"));
  EXPECT_EQ(sheet.rows[0].cells[1], Cell("9999"));
  EXPECT_EQ(sheet.rows[0].cells[3], Cell("unset ACLNN_CACHE_LIMIT (10000 is its default)"));
  EXPECT_EQ(sheet.rows[0].cells[4], Cell(std::int64_t{0}));
  EXPECT_EQ(sheet.rows[2].cells[0], Cell("TASK_QUEUE_ENABLE"));
  EXPECT_EQ(sheet.rows[2].cells[1], Cell("0"));
  EXPECT_EQ(sheet.rows[2].cells[3], Cell("TASK_QUEUE_ENABLE=2 (raises peak device memory)"));
  EXPECT_EQ(sheet.rows[2].cells[4], Cell(std::int64_t{1}));
}

TEST(ProblemSheets, VariablesThatOnlyDifferShouldBeEqual) {
  MadeSheets made;
  made.diagnosis.findings = {MadeFinding("env.check", 0)};
  made.diagnosis.findings[0].setting =
      FoundSetting{"HCCL_BUFFSIZE", {{"", {0}}, {"400", {1}}}, true};
  const Report report = made.Of();
  const std::vector<Cell>& row = SheetNamed(report, "Environment Variable Issues").rows[0].cells;
  EXPECT_EQ(row[1], Cell(""));
  EXPECT_EQ(row[3], Cell("set the same value on all ranks"));
}

}  // namespace
}  // namespace mpa
