// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/time.h"
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
  constexpr double kMaxUs = 1e15;  // 31 years
  if (row.IsNull(column)) return std::nullopt;
  const double us = row.RealOr(column, 0);
  if (std::abs(us) > kMaxUs) return std::nullopt;
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

namespace {

constexpr const char *kBoth = "both", *kOnlyComparison = "comparison only",
                     *kOnlyBase = "baseline only";

const char* StatusOf(const StepPair& pair) {
  if (pair.comparison == nullptr) return kOnlyBase;
  return pair.base == nullptr ? kOnlyComparison : kBoth;
}

std::optional<TimeNs> TimeOf(const StepRow* row, std::size_t metric) {
  return row != nullptr ? row->times[metric] : std::nullopt;
}

// The rows of pairs that both runs have.
std::vector<StepRow> Matched(const std::vector<StepPair>& pairs, const StepRow* StepPair::*side) {
  std::vector<StepRow> rows;
  for (const StepPair& pair : pairs) {
    if (pair.comparison != nullptr && pair.base != nullptr) rows.push_back(*(pair.*side));
  }
  return rows;
}

}  // namespace

std::vector<Column> KeyColumns() {
  return {NamedColumn("rank", Format::kInteger, 10, "The rank.", "Rank"),
          NamedColumn("step", Format::kInteger, 10, "The step; -1 where the capture has none.",
                      "Step")};
}

Cell Microseconds(const std::optional<TimeNs>& time) { return time ? Cell(InUs(*time)) : Cell(); }

std::vector<RankValue> MeansOfRanks(const std::vector<StepRow>& rows, std::size_t metric) {
  std::vector<RankValue> values;
  for (const StepRow& row : rows) {
    if (row.times[metric]) values.push_back({row.rank, InMs(*row.times[metric])});
  }
  return mpa::MeansOfRanks(values);
}

std::vector<StepPair> PairSteps(const std::vector<StepRow>& comparison,
                                const std::vector<StepRow>& base, std::vector<std::string>& notes) {
  std::map<std::pair<std::int64_t, std::int32_t>, StepPair> pairs;
  const auto add = [&](const std::vector<StepRow>& rows, const StepRow* StepPair::*side) {
    for (const StepRow& row : rows) {
      StepPair& pair = pairs[{row.rank, row.step}];
      pair.rank = row.rank;
      pair.step = row.step;
      pair.*side = &row;
    }
  };
  add(comparison, &StepPair::comparison);
  add(base, &StepPair::base);
  std::vector<StepPair> listed;
  std::size_t alone = 0;
  for (const auto& [key, pair] : pairs) {
    listed.push_back(pair);
    alone += pair.comparison == nullptr || pair.base == nullptr ? 1 : 0;
  }
  if (alone > 0) {
    notes.push_back(
        fmt::format("{} of {} steps of ranks are in one run only and have no difference; steps are "
                    "compared by rank and number",
                    alone, listed.size()));
  }
  return listed;
}

Sheet ComparisonSheet(const std::vector<StepPair>& pairs, Report& report) {
  Sheet sheet;
  sheet.name = "ClusterTimeCompareSummary";
  sheet.look = Look::kList;
  sheet.text_file = {"cluster_time_compare_summary", TextFile::Unit::kAsTheyAre};
  sheet.columns = KeyColumns();
  for (const Metric& metric : kMetricsOfStep) {
    const auto add = [&](const char* suffix, const char* before, const char* behind) {
      sheet.columns.push_back(NamedColumn(std::string(metric.name) + suffix, Format::kDecimals3, 20,
                                          fmt::format("{}{}{}", before, metric.meaning, behind)));
    };
    add("", "", "");
    add("Base", "The same of the baseline: ", "");
    add("Diff", "Difference of the two: ", "");
  }
  sheet.columns.push_back(
      NamedColumn("status", Format::kText, 16,
                  "Which run has the step: both, comparison only, baseline only."));
  for (const StepPair& pair : pairs) {
    if (report.ranks.empty() || report.ranks.back() != pair.rank) BeginRank(pair.rank, report);
    Row& row = sheet.rows.emplace_back();
    row.rank = report.ranks.size() - 1;
    row.cells = {pair.rank, std::int64_t{pair.step}};
    for (std::size_t metric = 0; metric < kMetrics; ++metric) {
      const auto time = TimeOf(pair.comparison, metric), base = TimeOf(pair.base, metric);
      row.cells.push_back(Microseconds(time));
      row.cells.push_back(Microseconds(base));
      row.cells.push_back(time && base ? Microseconds(*time - *base) : Cell());
    }
    row.cells.emplace_back(StatusOf(pair));
  }
  return sheet;
}

void AddComparisonLines(const std::vector<StepPair>& pairs, std::vector<std::string>& lines) {
  const std::vector<StepRow> comparison = Matched(pairs, &StepPair::comparison);
  const std::vector<StepRow> base = Matched(pairs, &StepPair::base);
  if (comparison.empty()) return;
  lines.push_back(fmt::format("  {:<34} {:>10} {:>10} {:>10}", "median of the ranks, ms in a step",
                              "baseline", "now", "change"));
  for (std::size_t metric = 0; metric < kMetrics; ++metric) {
    std::vector<RankValue> now = MeansOfRanks(comparison, metric);
    std::vector<RankValue> before = MeansOfRanks(base, metric);
    if (now.empty() || before.empty()) continue;
    const double to = SpreadOf(std::move(now)).median, from = SpreadOf(std::move(before)).median;
    lines.push_back(fmt::format("  {:<34} {:>10.3f} {:>10.3f} {:>+10.3f}",
                                kMetricsOfStep[metric].words, from, to, to - from));
  }
}

}  // namespace mpa::time_summary
