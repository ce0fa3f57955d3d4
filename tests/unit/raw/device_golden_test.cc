// SPDX-License-Identifier: Apache-2.0
// Activities and counters are those of the profiler's own databases.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mpa/io/sqlite.h"
#include "mpa/raw/session.h"
#include "raw/raw_captures.h"

namespace mpa::raw {
namespace {

std::filesystem::path DatabaseOf(const test::PlantedCapture& capture) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(capture.parsed, error)) {
    if (entry.path().filename().string().starts_with("ascend_pytorch_profiler")) {
      return entry.path();
    }
  }
  return {};
}

// Captures whose device clock ticks whole nanoseconds; with others the profiler is 1 ns off at
// times.
class DeviceOf : public ::testing::TestWithParam<const char*> {};

TEST_P(DeviceOf, HasTheActivitiesOfTheProfiler) {
  const auto captures = test::SharedRawCaptures(GetParam());
  MPA_SKIP_WITHOUT(captures);
  for (const test::PlantedCapture& capture : captures) {
    SCOPED_TRACE(capture.path.string());
    if (DatabaseOf(capture).empty()) GTEST_SKIP() << "not parsed";
    const io::Database database(DatabaseOf(capture));
    auto rows = database.Query("SELECT deviceId, type, startNs, endNs FROM OVERLAP_ANALYSIS");
    std::vector<std::vector<std::int64_t>> expected, found;
    while (rows.Step()) {
      expected.push_back(
          {rows.IntOr(0, -1), rows.IntOr(1, -1), rows.IntOr(2, -1), rows.IntOr(3, -1)});
    }
    const Session session = ReadSession(capture.path, Parts::kCann);
    const Overlaps& activities = session.overlaps;
    for (std::size_t i = 0; i < activities.Size(); ++i) {
      found.push_back({activities.device[i], static_cast<std::int64_t>(activities.activity[i]),
                       activities.start[i], activities.start[i] + activities.dur[i]});
    }
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

TEST_P(DeviceOf, HasTheCountersOfTheProfiler) {
  const auto captures = test::SharedRawCaptures(GetParam());
  MPA_SKIP_WITHOUT(captures);
  for (const test::PlantedCapture& capture : captures) {
    SCOPED_TRACE(capture.path.string());
    if (DatabaseOf(capture).empty()) GTEST_SKIP() << "not parsed";
    const io::Database database(DatabaseOf(capture));
    if (!database.HasTable("TASK_PMU_INFO")) continue;
    auto rows = database.Query(
        "SELECT t.startNs, s.value, p.value FROM TASK_PMU_INFO p"
        " JOIN TASK t ON t.globalTaskId = p.globalTaskId JOIN STRING_IDS s ON s.id = p.name");
    std::vector<std::string> expected, found;
    while (rows.Step()) {
      const double value = std::stod(std::string(rows.Text(2)));
      expected.push_back(fmt::format("{} {} {:.11g}", rows.IntOr(0, -1), rows.Text(1), value));
    }
    const Session session = ReadSession(capture.path, Parts::kCann | Parts::kCounters);
    const Counters& counters = session.counters;
    for (std::size_t i = 0; i < session.kernels.Size(); ++i) {
      const std::int32_t row = session.kernels.counters[i];
      const auto task = static_cast<std::size_t>(session.kernels.task[i]);
      for (std::size_t k = 0; row >= 0 && k < counters.names.size(); ++k) {
        if (counters.names[k] == "cube_utilization") continue;
        std::string name = counters.names[k];
        if (name == "aicore_time") name = "aic_total_time";
        if (name == "aiv_time") name = "aiv_total_time";
        found.push_back(fmt::format(
            "{} {} {:.11g}", session.tasks.start[task], name,
            counters.values[static_cast<std::size_t>(row) * counters.names.size() + k]));
      }
    }
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Raw, DeviceOf,
                         ::testing::Values("level0", "level1", "two_ranks", "truncated_framework",
                                           "truncated_tensor_info"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace mpa::raw
