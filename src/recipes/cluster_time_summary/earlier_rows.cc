// SPDX-License-Identifier: Apache-2.0
#include "earlier_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "mpa/base/error.h"
#include "mpa/io/sqlite.h"
#include "rows.h"

namespace mpa::time_summary {
namespace {

namespace fs = std::filesystem;

// The database itself, or where a run leaves it below its output directory.
std::optional<fs::path> FindDatabase(const fs::path& path) {
  std::error_code ignored;
  for (const fs::path& place :
       {path, path / kResultsDatabase, path / "cluster_analysis_output" / kResultsDatabase}) {
    if (fs::is_regular_file(place, ignored)) return place;
  }
  return std::nullopt;
}

std::optional<TimeNs> TimeOf(const io::Row& row, int column) {
  constexpr double kMostUs = 1e15;  // 31 years
  if (row.IsNull(column)) return std::nullopt;
  const double us = row.RealOr(column, 0);
  if (std::abs(us) > kMostUs) return std::nullopt;
  return std::llround(us * 1000);
}

// The parts of a step add up to it, and wait and transfer to the exposed communication. Tables of
// the Python tool, or of versions before this definition, do not.
bool IsAccount(const EarlierStep& step) {
  const auto time = [&](MetricPlace metric) { return step.times[metric].value_or(0); };
  constexpr TimeNs kRounding = 10;
  const TimeNs parts =
      time(kComputation) + time(kExposedCommunication) + time(kFree) + time(kExposedMemory);
  const TimeNs communication = time(kWait) + time(kTransmit);
  return std::abs(time(kStepTime) - parts) <= kRounding &&
         (!step.times[kWait] || std::abs(time(kExposedCommunication) - communication) <= kRounding);
}

std::string ColumnList(const io::Database& database) {
  std::string columns = "rank, step";
  for (const Metric& metric : kMetricsOfStep) {
    if (!database.HasColumn(kSummaryTable, metric.name)) {
      Fail(ErrorKind::kInput, "{}: table {} lacks the column {}; run cluster_time_summary again",
           database.name(), kSummaryTable, metric.name);
    }
    columns += fmt::format(", {}", metric.name);
  }
  return columns;
}

}  // namespace

std::vector<RankPart> ReadEarlierRows(const fs::path& path, std::optional<std::int32_t> step) {
  const std::optional<fs::path> file = FindDatabase(path);
  if (!file) return {};
  const io::Database database(*file);
  if (!database.HasTable(kSummaryTable)) return {};
  std::map<std::int64_t, TimesOfRank> ranks;
  io::Statement rows = database.Query(
      fmt::format("SELECT {} FROM {} ORDER BY rank, step", ColumnList(database), kSummaryTable));
  while (rows.Step()) {
    EarlierStep earlier;
    const std::int64_t number = rows.IntOr(1, -1);
    if (number < -1 || number > std::numeric_limits<std::int32_t>::max()) continue;
    earlier.step = static_cast<std::int32_t>(number);
    if (step && earlier.step != *step) continue;
    for (std::size_t metric = 0; metric < kMetrics; ++metric) {
      earlier.times[metric] = TimeOf(rows.row(), static_cast<int>(metric) + 2);
    }
    if (!IsAccount(earlier)) {
      earlier.divided_otherwise = true;
      for (const MetricPlace metric : {kFree, kWait, kTransmit}) earlier.times[metric].reset();
    }
    TimesOfRank& part = ranks[rows.IntOr(0, -1)];
    part.is_base = true;
    part.earlier.push_back(earlier);
  }
  std::vector<RankPart> parts;
  for (auto& [rank, part] : ranks) {
    parts.push_back({rank, std::make_shared<const TimesOfRank>(std::move(part))});
  }
  return parts;
}

}  // namespace mpa::time_summary
