// SPDX-License-Identifier: Apache-2.0
// What follows from the framework and the device together, against planted contents and against
// the tables that the profiler's own parser wrote.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mpa/io/csv_file.h"
#include "mpa/io/numbers.h"
#include "mpa/io/sqlite.h"
#include "mpa/raw/summaries.h"
#include "raw/raw_captures.h"

namespace mpa::raw {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;
using test::PlantedCapture;

class WholeCapture : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    captures_ = test::SharedRawCaptures(GetParam());
    MPA_SKIP_WITHOUT(captures_);
  }
  std::vector<PlantedCapture> captures_;
};

// "<start of the operator> <correlation> <start of the work> task|whole", in order.
Lines PlantedLinks(const Json& truth) {
  Lines lines;
  for (const Json& flow : truth["flows"]) {
    if (flow["op"].is_null() || flow["correlation"].is_null()) continue;
    const Json& work =
        truth[flow["target"].get<std::string>() + "s"][flow["index"].get<std::size_t>()];
    // The task around the parts of a collective is not shown.
    if (work.value("host_task_type", "") == "FFTS_PLUS" && flow["target"] == "task") continue;
    lines.push_back(fmt::format("{} {} {} {}",
                                truth["host_ops"][flow["op"].get<std::size_t>()]["start_ns"].dump(),
                                flow["correlation"].dump(), flow["start_ns"].dump(),
                                flow["target"] == "collective" ? "whole" : "task"));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

Lines FoundLinks(const Session& session) {
  Lines lines;
  const DeviceLinks& links = session.links;
  for (std::size_t i = 0; i < links.Size(); ++i) {
    const bool is_task = links.task[i] >= 0;
    lines.push_back(fmt::format("{} {} {} {}", session.ops.start[links.op[i]], links.correlation[i],
                                is_task ? session.tasks.start[links.task[i]]
                                        : session.collectives.start[links.collective[i]],
                                is_task ? "task" : "whole"));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST_P(WholeCapture, OperatorsAreLinkedToWhatTheyLaunched) {
  for (const PlantedCapture& capture : captures_) {
    const Lines planted = PlantedLinks(capture.truth);
    const Lines found = FoundLinks(ReadSession(capture.path, Parts::kAll));
    Lines differences;
    std::set_symmetric_difference(planted.begin(), planted.end(), found.begin(), found.end(),
                                  std::back_inserter(differences));
    EXPECT_EQ(differences, Lines());
  }
}

TEST_P(WholeCapture, StepsLastOnTheDeviceAsPlanted) {
  for (const PlantedCapture& capture : captures_) {
    const Session session = ReadSession(capture.path, Parts::kFramework | Parts::kCann);
    std::vector<TimeNs> start, end;
    for (const Json& step : capture.truth["steps"]) {
      start.push_back(step["device_start_ns"].get<TimeNs>());
      end.push_back(step["device_end_ns"].get<TimeNs>());
    }
    EXPECT_EQ(session.steps.device_start, start);
    EXPECT_EQ(session.steps.device_end, end);
  }
}

// Expects that a cell in microseconds says what the value in nanoseconds says.
void ExpectMicros(std::string_view cell, double ns, double tolerance, std::string_view what) {
  EXPECT_NEAR(std::stod(std::string(cell)) * 1000, ns, tolerance) << what;
}

TEST_P(WholeCapture, StepTimesAreThoseOfTheProfiler) {
  for (const PlantedCapture& capture : captures_) {
    const Session session = ReadSession(capture.path, Parts::kFramework | Parts::kCann);
    const auto kernels = static_cast<double>(session.kernels.Size());
    io::CsvFile csv(capture.parsed / "step_trace_time.csv");
    for (const StepTime& time : StepTimes(session, StepTimeForm::kText)) {
      ASSERT_TRUE(csv.Next());
      const auto expect = [&](std::string_view column, double ns, double tolerance) {
        ExpectMicros(csv[csv.Require(column)], ns, tolerance, column);
      };
      EXPECT_EQ(csv[csv.Require("Step")], fmt::format("{}", time.step));
      // Each of its terms may be 1 ns beside the exact value.
      expect("Computing", time.computing, kernels);
      expect("Communication(Not Overlapped)", time.exposed_communication, kernels);
      expect("Overlapped", time.overlapped, kernels);
      expect("Communication", time.communication, kernels);
      // HWTS: for the profiler the idle time before the first step begins with a kernel from
      // before the collection, so that it belongs to no step.
      const bool begins_idle = GetParam() == std::string_view("hwts") && time.step == 5;
      expect("Free", time.free, begins_idle ? 30'000 : kernels);
      expect("Bubble", time.bubble, 1);
      // Differences of epoch microseconds as doubles.
      expect("Stage", time.stage, begins_idle ? 30'000 : 500);
      expect("Preparing", time.preparing, 500);
    }
    EXPECT_FALSE(csv.Next());
  }
}

TEST_P(WholeCapture, StepTimesOfTheDatabaseAreThoseOfTheProfiler) {
  for (const PlantedCapture& capture : captures_) {
    const Session session = ReadSession(capture.path, Parts::kFramework | Parts::kCann);
    const io::Database database(capture.parsed / "analysis.db");
    if (!database.HasTable("StepTraceTime")) continue;
    io::Statement rows = database.Query(
        "SELECT step, computing, communication_not_overlapped, overlapped, communication, free,"
        " stage, bubble, communication_not_overlapped_and_exclude_receive, preparing"
        " FROM StepTraceTime ORDER BY rowid");
    for (const StepTime& time : StepTimes(session, StepTimeForm::kDatabase)) {
      if (!rows.Step()) break;  // for HWTS chips the profiler writes none
      EXPECT_EQ(rows.Text(0), fmt::format("{}", time.step));
      int column = 0;
      for (const double ns :
           {time.computing, time.exposed_communication, time.overlapped, time.communication,
            time.free, time.stage, time.bubble, time.exposed_without_receive, time.preparing}) {
        ++column;
        const std::string cell(rows.Text(column));
        ExpectMicros(cell, ns, 20, fmt::format("column {}", column));
      }
    }
    EXPECT_FALSE(rows.Step());
  }
}

TEST_P(WholeCapture, OperatorTimesAreThoseOfTheProfiler) {
  for (const PlantedCapture& capture : captures_) {
    const Session session = ReadSession(capture.path, Parts::kAll);
    const OperatorTimes times = SumOperatorTimes(session);
    io::CsvFile csv(capture.parsed / "operator_details.csv");
    for (std::size_t row = 0; row < session.ops.Size(); ++row) {
      const std::string_view name = session.strings.View(session.ops.name[row]);
      if (name.find("ProfilerStep#") != std::string_view::npos) continue;
      ASSERT_TRUE(csv.Next());
      const auto expect = [&](std::string_view column, double ns) {
        ExpectMicros(csv[csv.Require(column)], ns, 0.6, name);
      };
      EXPECT_EQ(csv[csv.Require("Name")], name);
      expect("Host Self Duration(us)", static_cast<double>(times.host_self[row]));
      expect("Host Total Duration(us)", static_cast<double>(times.host_total[row]));
      expect("Device Self Duration(us)", times.device_self[row]);
      expect("Device Total Duration(us)", times.device_total[row]);
      expect("Device Self Duration With AICore(us)", times.cube_self[row]);
      expect("Device Total Duration With AICore(us)", times.cube_total[row]);
    }
    EXPECT_FALSE(csv.Next());
  }
}

// Bytes of a cell in the given unit; -1: empty.
std::int64_t Bytes(std::string_view cell, double unit) {
  return cell.empty() ? -1 : std::llround(std::stod(std::string(cell)) * unit);
}

// A time in the profiler's table of what CANN recorded is off by the difference of two clocks.
void ExpectTime(std::string_view cell, TimeNs time, TimeNs tolerance) {
  EXPECT_NEAR(static_cast<double>(io::NsFromMicros(cell).value_or(-1) - time), 0,
              static_cast<double>(tolerance));
}

constexpr double kKilobyte = 1024;
constexpr double kMegabyte = 1024 * 1024;
constexpr TimeNs kCannTolerance = 30;
constexpr TimeNs kSampleTolerance = 256;  // these times went through doubles

TEST_P(WholeCapture, OperatorMemoryIsThatOfTheProfiler) {
  for (const PlantedCapture& capture : captures_) {
    if (!exists(capture.parsed / "operator_memory.csv")) continue;
    const Session session = ReadSession(capture.path, Parts::kAll);
    io::CsvFile csv(capture.parsed / "operator_memory.csv");
    for (const AllocationLife& life : AllocationLives(session)) {
      ASSERT_TRUE(csv.Next());
      const auto cell = [&](std::string_view column) { return csv[csv.Require(column)]; };
      const TimeNs tolerance = life.cann ? kCannTolerance : 0;
      EXPECT_EQ(cell("Name"),
                fmt::format("{}{}", life.cann ? "cann::" : "", session.strings.View(life.name)));
      EXPECT_EQ(Bytes(cell("Size(KB)"), kKilobyte), life.bytes);
      ExpectTime(cell("Allocation Time(us)"), life.allocated, tolerance);
      ExpectTime(cell("Release Time(us)"), life.released, tolerance);
      ExpectTime(cell("Active Release Time(us)"), life.active_released, tolerance);
      EXPECT_EQ(Bytes(cell("Allocation Total Allocated(MB)"), kMegabyte), life.allocated_total);
      EXPECT_EQ(Bytes(cell("Allocation Total Reserved(MB)"), kMegabyte), life.reserved_total);
      EXPECT_EQ(Bytes(cell("Allocation Total Active(MB)"), kMegabyte), life.active_total);
      EXPECT_EQ(Bytes(cell("Release Total Allocated(MB)"), kMegabyte), life.released_total);
      EXPECT_EQ(Bytes(cell("Release Total Reserved(MB)"), kMegabyte), life.released_reserved);
      EXPECT_EQ(Bytes(cell("Release Total Active(MB)"), kMegabyte), life.released_active);
      EXPECT_EQ(cell("Device Type"), fmt::format("NPU:{}", life.device));
    }
    EXPECT_FALSE(csv.Next());
  }
}

TEST_P(WholeCapture, MemoryRecordsAreThoseOfTheProfiler) {
  for (const PlantedCapture& capture : captures_) {
    if (!exists(capture.parsed / "memory_record.csv")) continue;
    const Session session = ReadSession(capture.path, Parts::kAll);
    io::CsvFile csv(capture.parsed / "memory_record.csv");
    for (const MemoryRecord& record : MemoryRecords(session)) {
      ASSERT_TRUE(csv.Next());
      const auto cell = [&](std::string_view column) { return csv[csv.Require(column)]; };
      const std::string_view component = record.component;
      const bool is_sample = component == "APP";
      EXPECT_EQ(cell("Component"), component);
      ExpectTime(cell("Timestamp(us)"), record.time, is_sample ? kSampleTolerance : kCannTolerance);
      EXPECT_EQ(Bytes(cell("Total Allocated(MB)"), kMegabyte), record.allocated);
      EXPECT_EQ(Bytes(cell("Total Reserved(MB)"), kMegabyte), record.reserved);
      EXPECT_EQ(Bytes(cell("Total Active(MB)"), kMegabyte), record.active);
      EXPECT_EQ(cell("Stream Ptr"), record.has_stream ? fmt::format("{}", record.stream) : "");
      EXPECT_EQ(cell("Device Type"), fmt::format("NPU:{}", record.device));
    }
    EXPECT_FALSE(csv.Next());
  }
}

class CutCapture : public WholeCapture {};

TEST_P(CutCapture, LinksThatAreLeftAreAsPlanted) {
  for (const PlantedCapture& capture : captures_) {
    const Lines planted = PlantedLinks(capture.truth);
    const Lines found = FoundLinks(ReadSession(capture.path, Parts::kAll));
    Lines wrong;
    std::set_difference(found.begin(), found.end(), planted.begin(), planted.end(),
                        std::back_inserter(wrong));
    EXPECT_EQ(wrong, Lines());
    EXPECT_GT(found.size() * 10, planted.size() * 7);  // the cuts take a tenth of each file
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, WholeCapture,
                         testing::Values("level0", "level1", "stack_mstx_gc", "hwts", "two_ranks"),
                         [](const auto& capture) { return std::string(capture.param); });

INSTANTIATE_TEST_SUITE_P(Captures, CutCapture,
                         testing::Values("truncated", "truncated_device", "truncated_framework",
                                         "truncated_api_event", "truncated_task_track",
                                         "truncated_tensor_info"),
                         [](const auto& capture) { return std::string(capture.param); });

}  // namespace
}  // namespace mpa::raw
