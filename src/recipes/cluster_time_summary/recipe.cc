// SPDX-License-Identifier: Apache-2.0
// Where the time of each step of every rank went, and how that differs from another run.
#include <fmt/format.h>

#include <utility>

#include "mpa/collectives/lateness.h"
#include "rows.h"

namespace mpa::recipes {
namespace {

using time_summary::kMetrics;
using time_summary::Ranks;
using time_summary::StepRow;

std::string Ms(double value) { return fmt::format("{:.3f} ms", value); }

Sheet SummarySheet(const std::vector<StepRow>& rows, Report& report) {
  Sheet sheet;
  sheet.name = time_summary::kSummaryTable;
  sheet.look = Look::kList;
  sheet.text_file = {"cluster_time_summary", TextFile::Unit::kAsTheyAre};
  sheet.columns = time_summary::KeyColumns();
  for (const time_summary::Metric& metric : time_summary::kMetricsOfStep) {
    sheet.columns.push_back(
        NamedColumn(metric.name, Format::kDecimals3, 20, metric.meaning, metric.title));
  }
  for (const StepRow& row : rows) {
    if (report.ranks.empty() || report.ranks.back() != row.rank) BeginRank(row.rank, report);
    Row& added = sheet.rows.emplace_back();
    added.rank = report.ranks.size() - 1;
    added.cells = {row.rank, std::int64_t{row.step}};
    for (const auto& time : row.times) added.cells.push_back(time_summary::Microseconds(time));
  }
  return sheet;
}

// The rows without those of the warm-up, and a line that says so.
std::vector<StepRow> WithoutWarmUp(const Ranks& ranks, std::vector<StepRow> rows,
                                   std::string_view of_run, std::vector<std::string>& lines) {
  const auto warm_up = time_summary::WarmUpOf(ranks, rows);
  if (!warm_up) return rows;
  std::erase_if(rows, [&](const StepRow& row) { return row.step == *warm_up; });
  lines.push_back(fmt::format("  step {}{} is left out here: warm-up", *warm_up, of_run));
  return rows;
}

void AddLines(const Ranks& ranks, const std::vector<StepRow>& all, Report& report) {
  using namespace time_summary;
  constexpr std::size_t kLines[] = {
      kStepTime, kComputation, kExposedCommunication, kFree, kExposedMemory, kWait, kTransmit};
  if (all.empty()) return;
  std::vector<std::string> left_out;
  const std::vector<StepRow> rows = WithoutWarmUp(ranks, all, "", left_out);
  OutlierLines outliers;
  report.lines.push_back(
      fmt::format("  {:<26} {:>12} {:>12} {:>12}", "ms in a step", "min", "median", "max (rank)"));
  for (const std::size_t metric : kLines) {
    const std::vector<RankValue> values = MeansOfRanks(rows, metric);
    if (values.empty()) continue;
    const std::string_view words = kMetricsOfStep[metric].words;
    outliers.Add(words, values, Ms);
    const RankSpread spread = SpreadOf(values);
    report.lines.push_back(fmt::format("  {:<26} {:>12.3f} {:>12.3f} {:>12.3f}  ({})", words,
                                       spread.min.value, spread.median, spread.max.value,
                                       RankNumber(spread.max.rank)));
  }
  report.lines.insert(report.lines.end(), left_out.begin(), left_out.end());
  outliers.AppendTo(report.lines);
}

void ReduceTimeSummary(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                       Report& report) {
  const std::vector<StepRow> rows = RowsOf(ranks, report.notes);
  if (wanted.sheets) report.sheets.push_back(SummarySheet(rows, report));
  if (wanted.screen == Detail::kNone) return;
  AddLines(ranks, rows, report);
  JobCollectives collectives;
  for (const auto& rank : ranks) collectives.emplace_back(rank.part.collectives);
  AddLatenessLines(FindLateness(collectives), kShownLateRanks, report.lines);
}

void ReduceTimeComparison(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                          Report& report) {
  Ranks base, comparison;
  for (const auto& rank : ranks) (rank.part.is_base ? base : comparison).push_back(rank);
  const std::vector<StepRow> rows = RowsOf(comparison, report.notes);
  const std::vector<StepRow> base_rows = RowsOf(base, report.notes);
  const auto pairs = time_summary::PairSteps(rows, base_rows, report.notes);
  if (wanted.sheets) report.sheets.push_back(time_summary::ComparisonSheet(pairs, report));
  if (wanted.screen == Detail::kNone) return;
  std::vector<std::string> left_out, ignored;
  const std::vector<StepRow> counted = WithoutWarmUp(comparison, rows, " of this run", left_out);
  const std::vector<StepRow> base_counted =
      WithoutWarmUp(base, base_rows, " of the baseline", left_out);
  time_summary::AddComparisonLines(time_summary::PairSteps(counted, base_counted, ignored),
                                   report.lines);
  report.lines.insert(report.lines.end(), left_out.begin(), left_out.end());
}

Verdict JudgeTimes(const RankFacts& facts) {
  return JudgeReadable(facts)
      .Refuse(facts.recorded.device_tasks == Recorded::kNo, "no device work was recorded",
              DeviceSetting(facts))
      .AddLack(facts.recorded.communication == Recorded::kNo, NoCommunication(facts),
               "profiler_level=Level1");
}

RecipeInfo TimesInfo() {
  RecipeInfo info;
  // Of the account what the device did, and of the host whether it compiled.
  info.needs = Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications |
               Tables::kCommTasks | Tables::kLaunches | Tables::kSteps | Tables::kHostCalls |
               Tables::kHostOps | kLatenessTables;
  info.can_run = JudgeTimes;
  info.cuts_steps = true;  // where the time of a step begins depends on the one before
  return info;
}

}  // namespace

Recipe ClusterTimeSummary() {
  RecipeInfo info = TimesInfo();
  info.name = "cluster_time_summary";
  info.folder = "ClusterTimeSummary";
  info.summary = "where the time of each step of every rank went";
  return MakeRecipe<time_summary::MapTimes, ReduceTimeSummary>(std::move(info));
}

Recipe ClusterTimeCompareSummary() {
  RecipeInfo info = TimesInfo();
  info.name = "cluster_time_compare_summary";
  info.folder = "ClusterTimeCompareSummary";
  info.summary = "how the times of each step differ from another run of the job";
  info.baseline = "bp";
  info.parameters = {
      {.name = info.baseline,
       .type_name = "DIR",
       .help = "The run to compare with: a directory with its captures, or with earlier results of "
               "cluster_time_summary",
       .value = RecipeParameter::Value::kText,
       .required = true}};
  info.earlier_results = time_summary::ReadEarlierRows;
  return MakeRecipe<time_summary::MapTimes, ReduceTimeComparison>(std::move(info));
}

}  // namespace mpa::recipes
