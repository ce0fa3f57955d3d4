// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "mpa/recipe/duration_sample.h"
#include "mpa/report/member_columns.h"
#include "spans.h"

namespace mpa::recipes::mstx {
namespace {

// A level at which a span has a duration.
struct Level {
  const char* sheet;
  const char* file;
  std::optional<TimeNs> (*of)(const MarkedSpan& span);
};
using Time = std::optional<TimeNs>;
const Level kFramework = {"MSTXAllFrameworkStats", "all_fwk_stats",
                          [](const MarkedSpan& span) -> Time { return span.framework; }};
const Level kCann = {"MSTXAllCannStats", "all_cann_stats",
                     [](const MarkedSpan& span) -> Time { return span.cann; }};
const Level kDevice = {"MSTXAllDeviceStats", "all_device_stats",
                       [](const MarkedSpan& span) -> Time { return span.device; }};

double Percent(double part, double whole) { return whole != 0 ? 100 * part / whole : 0; }

// A span with the name that all ranks have for it.
struct SpanItem {
  std::size_t rank = 0;  // position
  std::int64_t rank_id = -1;
  const MarkedSpan* span = nullptr;
  std::string name;
  TimeNs framework_total = 0, cann_total = 0, device_total = 0;  // of the rank
};

using StepName = std::pair<std::int32_t, std::string>;

// Names that occur more than once in a step of any rank are numbered there on every rank, so that
// the number says which one it is.
std::vector<SpanItem> NumberedSpans(const Ranks& ranks) {
  std::map<StepName, int> most;
  const auto count = [](const MarkedSpans& part, const auto& visit) {
    std::map<std::pair<std::int32_t, std::uint32_t>, int> counts;
    for (const MarkedSpan& span : part.spans) visit(span, counts[{span.step, span.name}]++);
  };
  for (const auto& rank : ranks) {
    count(rank.part, [&, &part = rank.part](const MarkedSpan& span, int before) {
      int& known = most[{span.step, part.names[span.name]}];
      known = std::max(known, before + 1);
    });
  }
  std::vector<SpanItem> items;
  for (std::size_t position = 0; position < ranks.size(); ++position) {
    const MarkedSpans& part = ranks[position].part;
    SpanItem item{.rank = position, .rank_id = ranks[position].rank, .name = {}};
    for (const MarkedSpan& span : part.spans) {
      item.framework_total += span.framework.value_or(0);
      item.cann_total += span.cann;
      item.device_total += span.device.value_or(0);
    }
    count(part, [&](const MarkedSpan& span, int before) {
      const std::string& name = part.names[span.name];
      item.span = &span;
      item.name = most[{span.step, name}] > 1 ? fmt::format("{}_{}", name, before) : name;
      items.push_back(item);
    });
  }
  return items;
}

Cell TimeCell(const Time& time) { return time ? Cell(*time) : Cell(NoNumber::kUnknown); }

Cell ShareCell(const Time& time, TimeNs total) {
  if (!time) return NoNumber::kUnknown;
  return Percent(static_cast<double>(*time), static_cast<double>(total));
}

double CannShare(const SpanItem& item) {
  return Percent(static_cast<double>(item.span->cann), static_cast<double>(item.cann_total));
}

struct IndexedSpan {
  std::int64_t index = 0;
  const SpanItem& item;
};

std::vector<ColumnOf<IndexedSpan>> SpanColumns() {
  using Item = IndexedSpan;
  std::vector<ColumnOf<Item>> columns;
  const auto add = [&](const char* name, Format format, const char* meaning,
                       Cell (*cell)(const Item&)) {
    columns.push_back(
        {NamedColumn(name, format, format == Format::kText ? 40 : 14, meaning), cell});
  };
  add("index", Format::kInteger, "The number of the row.", Member<&Item::index>);
  add("Name", Format::kText,
      "What was marked, within the ranges around it; repetitions in a step are numbered.",
      [](const Item& row) -> Cell { return row.item.name; });
  add("FrameworkDurationNs", Format::kInteger,
      "From the operator that set the first mark to the one that set the second, in ns; 0 of "
      "ranges.",
      [](const Item& row) -> Cell { return TimeCell(row.item.span->framework); });
  add("FrameworkDurationRatio(%)", Format::kDecimals2, "Its share of all those of the rank, in %.",
      [](const Item& row) -> Cell {
        return ShareCell(row.item.span->framework, row.item.framework_total);
      });
  add("CannDurationNs", Format::kInteger, "Duration on the host, in ns.",
      [](const Item& row) -> Cell { return row.item.span->cann; });
  add("CannDurationRatio(%)", Format::kDecimals2, "Its share of all those of the rank, in %.",
      [](const Item& row) -> Cell { return CannShare(row.item); });
  add("DeviceDurationNs", Format::kInteger,
      "Duration on the stream, in ns; empty where nothing was recorded there.",
      [](const Item& row) -> Cell { return TimeCell(row.item.span->device); });
  add("DeviceDurationRatio(%)", Format::kDecimals2, "Its share of all those of the rank, in %.",
      [](const Item& row) -> Cell {
        return ShareCell(row.item.span->device, row.item.device_total);
      });
  add("Rank", Format::kInteger, "The rank.",
      [](const Item& row) -> Cell { return row.item.rank_id; });
  add("StepId", Format::kInteger, "The step in which it began; 0: none.",
      [](const Item& row) -> Cell { return std::int64_t{row.item.span->step}; });
  return columns;
}

// The largest share of its rank first.
Sheet SpanSheet(const std::vector<SpanItem>& items) {
  std::vector<const SpanItem*> rows;
  for (const SpanItem& item : items) rows.push_back(&item);
  std::stable_sort(rows.begin(), rows.end(), [](const SpanItem* a, const SpanItem* b) {
    return CannShare(*a) > CannShare(*b);
  });
  const auto columns = SpanColumns();
  Sheet sheet = SheetOf("MSTXMarkStats", columns,
                        {"mark_stats", TextFile::Unit::kMilliseconds, /*without=*/"index"});
  std::int64_t index = 0;
  for (const SpanItem* item : rows) AddRow(columns, {index++, *item}, item->rank, sheet);
  return sheet;
}

// A name in a step, over all ranks.
struct NameItem {
  std::string name;
  std::int32_t step = 0;
  DurationStats stats;
  std::int64_t min_rank = -1, max_rank = -1;

