// SPDX-License-Identifier: Apache-2.0
// The runs of a history as a report: how metrics went, and where their level changed.
#include "mpa/gate/history.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/report/chart.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/screen_list.h"

namespace mpa::gate {
namespace {

constexpr double kBand = 2;  // standard deviations on either side of a level

// A metric in the runs that have it.
struct Trend {
  std::string name;
  Quantity quantity{};
  std::vector<const HistoryRun*> runs;
  std::vector<std::int64_t> values;
  std::vector<Stretch> stretches;

  const Stretch& StretchOf(std::size_t i) const {
    return *std::ranges::find_if(stretches, [i](const Stretch& of) { return i < of.end; });
  }
};

// The step first, then the whole capture, then by name.
std::vector<Trend> TrendsOf(const std::vector<HistoryRun>& runs) {
  std::map<std::tuple<bool, bool, std::string>, Trend> by_name;
  for (const HistoryRun& run : runs) {
    for (const HistoryRun::Value& value : run.values) {
      Trend& trend = by_name[{value.metric != "step_time", value.metric != "e2e", value.metric}];
      trend.name = value.metric;
      trend.quantity = value.quantity;
      trend.runs.push_back(&run);
      trend.values.push_back(value.median);
    }
  }
  std::vector<Trend> trends;
  for (auto& [name, trend] : by_name) {
    trend.stretches = FindStretches(trend.values);
    trends.push_back(std::move(trend));
  }
  return trends;
}

std::string TimeText(const HistoryRun& run) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(run.time / 1'000'000'000));
}

std::string ShortLabel(const HistoryRun& run) {
  constexpr std::size_t kOfCommit = 12;
  const bool is_hash = run.label.size() >= 32 &&
                       run.label.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hash ? run.label.substr(0, kOfCommit) : run.label;
}

double BandOf(const Stretch& stretch) { return kBand * static_cast<double>(stretch.noise); }

// --- Sheets ---

struct ValueItem {
  const HistoryRun* run;
  const HistoryRun::Value* value;
  const Stretch* level;
};

SheetColumns<ValueItem> ValueColumns() {
  using Item = ValueItem;
  using Value = HistoryRun::Value;
  return {
      CountColumn<&Item::run, &HistoryRun::id>("run", 8, "Number of the run, from 1."),
      ComputedColumn<Item>("time", Format::kText, "When it was added, in UTC.",
                           [](const Item& item) -> Cell { return TimeText(*item.run); }),
      TextColumn<&Item::run, &HistoryRun::label>("label", 30, "Such as the commit."),
      TextColumn<&Item::value, &Value::metric>("metric", 30, "The metric, such as step_time."),
      ComputedColumn<Item>(
          "unit", Format::kText, "ns, bytes or count.",
          [](const Item& item) -> Cell { return std::string(ProgramUnit(item.value->quantity)); }),
      CountColumn<&Item::value, &Value::median>("value", 16, "Median of the run."),
      CountColumn<&Item::value, &Value::noise>(
          "noise", 14, "Standard deviation that the gate expects of such runs."),
      CountColumn<&Item::level, &Stretch::median>("level", 16,
                                                  "Median of the runs between two step changes."),
      CountColumn<&Item::level, &Stretch::noise>(
          "level_noise", 14, "How far these runs lie from it, as a standard deviation."),
      TextColumn<&Item::value, &Value::verdict>(
          "verdict", 14, "Of the gate on the metric; empty: it was not judged."),
      TextColumn<&Item::value, &Value::limit>("limit", 24, "Limit of the metric in that gate."),
      CountColumn<&Item::run, &HistoryRun::exit_code>("exit_code", 10, "Exit code of that gate.")};
}

struct StepItem {
  const Trend* trend;
  const HistoryRun* run;
  const Stretch *before, *after;

