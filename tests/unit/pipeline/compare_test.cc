// SPDX-License-Identifier: Apache-2.0
// From two captures on disk to the report.
#include "mpa/pipeline/compare.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mpa/base/parallel.h"
#include "support/failures.h"
#include "support/files.h"

namespace mpa {
namespace {

constexpr const char* kOutput = "ASCEND_PROFILER_OUTPUT/";

// A capture of two steps that computes for `computing` us in each and is free for 10 us.
std::string Trace(int computing) {
  const std::string dur = std::to_string(computing);
  std::string events =
      R"([{"ph":"M","name":"process_name","pid":30,"tid":0,"args":{"name":"Overlap Analysis"}},
          {"ph":"M","name":"process_name","pid":20,"tid":0,"args":{"name":"Ascend Hardware"}})";
  for (const int step : {1, 2}) {
    const int start = step * 1000;
    events += R"(,{"ph":"X","cat":"cpu_op","name":"ProfilerStep#)" + std::to_string(step) +
              R"(","pid":1,"tid":2,"ts":)" + std::to_string(start) + R"(,"dur":900})";
    events += R"(,{"ph":"X","name":"Computing","pid":30,"tid":0,"ts":)" + std::to_string(start) +
              R"(,"dur":)" + dur + "}";
    events += R"(,{"ph":"X","name":"k","pid":20,"tid":2,"ts":)" + std::to_string(start) +
              R"(,"dur":)" + dur + R"(,"args":{"Task Type":"AI_CORE"}})";
    events += R"(,{"ph":"X","name":"Free","pid":30,"tid":3,"ts":)" +
              std::to_string(start + computing) + R"(,"dur":10})";
  }
  return events + "]";
}

class CompareTest : public ::testing::Test {
 protected:
  CompareTest() {
    WriteCapture("base", 100);
    WriteCapture("new", 150);
  }
  ~CompareTest() override { SetJobs(0); }

  void WriteCapture(const std::string& name, int computing) const {
    const std::string output = name + "_ascend_pt/" + kOutput;
    dir_.Write(output + "trace_view.json", Trace(computing));
    dir_.Write(output + "kernel_details.csv",
               "Name,Type,Accelerator Core,Start Time(us),Duration(us)\nk,MatMul,AI_CORE,1000," +
                   std::to_string(computing) + "\nk,MatMul,AI_CORE,2000," +
                   std::to_string(computing) + "\n");
    dir_.Write(output + "memory_record.csv",
               "Component,Timestamp(us),Total Reserved(MB)\nPTA,1000,1024\n");
    dir_.Write(output + "communication.json",
               R"x({"step1": {"collective": {"Total Op Info": {"Communication Bandwidth Info": {
                   "SDMA": {"Transit Size(MB)": 0, "Transit Time(ms)": 0}}}}}})x");
  }
  CompareRequest Request() const {
    CompareRequest request;
    request.base = OpenRank(dir_ / "base_ascend_pt", {.force = true});
    request.comparison = OpenRank(dir_ / "new_ascend_pt", {.force = true});
    request.comparisons = {AllComparisons().front()};  // the overall one
    return request;
  }

  test::TempDir dir_;
};

// The cells of the row that begins with `label`.
std::vector<Cell> RowOf(const Report& report, const std::string& label) {
  for (const Sheet& sheet : report.sheets) {
    for (const Row& row : sheet.rows) {
      if (row.cells.at(0) == Cell(label)) return row.cells;
    }
  }
  ADD_FAILURE() << "no row " << label;
  return std::vector<Cell>(9);
}

TEST_F(CompareTest, PutsBothSidesIntoOneSheet) {
  const CompareOutcome outcome = Compare(Request());
  EXPECT_FALSE(outcome.partial);
  const std::vector<Cell> row = RowOf(outcome.report, "Computing Time");
  EXPECT_EQ(row.at(1), Cell(std::int64_t{200000}));  // twice 100 us
  EXPECT_EQ(row.at(4), Cell(std::int64_t{300000}));
  EXPECT_EQ(row.at(8), Cell(1.5));
  ASSERT_EQ(outcome.report.screens.size(), 1u);
  EXPECT_FALSE(outcome.report.screens[0].rows.empty());
}

TEST_F(CompareTest, GivesTheSameForAnyNumberOfJobs) {
  SetJobs(1);
  const Report one = Compare(Request()).report;
  SetJobs(4);
  const Report four = Compare(Request()).report;
  EXPECT_EQ(one.notes, four.notes);
  ASSERT_EQ(one.screens.size(), four.screens.size());
  EXPECT_EQ(one.screens[0].headers, four.screens[0].headers);
  EXPECT_EQ(one.screens[0].rows, four.screens[0].rows);
  ASSERT_EQ(one.sheets.size(), four.sheets.size());
  ASSERT_FALSE(one.sheets.empty());
  ASSERT_EQ(one.sheets[0].rows.size(), four.sheets[0].rows.size());
  for (std::size_t i = 0; i < one.sheets[0].rows.size(); ++i) {
    EXPECT_EQ(one.sheets[0].rows[i].cells, four.sheets[0].rows[i].cells) << "row " << i;
  }
}

TEST_F(CompareTest, ComparesTheChosenStepsOnly) {
  CompareRequest request = Request();
  request.base_step = 1;
  request.comparison_step = 2;
  const std::vector<Cell> row = RowOf(Compare(request).report, "Computing Time");
  EXPECT_EQ(row.at(1), Cell(std::int64_t{100000}));
  EXPECT_EQ(row.at(4), Cell(std::int64_t{150000}));
}

