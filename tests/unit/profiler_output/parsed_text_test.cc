// SPDX-License-Identifier: Apache-2.0
// The text files of planted captures against those of the profiler's own parser, row by row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "mpa/io/numbers.h"
#include "mpa/profiler_output/profiler_output.h"
#include "raw/raw_captures.h"
#include "support/files.h"

namespace mpa::profiler_output {
namespace {

using Row = std::vector<std::string>;

/// The lines of a CSV file; cells may hold line ends. Tabs behind times are left out.
std::vector<Row> ParseCsv(const std::string& text) {
  std::vector<Row> rows(1, Row(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = rows.back().back();
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cell += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      rows.emplace_back(1);
    } else if (quoted || (c != '\r' && c != '\t')) {
      cell += c;
    }
  }
  rows.pop_back();
  return rows;
}

/// The tasks in order of start, stream and task: the parser leaves those that start together in
/// any order.
void SortTasks(std::vector<Row>& rows) {
  constexpr std::size_t kStream = 3, kTask = 4, kStart = 6;
  std::sort(rows.begin() + 1, rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a[kStart], a[kStream], a[kTask]) < std::tie(b[kStart], b[kStream], b[kTask]);
  });
}

/// What may differ, in ns.
struct Tolerance {
  std::int64_t time = 0;  ///< points in time
  std::int64_t sum = 0;   ///< durations
};

/// Other differences than by tolerance, with their reasons.
std::int64_t Allowed(const std::string& file, const std::string& column, const Row& row,
                     const Tolerance& tolerance) {
  // The profiler subtracts epoch microseconds as doubles, which are 0.25 apart.
  constexpr std::int64_t kDoubles = 500;
  if (column == "Wait Time(us)" || column == "Stage" || column == "Preparing") {
    return kDoubles + tolerance.sum;
  }
  // It turns the samples of memory into doubles of ns, which are 256 apart.
  if (file == "memory_record.csv" && row[0] == "APP" && column == "Timestamp(us)") return 256;
  // It takes the wall clock of the device for what operators of CANN did on the host.
  if (row[0] == "GE" || row[0] == "PTA+GE" || row[0].starts_with("cann::")) {
    return std::max<std::int64_t>(tolerance.time, 40);
  }
  // Its sums of doubles are a little beside a half, or not.
  if (column == "Avg(us)") return tolerance.sum + 1;
  const bool is_time = column.find("Time(us)") != std::string::npos || column == "Timestamp(us)" ||
                       column.starts_with("task_st");
  const bool is_point = is_time && file != "op_statistic.csv" && file != "api_statistic.csv";
  return is_point ? tolerance.time : tolerance.sum;
}

bool Agree(const std::string& ours, const std::string& parsed, std::int64_t allowed) {
  if (ours == parsed) return true;
  const auto a = io::NsFromMicros(ours), b = io::NsFromMicros(parsed);
  return a && b && std::abs(*a - *b) <= allowed;
}

void ExpectSameRows(const std::string& file, const std::vector<Row>& ours,
                    const std::vector<Row>& parsed, const Tolerance& tolerance) {
  ASSERT_EQ(ours.at(0), parsed.at(0));
  ASSERT_EQ(ours.size(), parsed.size());
  int shown = 0;
  for (std::size_t i = 1; i < ours.size() && shown < 10; ++i) {
    for (std::size_t column = 0; column < parsed[0].size() && shown < 10; ++column) {
      const std::string& name = parsed[0][column];
      const std::int64_t allowed = Allowed(file, name, parsed[i], tolerance);
      if (Agree(ours[i].at(column), parsed[i].at(column), allowed)) continue;
      ++shown;
      ADD_FAILURE() << file << " row " << i << " column " << name << ": " << ours[i][column]
                    << " instead of " << parsed[i][column];
    }
  }
}

struct Case {
  std::string name;
  Tolerance tolerance;
  std::vector<std::string> left_out = {};  ///< tables that differ on purpose
  bool same_timeline = true;
};

void PrintTo(const Case& which, std::ostream* out) { *out << which.name; }

class ParsedText : public testing::TestWithParam<Case> {};

TEST_P(ParsedText, TablesHaveTheSameRows) {
  const auto captures = test::SharedRawCaptures(GetParam().name);
  MPA_SKIP_WITHOUT(captures);
  for (const test::PlantedCapture& capture : captures) {
    test::TempDir directory;
    WriteText(raw::ReadSession(capture.path, raw::Parts::kAll), directory.path());
    for (const char* file : {"kernel_details.csv", "op_statistic.csv", "api_statistic.csv",
                             "operator_details.csv", "step_trace_time.csv", "operator_memory.csv",
                             "memory_record.csv", "npu_module_mem.csv", "task_time.csv"}) {
      SCOPED_TRACE(capture.path.string() + " " + file);
      const auto& left_out = GetParam().left_out;
      if (std::find(left_out.begin(), left_out.end(), file) != left_out.end()) continue;
      const bool expected = std::filesystem::exists(capture.parsed / file);
      ASSERT_EQ(std::filesystem::exists(directory / file), expected);
      if (!expected) continue;
      std::vector<Row> ours = ParseCsv(test::ReadAll(directory / file));
      std::vector<Row> parsed = ParseCsv(test::ReadAll(capture.parsed / file));
      if (std::string_view(file) == "task_time.csv") {
        SortTasks(ours);
        SortTasks(parsed);
      }
      ExpectSameRows(file, ours, parsed, GetParam().tolerance);
    }
  }
}

/// How many events there are of each phase, category and process, but those that may differ.
std::map<std::string, int> CountEvents(const std::filesystem::path& file) {
  const nlohmann::json events = nlohmann::json::parse(test::ReadAll(file));
  std::map<std::string, int> counts;
  for (const auto& event : events) {
    // The parser names some rows twice, and writes core frequencies twice.
    if (event["ph"] == "M" || event["name"] == "AI Core Freq") continue;
    // The arrow to a collective may end on it, or on its first copy, which begins with it.
    const bool is_link = event.value("cat", "") == "async_npu";
    ++counts[is_link ? "async_npu"
                     : event["ph"].get<std::string>() + " " + event.value("cat", "") + " " +
                           event["pid"].dump()];
  }
  return counts;
}

TEST_P(ParsedText, TimelineHasTheSameEvents) {
  if (!GetParam().same_timeline) return;
  const auto captures = test::SharedRawCaptures(GetParam().name);
  MPA_SKIP_WITHOUT(captures);
  for (const test::PlantedCapture& capture : captures) {
    test::TempDir directory;
    WriteText(raw::ReadSession(capture.path, raw::Parts::kAll), directory.path());
    EXPECT_EQ(CountEvents(directory / "trace_view.json"),
              CountEvents(capture.parsed / "trace_view.json"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Planted, ParsedText,
    testing::Values(
        Case{"level0", {}}, Case{"level1", {}}, Case{"two_ranks", {}},
        // A tick is no whole ns: the parser's doubles are up to 1 ns beside the exact time.
        Case{"stack_mstx_gc", {.time = 1, .sum = 100}},
        // The parser shifts device times by 10 and CANN times by 30 ns. It counts a call that ended
        // before the collection began, lets a kernel from then bound the free time, and adds the
        // copies of a collective to it once more. Its timeline has other rows and arrows.
        Case{"hwts",
             {.time = 30, .sum = 1},
             {"api_statistic.csv", "step_trace_time.csv", "operator_details.csv"},
             false}),
    [](const auto& test_case) { return test_case.param.name; });

}  // namespace
}  // namespace mpa::profiler_output