  std::int64_t Change() const { return after->median - before->median; }
  std::optional<double> ChangePercent() const {
    if (before->median == 0) return std::nullopt;
    return 100.0 * static_cast<double>(Change()) / static_cast<double>(before->median);
  }
};

std::vector<StepItem> StepsOf(const Trend& trend) {
  std::vector<StepItem> steps;
  for (std::size_t i = 1; i < trend.stretches.size(); ++i) {
    const Stretch& after = trend.stretches[i];
    steps.push_back({&trend, trend.runs[after.begin], &trend.stretches[i - 1], &after});
  }
  return steps;
}

SheetColumns<StepItem> StepColumns() {
  using Item = StepItem;
  return {TextColumn<&Item::trend, &Trend::name>("metric", 30, "The metric, such as step_time."),
          ComputedColumn<Item>("unit", Format::kText, "ns, bytes or count.",
                               [](const Item& item) -> Cell {
                                 return std::string(ProgramUnit(item.trend->quantity));
                               }),
          CountColumn<&Item::run, &HistoryRun::id>("run", 8, "The first run of the new level."),
          ComputedColumn<Item>("time", Format::kText, "When it was added, in UTC.",
                               [](const Item& item) -> Cell { return TimeText(*item.run); }),
          TextColumn<&Item::run, &HistoryRun::label>("label", 30, "Such as the commit."),
          CountColumn<&Item::before, &Stretch::median>("before", 16, "Median of the runs before."),
          CountColumn<&Item::after, &Stretch::median>("after", 16, "Median of the runs since."),
          CountColumn<&Item::Change>("change", 16, "After minus before."),
          NumberColumn<&Item::ChangePercent>("change_percent", Format::kDecimals2, 14,
                                             "The change in percent of before."),
          NumberColumn<&Item::after, &Stretch::probability>(
              "probability", Format::kDecimals4, 12,
              "That chance alone makes a step as clear as this one.")};
}

// --- Screen ---

// '*' a run, 'x' one that failed its gate, ':' the edges of the noise band.
class Plot {
 public:
  Plot(const Trend& trend, std::size_t first) {
    low_ = high_ = static_cast<double>(trend.values[first]);
    for (std::size_t i = first; i < trend.values.size(); ++i) {
      const Stretch& level = trend.StretchOf(i);
      const auto value = static_cast<double>(trend.values[i]);
      const auto middle = static_cast<double>(level.median);
      low_ = std::min({low_, value, middle - BandOf(level)});
      high_ = std::max({high_, value, middle + BandOf(level)});
    }
  }

  std::string Line(std::int64_t value, const Stretch& level, bool failed) const {
    std::string line(kColumns, ' ');
    const auto middle = static_cast<double>(level.median);
    for (const double edge : {-BandOf(level), BandOf(level)}) line[ColumnOf(middle + edge)] = ':';
    line[ColumnOf(static_cast<double>(value))] = failed ? 'x' : '*';
    return line.substr(0, line.find_last_not_of(' ') + 1);
  }

 private:
  static constexpr std::size_t kColumns = 28;

  std::size_t ColumnOf(double value) const {
    if (high_ <= low_) return kColumns / 2;
    return static_cast<std::size_t>(
        std::lround((value - low_) / (high_ - low_) * static_cast<double>(kColumns - 1)));
  }

