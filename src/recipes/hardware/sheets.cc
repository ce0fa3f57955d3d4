// SPDX-License-Identifier: Apache-2.0
// The lists and drawings of counters.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "mpa/base/enum_name.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/recipe/rank_spread.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "part.h"
#include "value_text.h"

namespace mpa::recipes::hardware {
namespace {

std::string_view NameOf(CounterKind kind) {
  return EnumName<CounterKind::kTotal>(kind, {"level", "rate", "total"});
}

// A counter of a rank, or a value within one.
template <typename Value>
struct ItemOf {
  RankId rank;
  const Counter* counter = nullptr;
  const Value* value = nullptr;
};

constexpr Format kValue = Format::kDecimals2;

// The columns that name a counter.
template <typename Item>
SheetColumns<Item> NameColumns() {
  return {
      CountColumn<&Item::rank, kRank>("rankId", 8, "The rank."),
      TextColumn<&Item::counter, &Counter::id, &CounterName::group>(
          "group", 18, "What is counted: a memory, a kind of links, the host."),
      TextColumn<&Item::counter, &Counter::id, &CounterName::name>("counter", 24, "The counter."),
      TextColumn<&Item::counter, &Counter::id, &CounterName::part>(
          "part", 14,
          "Which memory, port, core or module; all: these together; empty: there is one."),
      TextColumn<&Item::counter, &Counter::id, &CounterName::unit>(
          "unit", 10, "The unit of the values; empty: a number without one.")};
}

std::string RanText(const Counter& counter) {
  std::string text;
  for (const Ran& ran : counter.ran)
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", ran.type,
                        100 * static_cast<double>(ran.time) / static_cast<double>(counter.high));
  return text;
}

SheetColumns<ItemOf<Counter>> CounterColumns() {
  using Item = ItemOf<Counter>;
  return Joined<Item>(
      NameColumns<Item>(),
      {{NamedColumn("kind", Format::kText, 8,
                    "level: holds until the next sample; rate: mean since the sample before; total:"
                    " counts up from a start before the capture."),
        [](const Item& item) -> Cell { return std::string(NameOf(item.counter->id.kind)); }},
       CountColumn<&Item::counter, &Counter::samples>("samples", 10, "Samples that count."),
       NumberColumn<&Item::counter, &Counter::min>("min", kValue, 18, "Least value."),
       NumberColumn<&Item::counter, &Counter::mean>("mean", kValue, 18,
                                                    "Mean, weighted by the time that values hold."),
       NumberColumn<&Item::counter, &Counter::p95>(
           "p95", kValue, 18, "Value that is not exceeded for 95 % of the time."),
       NumberColumn<&Item::counter, &Counter::max>("max", kValue, 18, "Greatest value."),
       CountColumn<&Item::counter, &Counter::max_time>(
           "maxNs", 20, "When the greatest value began to hold for the first time, in ns."),
       CountColumn<&Item::counter, &Counter::max_step, kIfKnown>(
           "maxStep", 10, "The step at that time; empty: none."),
       {NamedColumn("grown", kValue, 14,
                    "How much a total grew; empty: the counter is not a total."),
        [](const Item& item) -> Cell {
          return item.counter->id.kind == CounterKind::kTotal ? Cell(item.counter->grown) : Cell();
        }},
       NumberColumn<&Item::counter, &Counter::limit, kIfKnown>(
           "limit", kValue, 18,
           "The most that the chip or the port can do; empty: it is not known."),
       {NamedColumn("ofLimitPercent", Format::kDecimals2, 14,
                    "The greatest value as a share of the limit, in percent."),
        [](const Item& item) -> Cell {
          return item.counter->limit > 0 ? Cell(100 * item.counter->OfLimit()) : Cell();
        }},
       CountColumn<&Item::counter, &Counter::high>(
           "highNs", 16, "How long it was at 90 % of its greatest value or more, in ns."),
       {NamedColumn("whileHigh", Format::kText, 50,
                    "What ran on the device meanwhile, as shares of that time; several streams may"
                    " add up to more than 100 %."),
        [](const Item& item) -> Cell { return RanText(*item.counter); }}});
}

SheetColumns<ItemOf<InStep>> StepColumns() {
  using Item = ItemOf<InStep>;
  return Joined<Item>(
      NameColumns<Item>(),
      {CountColumn<&Item::value, &InStep::step>("step", 8, "The step."),
       NumberColumn<&Item::value, &InStep::mean>(
           "mean", kValue, 18, "Mean in the time of the step on the device, weighted by time."),
       NumberColumn<&Item::value, &InStep::max>("max", kValue, 18, "Greatest value in that time."),
       {NamedColumn("grown", kValue, 14,
                    "How much a total grew in the step; empty: the counter is not a total."),
        [](const Item& item) -> Cell {
          return item.counter->id.kind == CounterKind::kTotal ? Cell(item.value->grown) : Cell();
        }}});
}

SheetColumns<ItemOf<Ran>> RanColumns() {
  using Item = ItemOf<Ran>;
  return Joined<Item>(
      NameColumns<Item>(),
      {TextColumn<&Item::value, &Ran::type>("opType", 30,
                                            "Type of the kernels or collectives that ran."),
       CountColumn<&Item::value, &Ran::time>(
           "overlapNs", 16, "How long they ran while the counter was high, in ns."),
       {NamedColumn("sharePercent", Format::kDecimals2, 14, "Share of that time, in percent."),
        [](const Item& item) -> Cell {
          return 100 * static_cast<double>(item.value->time) /
                 static_cast<double>(item.counter->high);
        }}});
}

struct Stretch {
  TimeNs begin = 0, end = 0;
  double mean = 0;
};
struct StretchItem {
  RankId rank;
  const Counter* counter = nullptr;
  Stretch value;
};

SheetColumns<StretchItem> StretchColumns() {
  using Item = StretchItem;
  return Joined<Item>(
      NameColumns<Item>(),
      {CountColumn<&Item::value, &Stretch::begin>("startNs", 20, "Begin of the stretch, in ns."),
       CountColumn<&Item::value, &Stretch::end>("endNs", 20, "End of the stretch, in ns."),
       NumberColumn<&Item::value, &Stretch::mean>("mean", kValue, 18,
                                                  "Mean in the stretch, weighted by time.")});
}

struct KernelItem {
  RankId rank;
  const MemoryKernels* kernels = nullptr;
  double peak = -1;
};

Cell GigabytesPerSecond(double bytes) {
  constexpr double kGigabyte = 1e9;
  return bytes > 0 ? Cell(bytes / kGigabyte) : Cell();
}

SheetColumns<KernelItem> KernelColumns() {
  using Item = KernelItem;
  return {
      CountColumn<&Item::rank, kRank>("rankId", 8, "The rank."),
      TextColumn<&Item::kernels, &MemoryKernels::type>("opType", 30, "Type of the kernels."),
      TextColumn<&Item::kernels, &MemoryKernels::shapes>("inputShapes", 40,
                                                         "Shapes of their inputs."),
      CountColumn<&Item::kernels, &MemoryKernels::count>("kernels", 10, "How many there are."),
      CountColumn<&Item::kernels, &MemoryKernels::time>("timeNs", 16, "Their time, in ns."),
      {NamedColumn(
           "boundBy", Format::kText, 10,
           "loads: the units that move data from and to the memory (MTE2, MTE3) are the busiest"
           " ones of the cores for most of the time; shapes: no loads were measured, and they"
           " move their tensors at half the peak of the memory or more."),
       [](const Item& item) -> Cell {
         return std::string(item.kernels->measured ? "loads" : "shapes");
       }},
      {NamedColumn("bytes", kValue, 18,
                   "Bytes of their tensors, each read or written once; empty: shapes or types are"
                   " not known."),
       [](const Item& item) -> Cell {
         return item.kernels->bytes > 0 ? Cell(item.kernels->bytes) : Cell();
       }},
      {NamedColumn("gigabytesPerSecond", kValue, 14, "These bytes over the time of the kernels."),
       [](const Item& item) -> Cell { return GigabytesPerSecond(item.kernels->Rate()); }},
      {NamedColumn(
           "ofPeakPercent", kValue, 12,
           "The same as a share of the peak of the memory, in percent; more than 100: caches"
           " had a part of it. Empty: the peak is not known."),
       [](const Item& item) -> Cell {
         const double of_kernels = item.kernels->Rate();
         return item.peak > 0 && of_kernels > 0 ? Cell(100 * of_kernels / item.peak) : Cell();
       }},
      {NamedColumn("counterGigabytesPerSecond", kValue, 14,
                   "Mean of the counter of HBM, read and written, in their time; empty: it was not"
                   " sampled then."),
       [](const Item& item) -> Cell { return GigabytesPerSecond(item.kernels->counter); }},
      {NamedColumn(
           "ofSamplesPercent", kValue, 12,
           "How much of the time of these samples the kernels took, in percent: the less, the"
           " more the counter tells of what ran beside."),
       [](const Item& item) -> Cell {
         return item.kernels->counted > 0 ? Cell(100 * item.kernels->of_samples) : Cell();
       }}};
}

TimeNs BoundOf(const RankCounters& part, std::size_t stretch) {
  return part.begin + static_cast<TimeNs>(static_cast<double>(part.end - part.begin) *
                                          static_cast<double>(stretch) / kStretches);
}

struct SpreadItem {
  CounterName name;
  RankSpread spread;
  std::string outliers;
  std::int64_t ranks = 0;
};

SheetColumns<SpreadItem> SpreadColumns() {
  using Item = SpreadItem;
  return {TextColumn<&Item::name, &CounterName::group>(
              "group", 18, "What is counted: a memory, a kind of links, the host."),
          TextColumn<&Item::name, &CounterName::name>("counter", 24, "The counter."),
          TextColumn<&Item::name, &CounterName::part>(
              "part", 14,
              "Which memory, port, core or module; all: these together; empty: there is one."),
          TextColumn<&Item::name, &CounterName::unit>(
              "unit", 10, "The unit of the values; empty: a number without one."),
          CountColumn<&Item::ranks>("ranks", 8, "Ranks that have it."),
          NumberColumn<&Item::spread, &RankSpread::min, &RankValue::value>("minMean", kValue, 18,
                                                                           "Least mean of a rank."),
          CountColumn<&Item::spread, &RankSpread::min, &RankValue::rank, kRank>(
              "minRank", 8, "The rank with it."),
          NumberColumn<&Item::spread, &RankSpread::median>("medianMean", kValue, 18,
                                                           "Median of the means of the ranks."),
          NumberColumn<&Item::spread, &RankSpread::max, &RankValue::value>(
              "maxMean", kValue, 18, "Greatest mean of a rank."),
          CountColumn<&Item::spread, &RankSpread::max, &RankValue::rank, kRank>(
              "maxRank", 8, "The rank with it."),
          TextColumn<&Item::outliers>("outliers", 30, "Ranks whose mean stands out.")};
}

void AddSpread(const Ranks& ranks, Report& report) {
  ItemSheet list({"HardwareSpread", ToTranslate("Counters of the ranks compared")},
                 SpreadColumns());
  for (const CounterOfRanks& counter : MainCounters(ranks)) {
    SpreadItem item{counter.first->id, SpreadOf(counter.means), "",
                    static_cast<std::int64_t>(counter.means.size())};
    for (const RankValue& outlier : OutliersOf(counter.means))
      item.outliers += (item.outliers.empty() ? "" : ", ") + RankName(outlier.rank);
    list.Add(item);
  }
  report.sheets.push_back(std::move(list.sheet));
}

}  // namespace

