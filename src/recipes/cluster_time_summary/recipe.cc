// SPDX-License-Identifier: Apache-2.0
// Where the time of each step of every rank went, and how that differs from another run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/io/sqlite.h"
#include "mpa/recipe/culprits.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/screen_list.h"
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

// The parts that an earlier run of cluster_time_summary left: of a database, or of the one below a
// directory. Empty: the database lacks the table ClusterTimeSummary.
std::vector<RankPart> ReadEarlierRows(const fs::path& path, std::optional<std::int32_t> step) {
  const std::optional<fs::path> file = FindDatabase(path);
  if (!file) return {};
  const io::Database database(*file);
  if (!database.HasTable(kSummaryTable)) return {};
  std::map<RankId, TimesOfRank> ranks;
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

template <typename Item>
SheetColumns<Item> KeyColumns() {
  return {CountColumn<&Item::rank, kRank>("rank", 10, "The rank.", "Rank"),
          CountColumn<&Item::step>("step", 10, "The step; -1 where the capture has none.", "Step")};
}

template <std::size_t... kMetric>
SheetColumns<StepRow> SummaryColumns(std::index_sequence<kMetric...>) {
  const auto& metrics = kMetricsOfStep;
  return Joined<StepRow>(KeyColumns<StepRow>(),
                         {NumberColumn<&StepRow::times, kAt<kMetric>, kAsUs>(
                             metrics[kMetric].name, Format::kDecimals3, 20,
                             metrics[kMetric].meaning, metrics[kMetric].title)...});
}

// A time of both runs, and its change.
template <std::size_t kMetric>
SheetColumns<StepPair> ColumnsOfBoth() {
  const Metric& metric = kMetricsOfStep[kMetric];
  const std::string_view meaning = Translated(metric.meaning);
  const auto column = [&](const char* suffix, const std::string& sentence,
                          Cell (*cell)(const StepPair&)) -> ColumnOf<StepPair> {
    return {NamedColumn(std::string(metric.name) + suffix, Format::kDecimals3, 20, sentence), cell};
  };
  return {
      column("", std::string(meaning),
             [](const StepPair& pair) { return kAsUs(TimeOf(pair.comparison, kMetric)); }),
      column("Base", Say("Baseline run: {}", meaning),
             [](const StepPair& pair) { return kAsUs(TimeOf(pair.base, kMetric)); }),
      column("Diff", Say("This run minus the baseline run: {}", meaning), [](const StepPair& pair) {
        const auto time = TimeOf(pair.comparison, kMetric), base = TimeOf(pair.base, kMetric);
        return time && base ? kAsUs(*time - *base) : Cell();
      })};
}

template <std::size_t... kMetric>
SheetColumns<StepPair> ComparisonColumns(std::index_sequence<kMetric...>) {
  SheetColumns<StepPair> columns = KeyColumns<StepPair>();
  ((columns = Joined(std::move(columns), ColumnsOfBoth<kMetric>())), ...);
  columns.push_back({NamedColumn("status", Format::kText, 16,
                                 "Which run has the step: both, comparison only, baseline only."),
                     [](const StepPair& pair) -> Cell { return StatusOf(pair); }});
  return columns;
}

// The sheet with a row for each item, in order of ranks.
template <typename Item>
Sheet SheetOfSteps(ItemSheet<Item> list, const std::vector<Item>& items, Report& report) {
  for (const Item& item : items) {
    if (report.ranks.empty() || report.ranks.back() != item.rank) BeginRank(item.rank, report);
    list.Add(item, report.ranks.size() - 1);
  }
  return std::move(list.sheet);
}

// The mean over its steps of each rank that has the metric, in ms.
std::vector<RankValue> MeansOfRanks(const std::vector<StepRow>& rows, std::size_t metric) {
  std::vector<RankValue> values;
  for (const StepRow& row : rows) {
    if (row.times[metric]) values.push_back({row.rank, InMs(*row.times[metric])});
  }
  return mpa::MeansOfRanks(values);
}

Sheet ComparisonSheet(const std::vector<StepPair>& pairs, Report& report) {
  ItemSheet list({"ClusterTimeCompareSummary",
                  ToTranslate("The parts of each step beside those of the other run")},
                 ComparisonColumns(std::make_index_sequence<kMetrics>()),
                 {"cluster_time_compare_summary", TextFile::Unit::kAsTheyAre});
  const auto difference = [](MetricPlace metric, Tint tint) {
    return ChartedColumn{std::string(kMetricsOfStep[metric].name) + "Diff", tint,
                         kMetricsOfStep[metric].words};
  };
  list.sheet.charts = {
      {.kind = Chart::Kind::kBars,
       .title = "What changed in the mean step of each rank; the largest changes first",
       .labels = {"rank"},
       .values = {difference(kComputation, Tint::kCompute),
                  difference(kExposedCommunication, Tint::kUnsplit),
                  difference(kFree, Tint::kFree)},
       .measured = Measured::kUs,
       .same = Chart::SameLabel::kMean,
       .order = Chart::Order::kFarthestFirst,
       .of_ranks = true}};
  return SheetOfSteps(std::move(list), pairs, report);
}

// Of the ranks that both have; a median hides what one rank does.
RankValue LargestChange(const std::vector<RankValue>& now, const std::vector<RankValue>& before) {
  RankValue most;
  for (const RankValue& to : now) {
    const auto from = std::ranges::find(before, to.rank, &RankValue::rank);
    if (from == before.end()) continue;
    const double change = to.value - from->value;
    if (most.rank < 0 || std::abs(change) > std::abs(most.value)) most = {to.rank, change};
  }
  return most;
}

void AddComparisonLines(const std::vector<StepPair>& pairs, ScreenLines& lines) {
  const std::vector<StepRow> comparison = Matched(pairs, &StepPair::comparison);
  const std::vector<StepRow> base = Matched(pairs, &StepPair::base);
  if (comparison.empty()) return;
  const ScreenList list(
      2, {ScreenText("ms a step, median of ranks", 26), ScreenNumber("baseline", 10, 3),
          ScreenNumber("now", 10, 3), ScreenChange("change", 10, 3),
          ScreenChange("most (rank)", 11, 3), ScreenText("")});
  lines.push_back(list.Heading());
  for (std::size_t metric = 0; metric < kMetrics; ++metric) {
    std::vector<RankValue> now = MeansOfRanks(comparison, metric);
    std::vector<RankValue> before = MeansOfRanks(base, metric);
    if (now.empty() || before.empty()) continue;
    const RankValue most = LargestChange(now, before);
    const double to = SpreadOf(std::move(now)).median, from = SpreadOf(std::move(before)).median;
    lines.push_back(list.Line(Translated(kMetricsOfStep[metric].words), from, to, to - from,
                              most.value, fmt::format("({})", RankName(most.rank))));
  }
}

// Exposed communication is one part where it is unknown how much of it was waiting.
std::vector<ChartedColumn> ChartedParts(const std::vector<StepRow>& rows) {
  const bool knows_waits =
      std::ranges::all_of(rows, [](const StepRow& row) { return row.times[kWait].has_value(); });
  const auto part = [](std::size_t metric, Tint tint) {
    return ChartedColumn{kMetricsOfStep[metric].name, tint, kMetricsOfStep[metric].words};
  };
  std::vector<ChartedColumn> parts = {part(kComputation, Tint::kCompute)};
  if (knows_waits) {
    parts.push_back(part(kWait, Tint::kWait));
    parts.push_back(part(kTransmit, Tint::kTransfer));
  } else {
    parts.push_back(part(kExposedCommunication, Tint::kUnsplit));
  }
  parts.push_back(part(kExposedMemory, Tint::kCopy));
  parts.push_back(part(kFree, Tint::kFree));
  return parts;
}

Sheet SummarySheet(const std::vector<StepRow>& rows, Report& report) {
  ItemSheet list({kSummaryTable, ToTranslate("Where the time of each step went, on every rank")},
                 SummaryColumns(std::make_index_sequence<kMetrics>()),
                 {"cluster_time_summary", TextFile::Unit::kAsTheyAre});
  list.sheet.charts = {
      {.kind = Chart::Kind::kStacked,
       .title = "The mean step of each rank; those that differ most from the median first",
       .labels = {"rank"},
       .values = ChartedParts(rows),
       .measured = Measured::kUs,
       .same = Chart::SameLabel::kMean,
       .order = Chart::Order::kFarthestFirst,
       .of_ranks = true}};
  return SheetOfSteps(std::move(list), rows, report);
}

// The rows without those of the warm-up, and a line that says so.
std::vector<StepRow> WithoutWarmUp(const Ranks& ranks, std::vector<StepRow> rows,
                                   std::string_view of_run, ScreenLines& lines) {
  const auto warm_up = WarmUpOf(ranks, rows);
  if (!warm_up) return rows;
  std::erase_if(rows, [&](const StepRow& row) { return row.step == *warm_up; });
  lines.push_back(Say("  step {}{} is left out here: warm-up", *warm_up, of_run));
  return rows;
}

// What takes most of the step, where nobody is to blame.
void AddLargestPart(const std::vector<StepRow>& rows, ScreenLines& lines) {
  const auto median = [&](std::size_t metric) {
    const std::vector<RankValue> values = MeansOfRanks(rows, metric);
    return values.empty() ? 0 : SpreadOf(values).median;
  };
  const double step = median(kStepTime);
  std::size_t largest = kComputation;
  for (const std::size_t metric : {kExposedCommunication, kFree, kExposedMemory}) {
    if (median(metric) > median(largest)) largest = metric;
  }
  if (step <= 0) return;
  AddSentence(Say("most of the step is {}: {:.3f} of {:.3f} ms ({:.0f} %)",
                  Translated(kMetricsOfStep[largest].words), median(largest), step,
                  100 * median(largest) / step),
              lines);
}

void AddLines(const Ranks& ranks, const std::vector<StepRow>& all, Report& report) {
  constexpr std::size_t kLines[] = {
      kStepTime, kComputation, kExposedCommunication, kFree, kExposedMemory, kWait, kTransmit};
  if (all.empty()) return;
  ScreenLines left_out;
  const std::vector<StepRow> rows = WithoutWarmUp(ranks, all, "", left_out);
  if (report.lines.empty()) AddLargestPart(rows, report.lines);
  const ScreenList list = SpreadList({ScreenText("ms in a step", 26)}, ScreenNumber("", 12, 3));
  report.lines.push_back(list.Heading());
  for (const std::size_t metric : kLines) {
    const std::vector<RankValue> values = MeansOfRanks(rows, metric);
    if (values.empty()) continue;
    const std::string_view words = kMetricsOfStep[metric].words;
    report.lines.push_back(list.LineOf(SpreadCells({CellOf(Translated(words))}, values)));
  }
  report.lines.insert(report.lines.end(), left_out.begin(), left_out.end());
  std::vector<EarlierTime> earlier;
  for (const auto& rank : ranks) earlier.push_back(rank.part.left_out);
  AddEarlierTimeLine(earlier, report.lines);
}

// The loads of the ranks, and what is known of those of an earlier run.
std::vector<RankLoad> LoadsOf(const Ranks& ranks) {
  std::vector<RankLoad> loads;
  for (const auto& rank : ranks) {
    RankLoad& load = loads.emplace_back(rank.part.load);
    // The results of an earlier run have but the sum.
    for (StepLoad& step : load.steps) {
      if (rank.part.is_base) step.kinds.clear();
    }
    for (const EarlierStep& step : rank.part.earlier) {
      const auto time = [&](MetricPlace metric) { return step.times[metric].value_or(0); };
      load.steps.push_back({.step = step.step,
                            .length = time(kStepTime),
                            .computing = time(kComputation),
                            .communication = time(kExposedCommunication),
                            .copies = time(kExposedMemory),
                            .free = time(kFree),
                            .waiting = step.times[kWait].value_or(-1)});
    }
  }
  return loads;
}

JobVerdict VerdictOf(const Ranks& ranks, const std::vector<StepRow>& rows,
                     const AbsentRanks& absent) {
  const std::vector<RankLoad> loads = LoadsOf(ranks);
  std::vector<LoadedRank> loaded;
  for (std::size_t i = 0; i < ranks.size(); ++i) loaded.push_back({ranks[i].rank, loads[i]});
  return JudgeLoads(loaded, absent, WarmUpOf(ranks, rows));
}

void ReduceTimeSummary(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                       Report& report) {
  const std::vector<StepRow> rows = RowsOf(ranks, report.notes);
  if (wanted.sheets) report.sheets.push_back(SummarySheet(rows, report));
  if (wanted.screen == Detail::kNone) return;
  const JobVerdict verdict = VerdictOf(ranks, rows, report.absent);
  AddVerdictLines(verdict, report.lines);
  if (wanted.sheets) report.sheets.back().charts.front().culprits = NamesOfCulprits(verdict);
  AddLines(ranks, rows, report);
  AddLateLines(verdict, kShownLateRanks, report.lines);
}

// False where the other run has nothing that would show the same culprit: the results of an earlier
// run have no collectives, links and kernels.
bool Shows(const JobVerdict& other, const Culprit& culprit) {
  switch (culprit.part) {
    case LatePart::kLink:
      return other.links.links > 0;
    case LatePart::kUnknown:
      return other.lateness.known > 0;
    default:
      return true;
  }
}

// Ranks that delay the job more than in the base run, and those that delayed it there.
void AddChangeLines(const JobVerdict& now, const JobVerdict& before, ScreenLines& lines) {
  const auto grew = [](const JobVerdict& in, const JobVerdict& other, const Culprit& culprit) {
    const auto same = std::ranges::find_if(other.culprits, [&](const Culprit& of) {
      return of.ranks == culprit.ranks && of.part == culprit.part;
    });
    const TimeNs then = same == other.culprits.end() ? 0 : same->cost;
    return culprit.cost - then >= in.LeastCost();
  };
  const auto add = [&](std::string_view when, const JobVerdict& in, const JobVerdict& other) {
    for (const Culprit& culprit : in.culprits) {
      if (!Shows(other, culprit) || !grew(in, other, culprit)) continue;
      AddSentence(fmt::format("{}: {}", when, CulpritText(in, culprit)), lines);
    }
  };
  add(Translated("now"), now, before);
  add(Translated("before"), before, now);
  if (lines.empty() && now.judged)
    lines.emplace_back(Say("no rank holds up the others more or less than before"));
}

void ReduceTimeComparison(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                          Report& report) {
  Ranks base, comparison;
  for (const auto& rank : ranks) (rank.part.is_base ? base : comparison).push_back(rank);
  const std::vector<StepRow> rows = RowsOf(comparison, report.notes);
  const std::vector<StepRow> base_rows = RowsOf(base, report.notes);
  const auto pairs = PairSteps(rows, base_rows, report.notes);
  if (wanted.sheets) report.sheets.push_back(ComparisonSheet(pairs, report));
  if (wanted.screen == Detail::kNone) return;
  std::vector<std::string> ignored;
  ScreenLines left_out;
  const std::vector<StepRow> counted =
      WithoutWarmUp(comparison, rows, Translated(" of this run"), left_out);
  const std::vector<StepRow> base_counted =
      WithoutWarmUp(base, base_rows, Translated(" of the baseline"), left_out);
  AddChangeLines(VerdictOf(comparison, rows, report.absent), VerdictOf(base, base_rows, {}),
                 report.lines);
  AddComparisonLines(PairSteps(counted, base_counted, ignored), report.lines);
  report.lines.insert(report.lines.end(), left_out.begin(), left_out.end());
}

Verdict JudgeTimes(const RankFacts& facts) {
  return JudgeReadable(facts)
      .Refuse(facts.recorded.device_tasks == Recorded::kNo, "no device work was recorded",
              DeviceSetting(facts))
      .AddLack(facts.recorded.communication == Recorded::kNo, NoCommunication(facts),
               "profiler_level=Level1");
}

void CheckTimesOfRank(const TimesOfRank& part) {
  CheckLoad(part.load);
  if (!IsDuration(part.left_out.time))
    Fail(ErrorKind::kCorrupt, "the time before the first step is impossible");
  if (part.steps.size() != part.load.steps.size())
    Fail(ErrorKind::kCorrupt, "the lists of steps do not belong together");
  for (const StepSums& step : part.steps) {
    if (!IsDuration(step.communication) || !IsDuration(step.copies) || !IsDuration(step.compiling))
      Fail(ErrorKind::kCorrupt, "a step has impossible times");
  }
}

RecipeInfo TimesInfo() {
  RecipeInfo info;
  // Of the account what the device did, and of the host whether it compiled.
  info.needs = Tables::kKernels | Tables::kDeviceTasks | Tables::kCommunications |
               Tables::kCommTasks | Tables::kLaunches | Tables::kSteps | Tables::kHostCalls |
               Tables::kHostOps | kLatenessTables;
  info.can_run = JudgeTimes;
  info.next = kDiagnosisNext;
  info.cuts_steps = true;  // where the time of a step begins depends on the one before
  return info;
}

}  // namespace
}  // namespace mpa::time_summary

namespace mpa::recipes::cluster_time_summary {

using namespace time_summary;

Recipe ClusterTimeSummary() {
  RecipeInfo info = TimesInfo();
  info.name = "cluster_time_summary";
  info.folder = "ClusterTimeSummary";
  info.summary = "where the time of each step went, on every rank";
  return MakeRecipe<MapTimes, ReduceTimeSummary, CheckTimesOfRank>(std::move(info));
}

constexpr Option<std::string> kBaseline{
    .name = "bp",
    .type_name = "DIR",
    .help =
        "The run to compare with: a directory with its captures, or with earlier results of"
        " cluster_time_summary",
    .required = true};

Recipe ClusterTimeCompareSummary() {
  RecipeInfo info = TimesInfo();
  info.name = "cluster_time_compare_summary";
  info.folder = "ClusterTimeCompareSummary";
  info.summary = "how the times of each step differ from those of another run of the job";
  info.options = {kBaseline};
  info.baseline = kBaseline.name;
  info.earlier_results = ReadEarlierRows;
  return MakeRecipe<MapTimes, ReduceTimeComparison, CheckTimesOfRank>(std::move(info));
}

}  // namespace mpa::recipes::cluster_time_summary