  double low_ = 0, high_ = 0;
};

void AddList(const Trend& trend, ScreenLines& lines) {
  constexpr std::size_t kShown = 20;
  const std::size_t first = trend.values.size() - std::min(kShown, trend.values.size());
  const AmountScale scale(trend.quantity, std::ranges::max(trend.values));
  const Plot plot(trend, first);
  const ScreenList list(
      2, {ScreenNumber("run", 4), ScreenText("label", 12), ScreenText("time (UTC)", 16),
          ScreenAmount(scale.unit(), 9, scale), ScreenText("* run, x failed, : noise band")});
  lines.push_back(list.Heading());
  for (std::size_t i = first; i < trend.values.size(); ++i) {
    const HistoryRun& run = *trend.runs[i];
    lines.push_back(list.Line(run.id, ShortLabel(run), TimeText(run), trend.values[i],
                              plot.Line(trend.values[i], trend.StretchOf(i), run.exit_code != 0)));
  }
}

std::string StepText(const StepItem& step) {
  const AmountScale scale(step.trend->quantity, std::max(step.before->median, step.after->median));
  const std::string label = ShortLabel(*step.run);
  return Say("{}: step change at run {} ({}{} UTC): {} -> {} {} ({}, chance {:.3f})",
             step.trend->name, step.run->id, label.empty() ? "" : label + ", ", TimeText(*step.run),
             scale.Text(scale.Rounded(step.before->median)),
             scale.Text(scale.Rounded(step.after->median)), scale.unit(),
             GrowthOf(step.before->median, step.after->median), *step.after->probability);
}

bool CanHaveStep(const Trend& trend) { return trend.values.size() >= 2 * kLeastRunsOfLevel; }

std::string LevelText(const Trend& trend) {
  const Stretch& level = trend.stretches.back();
  const std::string newest = AmountText(trend.quantity, trend.values.back());
  const std::string median = AmountText(trend.quantity, level.median);
  const std::int64_t run = trend.runs.back()->id, since = trend.runs[level.begin]->id;
  if (!CanHaveStep(trend)) {
    return Say("{}: {} in run {}, median {}; {} of the {} runs that tell a step change", trend.name,
               newest, run, median, trend.values.size(), 2 * kLeastRunsOfLevel);
  }
  const std::string noise = level.median > 0
                                ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(level.noise) /
                                                              static_cast<double>(level.median))
                                : AmountText(trend.quantity, level.noise);
  if (trend.stretches.size() == 1) {
    return Say("{}: no step change in {} runs; {} in run {}, median since run {} {}, noise {}",
               trend.name, trend.values.size(), newest, run, since, median, noise);
  }
  return Say("{}: {} in run {}; the median since run {} is {}, noise {}", trend.name, newest, run,
             since, median, noise);
}

void AddLines(const std::vector<Trend>& trends, const Trend& shown, ScreenLines& lines) {
  std::vector<StepItem> steps = StepsOf(shown);
  std::ranges::reverse(steps);  // the newest is the answer
  for (const StepItem& step : steps) AddSentence(StepText(step), lines);
  AddSentence(LevelText(shown), lines);
  AddList(shown, lines);
  std::string without;
  for (const Trend& trend : trends) {
    if (&trend == &shown) continue;
    for (const StepItem& step : StepsOf(trend)) AddSentence(StepText(step), lines);
    if (trend.stretches.size() == 1 && CanHaveStep(trend))
      without += (without.empty() ? "" : ", ") + trend.name;
  }
  if (!without.empty()) AddSentence(Say("no step change: {}", without), lines);
}

// --- Page ---

PageChart ChartOf(const Trend& trend) {
  const bool is_time = trend.quantity == Quantity::kTime;
  const auto largest = static_cast<double>(std::ranges::max(trend.values));
  const ChartUnit unit = trend.quantity == Quantity::kCount
                             ? ChartUnit{"count", 1}
                             : ChartUnitOf(is_time ? Measured::kNs : Measured::kBytes, largest);
  PageChart chart{.kind = PageChart::Kind::kLines,
                  .title = Say("{} of each run, and the band of its noise", trend.name),
                  .note = LevelText(trend),
                  .unit = std::string(unit.name),
                  .unit_of_places = Say("run"),
                  .band = Say("noise of the runs")};
  PageSeries value{.name = Say("run"), .tint = Tint::kBase},
      failed{.name = Say("failed its gate"), .tint = Tint::kWorse};
  bool any_failed = false;
  for (std::size_t i = 0; i < trend.values.size(); ++i) {
    const Stretch& level = trend.StretchOf(i);
    const auto middle = static_cast<double>(level.median);
    const double shown = static_cast<double>(trend.values[i]) / unit.size;
    const bool has_failed = trend.runs[i]->exit_code != 0;
    chart.at.push_back(static_cast<double>(trend.runs[i]->id));
    value.values.push_back(shown);
    failed.values.push_back(has_failed ? shown : std::numeric_limits<double>::quiet_NaN());
    any_failed = any_failed || has_failed;
    chart.bands.emplace_back(
        std::pair((middle - BandOf(level)) / unit.size, (middle + BandOf(level)) / unit.size));
  }
  for (const StepItem& step : StepsOf(trend)) {
    chart.marks.push_back(
        {static_cast<double>(step.run->id),
         Say("run {}: {}", step.run->id, GrowthOf(step.before->median, step.after->median))});
  }
  chart.series = {std::move(value)};
  if (any_failed) chart.series.push_back(std::move(failed));
  return chart;
}

// The metric that was asked for, then those with a step change.
std::vector<PageChart> ChartsOf(const std::vector<Trend>& trends, const Trend& shown) {
  std::vector<const Trend*> order;
  for (const Trend& trend : trends) {
    if (trend.values.size() > 1) order.push_back(&trend);  // a line needs two
  }
  std::ranges::stable_sort(order, {}, [&](const Trend* trend) {
    return std::pair(trend != &shown, trend->stretches.size() == 1);
  });
  std::vector<PageChart> charts;
  for (const Trend* trend : order) charts.push_back(ChartOf(*trend));
  return charts;
}

const Trend& Chosen(const std::vector<Trend>& trends, const std::string& metric) {
  if (trends.empty()) Fail(ErrorKind::kInput, "no run of the history has a metric");
  if (metric.empty()) return trends.front();
  const auto found = std::ranges::find(trends, metric, &Trend::name);
  if (found != trends.end()) return *found;
  std::vector<std::string> names;
  for (const Trend& trend : trends) names.push_back(trend.name);
  Fail(ErrorKind::kUsage, "--metric: the history has no '{}'; available: {}", metric,
       fmt::join(names, ", "));
}

}  // namespace