TEST_F(CompareTest, NamesTheCaptureThatLacksTheStep) {
  CompareRequest request = Request();
  request.base_step = 1;
  request.comparison_step = 7;
  const Error error = test::ErrorOf([&] { Compare(request); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "new_ascend_pt");
  EXPECT_HAS_TEXT(error.what(), "1, 2");
}

TEST_F(CompareTest, GoesOnWithoutASideFileThatIsBrokenAndSaysSo) {
  dir_.Write(std::string("new_ascend_pt/") + kOutput + "communication.json", "{\"step1\":");
  const CompareOutcome outcome = Compare(Request());
  EXPECT_TRUE(outcome.partial);
  ASSERT_EQ(outcome.report.notes.size(), 1u);
  EXPECT_HAS_TEXT(outcome.report.notes[0], "new_ascend_pt");
  EXPECT_HAS_TEXT(outcome.report.notes[0], "communication.json");
  EXPECT_EQ(RowOf(outcome.report, "Computing Time").at(4), Cell(std::int64_t{300000}));
}

TEST_F(CompareTest, CallsAReportPartialWhenRowsWereLeftOut) {
  dir_.Write(std::string("base_ascend_pt/") + kOutput + "kernel_details.csv",
             "Name,Type,Accelerator Core,Start"
             " Time(us),Duration(us)\nk,MatMul,AI_CORE,x,1\nk,MatMul,AI_CORE,1,1\n");
  const CompareOutcome outcome = Compare(Request());
  EXPECT_TRUE(outcome.partial);
  ASSERT_FALSE(outcome.report.notes.empty());
  EXPECT_HAS_TEXT(outcome.report.notes[0], "kernel_details.csv:2");
}

TEST_F(CompareTest, NotesAMissingSideFileButCallsTheReportComplete) {
  std::filesystem::remove(dir_ / (std::string("base_ascend_pt/") + kOutput + "memory_record.csv"));
  const CompareOutcome outcome = Compare(Request());
  EXPECT_FALSE(outcome.partial);
  ASSERT_EQ(outcome.report.notes.size(), 1u);
  EXPECT_HAS_TEXT(outcome.report.notes[0], "base_ascend_pt");
  EXPECT_HAS_TEXT(outcome.report.notes[0], "memory_record.csv");
}

TEST_F(CompareTest, StopsAtATraceThatIsBrokenAndNamesIt) {
  for (const int jobs : {1, 4}) {
    SetJobs(jobs);
    dir_.Write(std::string("new_ascend_pt/") + kOutput + "trace_view.json", "[nonsense]");
    const Error error = test::ErrorOf([&] { Compare(Request()); });
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
    EXPECT_HAS_TEXT(error.what(), "new_ascend_pt");
    EXPECT_HAS_TEXT(error.what(), "trace_view.json");
  }
}

TEST_F(CompareTest, ReportsTheBaseFirstWhenBothTracesAreBroken) {
  for (const char* side : {"base", "new"}) {
    dir_.Write(std::string(side) + "_ascend_pt/" + kOutput + "trace_view.json", "[nonsense]");
  }
  for (const int jobs : {1, 4}) {
    SetJobs(jobs);
    EXPECT_HAS_TEXT(test::ErrorOf([&] { Compare(Request()); }).what(), "base_ascend_pt");
  }
}

// Two kernels, of 5 us in step 1 and of 7 us in step 2.
TEST_F(CompareTest, ComparesStepsOfAGpu) {
  std::string events;
  for (const int step : {1, 2}) {
    const std::string at = std::to_string(1000 * step);
    events += std::string(step == 1 ? "" : ",") +
              R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" + std::to_string(step) +
              R"(","pid":1,"tid":1,"ts":)" + at + R"(,"dur":900},)" +
              R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":)" + at +
              R"(,"dur":)" + std::to_string(3 + 2 * step) + "}";
  }
  CompareRequest request = Request();
  request.base = request.comparison =
      OpenRank(dir_.Write("gpu.json", R"({"traceEvents": [)" + events + "]}"), {.force = true});
  request.base_step = 1;
  request.comparison_step = 2;
  const std::vector<Cell> row = RowOf(Compare(request).report, "Computing Time");
  EXPECT_EQ(row.at(1), Cell(std::int64_t{5000}));
  EXPECT_EQ(row.at(4), Cell(std::int64_t{7000}));
}

TEST_F(CompareTest, RefusesACaptureInWhichNothingHappened) {
  CompareRequest request = Request();
  request.comparison = OpenRank(dir_.Write("gpu.json", R"({"traceEvents": []})"), {.force = true});
  const Error error = test::ErrorOf([&] { Compare(request); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_HAS_TEXT(error.what(), "gpu.json");
}

TEST_F(CompareTest, LeavesTheSheetOutWhenTheDeviceDidNothing) {
  CompareRequest request = Request();
  request.comparison = OpenRank(dir_.Write("gpu.json", R"({"traceEvents": [
          {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]})"),
                                {.force = true});
  const CompareOutcome outcome = Compare(request);
  EXPECT_TRUE(outcome.report.sheets.empty());
  ASSERT_EQ(outcome.report.notes.size(), 2u);
  EXPECT_EQ(outcome.report.notes[0], outcome.report.preface);
  EXPECT_HAS_TEXT(outcome.report.preface, "device (NPU / GPU)");
  EXPECT_HAS_TEXT(outcome.report.notes[1], "gpu.json");
}

}  // namespace
}  // namespace mpa