void AddSheets(const Ranks& ranks, Report& report) {
  constexpr std::size_t kMostOverTime = 64;
  std::size_t over_time = 0;  // ranks
  ItemSheet counters({"HardwareCounters", ToTranslate("What the counters reach")},
                     CounterColumns());
  ItemSheet steps({"HardwareByStep", ToTranslate("Counters in each step")}, StepColumns());
  ItemSheet ran({"HardwareWhileHigh", ToTranslate("What ran while a counter was high")},
                RanColumns());
  ItemSheet kernels({"HardwareKernels", ToTranslate("Kernels that memory holds up")},
                    KernelColumns());
  ItemSheet stretches({"HardwareOverTime", ToTranslate("Counters over time")}, StretchColumns());
  counters.sheet.of_rank = {"hardware", "Counters"};
  steps.sheet.of_rank = {"hardware", "Steps"};
  ran.sheet.of_rank = {"hardware", "While high"};
  kernels.sheet.of_rank = {"hardware", "Kernels"};
  stretches.sheet.of_rank = {"hardware", "Over time"};
  for (const auto& [id, part] : ranks) {
    const RankIndex rank = BeginRank(id, report);
    for (const Counter& counter : part.counters) {
      counters.Add({id, &counter}, rank);
      for (const InStep& step : counter.steps) steps.Add({id, &counter, &step}, rank);
      for (const Ran& item : counter.ran) ran.Add({id, &counter, &item}, rank);
      for (std::size_t i = 0; i < counter.over_time.size(); ++i) {
        if (counter.over_time[i] < 0 || over_time == kMostOverTime) continue;
        stretches.Add(
            {id, &counter, {BoundOf(part, i), BoundOf(part, i + 1), counter.over_time[i]}}, rank);
      }
    }
    for (const MemoryKernels& item : part.kernels) kernels.Add({id, &item, part.memory_peak}, rank);
    over_time += over_time < kMostOverTime ? 1 : 0;
  }
  if (ranks.size() > kMostOverTime)
    report.notes.push_back(
        Say("HardwareOverTime lists the first {} of {} ranks", kMostOverTime, ranks.size()));
  for (Sheet* sheet :
       {&counters.sheet, &steps.sheet, &ran.sheet, &kernels.sheet, &stretches.sheet}) {
    if (!sheet->rows.empty()) report.sheets.push_back(std::move(*sheet));
  }
  if (ranks.size() > 1 && !report.sheets.empty()) AddSpread(ranks, report);
}