Report HistoryReport(const std::vector<HistoryRun>& runs, const std::string& metric) {
  Report report;
  const std::vector<Trend> trends = TrendsOf(runs);
  const Trend& shown = Chosen(trends, metric);
  AddLines(trends, shown, report.lines);
  report.drawings = ChartsOf(trends, shown);
  ItemSheet steps({"StepChanges", "Runs at which the level of a metric changed."}, StepColumns());
  ItemSheet values({"History", "Every metric of every run."}, ValueColumns());
  std::map<std::string_view, std::size_t> places;
  for (const Trend& trend : trends) {
    for (const StepItem& step : StepsOf(trend)) steps.Add(step);
    for (std::size_t i = 0; i < trend.values.size(); ++i) {
      const HistoryRun& run = *trend.runs[i];
      const auto value = std::ranges::find(run.values, trend.name, &HistoryRun::Value::metric);
      values.Add({&run, &*value, &trend.StretchOf(i)});
    }
  }
  report.sheets = {std::move(steps.sheet), std::move(values.sheet)};
  return report;
}

GateReport NewestOfHistory(const std::vector<HistoryRun>& runs) {
  GateReport gate;
  gate.exit_code = static_cast<int>(runs.back().exit_code);
  const std::vector<Trend> trends = TrendsOf(runs);
  for (const HistoryRun::Value& value : runs.back().values) {
    const auto trend = std::ranges::find(trends, value.metric, &Trend::name);
    GateMetric& metric = gate.metrics.emplace_back();
    metric.name = value.metric;
    metric.quantity = value.quantity;
    metric.base = trend->stretches.back().median;
    metric.comparison = value.median;
    metric.noise = static_cast<double>(trend->stretches.back().noise);
    for (const GateVerdict verdict :
         {GateVerdict::kImproved, GateVerdict::kRegression, GateVerdict::kUndecided,
          GateVerdict::kInconclusive, GateVerdict::kNotComparable}) {
      if (VerdictName(verdict) == value.verdict) metric.verdict = verdict;
    }
  }
  return gate;
}

}  // namespace mpa::gate