  double Dispersion() const {
    return Percent(static_cast<double>(stats.max) - stats.q3, static_cast<double>(stats.sum));
  }
};

std::vector<NameItem> NamesAt(const std::vector<SpanItem>& spans, const Level& level) {
  struct Values {
    std::vector<TimeNs> times;
    TimeNs min = 0, max = 0;
    std::int64_t min_rank = -1, max_rank = -1;
  };
  std::map<StepName, Values> names;
  for (const SpanItem& span : spans) {
    const Time time = level.of(*span.span);
    if (!time) continue;
    const auto [found, is_new] = names.try_emplace({span.span->step, span.name});
    Values& values = found->second;
    if (is_new || *time < values.min)
      std::tie(values.min, values.min_rank) = std::pair{*time, span.rank_id};
    if (is_new || *time > values.max)
      std::tie(values.max, values.max_rank) = std::pair{*time, span.rank_id};
    values.times.push_back(*time);
  }
  std::vector<NameItem> items;
  for (auto& [key, values] : names) {
    items.push_back({key.second, key.first, StatsOf(DurationSample(std::move(values.times))),
                     values.min_rank, values.max_rank});
  }
  std::stable_sort(items.begin(), items.end(), [](const NameItem& a, const NameItem& b) {
    return a.step != b.step ? a.step < b.step : a.Dispersion() > b.Dispersion();
  });
  return items;
}

std::vector<ColumnOf<NameItem>> NameColumns() {
  using Item = NameItem;
  std::vector<ColumnOf<Item>> stats;
  AddStatsColumns(stats);
  std::vector<ColumnOf<Item>> columns = {
      {NamedColumn("Name", Format::kText, 40, "What was marked; see MSTXMarkStats."),
       Member<&Item::name>}};
  for (ColumnOf<Item>& column : stats) {
    const bool is_min = column.column.name == "MinNs", is_max = column.column.name == "MaxNs";
    columns.push_back(std::move(column));
    if (is_min) {
      columns.push_back(
          {NamedColumn("MinRank", Format::kInteger, 10, "The first rank with the shortest."),
           Member<&Item::min_rank>});
    }
    if (is_max) {
      columns.push_back(
          {NamedColumn("MaxRank", Format::kInteger, 10, "The first rank with the longest."),
           Member<&Item::max_rank>});
    }
  }
  columns.push_back(
      {NamedColumn("Dispersion(%)", Format::kDecimals2, 14,
                   "How far the longest is above the third quartile, as a share of the sum, in %."),
       Member<&Item::Dispersion>});
  columns.push_back({NamedColumn("StepId", Format::kInteger, 10, "The step; 0: none."),
                     [](const Item& item) -> Cell { return std::int64_t{item.step}; }});
  return columns;
}

}  // namespace

void AddMstxSheets(const Ranks& ranks, Report& report) {
  for (const auto& rank : ranks) BeginRank(rank.rank, report);
  const std::vector<SpanItem> spans = NumberedSpans(ranks);
  report.sheets.push_back(SpanSheet(spans));
  const auto columns = NameColumns();
  for (const Level& level : {kFramework, kCann, kDevice}) {
    Sheet sheet =
        SheetOf(level.sheet, columns, {level.file, TextFile::Unit::kMilliseconds, /*without=*/""});
    for (const NameItem& item : NamesAt(spans, level)) AddRow(columns, item, 0, sheet);
    report.sheets.push_back(std::move(sheet));
  }
}

}  // namespace mpa::recipes::mstx