namespace {

// A line over the time of a rank, from its begin.
PageSeries LineOf(const Counter& counter, std::string name, double size) {
  PageSeries series{.name = std::move(name)};
  for (const double value : counter.over_time)
    series.values.push_back(value < 0 ? std::numeric_limits<double>::quiet_NaN() : value / size);
  return series;
}

// Places at which the means of the stretches are drawn, and the begins of the steps.
void SetPlaces(const RankCounters& part, bool with_steps, PageChart& chart) {
  chart.label = "ms";
  chart.unit_of_places = Say("ms since the begin");
  const double length = InMs(part.end - part.begin);
  for (std::size_t i = 0; i < kStretches; ++i)
    chart.at.push_back(length * (static_cast<double>(i) + 0.5) / kStretches);
  constexpr std::size_t kMostMarks = 20;
  if (!with_steps || part.steps.size() > kMostMarks) return;
  for (const Step& step : part.steps) {
    if (step.begin >= part.begin && step.begin < part.end)
      chart.marks.push_back({InMs(step.begin - part.begin), Say("step {}", step.id)});
  }
}

constexpr std::size_t kMostLines = 8;

// The main counters of one group with one unit share a chart.
void DrawOneRank(const OfRank<RankCounters>& rank, Report& report) {
  std::vector<std::pair<std::string, std::vector<const Counter*>>> charts;
  for (const Counter& counter : rank.part.counters) {
    if (counter.over_time.empty() || counter.id.kind == CounterKind::kTotal) continue;
    const std::string key = counter.id.group + "\n" + counter.id.unit;
    const auto found =
        std::ranges::find(charts, key, [](const auto& chart) { return chart.first; });
    if (found != charts.end()) {
      found->second.push_back(&counter);
    } else {
      charts.push_back({key, {&counter}});
    }
  }
  for (auto& [key, counters] : charts) {
    if (counters.size() > kMostLines) counters.resize(kMostLines);
    double most = 0;
    for (const Counter* counter : counters) most = std::max(most, counter->max);
    const ValueUnit unit = UnitOf(counters.front()->id, most);
    PageChart chart{
        .kind = PageChart::Kind::kLines,
        .title = Say("{}: {} over time", RankText(rank.rank), counters.front()->id.group),
        .note = Say("The mean of each of {} stretches of equal length.", kStretches),
        .unit = unit.name};
    SetPlaces(rank.part, true, chart);
    for (const Counter* counter : counters)
      chart.series.push_back(LineOf(*counter, counter->id.Label(), unit.size));
    report.drawings.push_back(std::move(chart));
  }
}

// A chart for each main counter, with the ranks that reach most.
void DrawRanks(const Ranks& ranks, Report& report) {
  constexpr std::size_t kMostCharts = 12;
  std::size_t charts = 0;
  for (const CounterOfRanks& counter : MainCounters(ranks)) {
    if (counter.first->id.kind == CounterKind::kTotal || charts++ == kMostCharts) continue;
    std::vector<std::pair<std::size_t, const Counter*>> shown = counter.counters;
    StableSort(shown, [](const auto& a, const auto& b) { return a.second->max > b.second->max; });
    const std::size_t all = shown.size();
    const ValueUnit unit = UnitOf(counter.first->id, shown.front().second->max);
    shown.resize(std::min(kMostLines, all));
    // In order of ranks again, so that a rank has the same colour in all charts.
    StableSort(shown, {}, [](const auto& of_rank) { return of_rank.first; });
    const RankCounters* longest = nullptr;
    for (const auto& [rank, of_rank] : shown) {
      const RankCounters& part = ranks[rank].part;
      if (longest == nullptr || part.end - part.begin > longest->end - longest->begin)
        longest = &part;
    }
    PageChart chart{
        .kind = PageChart::Kind::kLines,
        .title = Say("{} over time", counter.first->id.Label()),
        .note = shown.size() == all
                    ? Say("Each rank from its first sample on.")
                    : Say("Each rank from its first sample on. Shown are {} of {} ranks, those"
                          " that reach most.",
                          shown.size(), all),
        .unit = unit.name};
    SetPlaces(*longest, false, chart);
    for (const auto& [rank, of_rank] : shown) {
      if (of_rank->over_time.empty()) continue;
      const RankCounters& part = ranks[rank].part;
      PageSeries& series =
          chart.series.emplace_back(PageSeries{.name = RankText(ranks[rank].rank)});
      const double length = InMs(part.end - part.begin);
      for (const double at : chart.at) {
        const auto stretch = static_cast<std::size_t>(at / length * kStretches);
        const double value = stretch < kStretches ? of_rank->over_time[stretch] : -1;
        series.values.push_back(value < 0 ? std::numeric_limits<double>::quiet_NaN()
                                          : value / unit.size);
      }
    }
    if (!chart.series.empty()) report.drawings.push_back(std::move(chart));
  }
}

}  // namespace

void AddDrawings(const Ranks& ranks, Report& report) {
  if (ranks.size() == 1) {
    DrawOneRank(ranks.front(), report);
  } else {
    DrawRanks(ranks, report);
  }
}

}  // namespace mpa::recipes::hardware
