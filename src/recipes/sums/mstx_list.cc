// SPDX-License-Identifier: Apache-2.0
// The sheets of mstx_sum. Repeated names are numbered, so spans are grouped when all ranks are
// there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "mstx_spans.h"

namespace mpa::recipes::mstx {
namespace {

using Time = std::optional<TimeNs>;
using sums::GroupRow;

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
std::vector<SpanItem> NumberedSpans(const MarkedRanks& ranks) {
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

// How far the longest is above the third quartile, as a share of the sum.
double Dispersion(const GroupRow& row) {
  const DurationStats& stats = row.stats;
  return Percent(static_cast<double>(stats.max) - stats.q3, static_cast<double>(stats.sum));
}

SheetColumns<GroupRow> NameColumns() {
  auto columns = sums::WithStats(
      {sums::KeyColumn<0>("Name", 40, "What was marked; see MSTXMarkStats.")},
      {{NamedColumn(
            "Dispersion(%)", Format::kDecimals2, 14,
            "How far the longest is above the third quartile, as a share of the sum, in %."),
        [](const GroupRow& row) -> Cell { return Dispersion(row); }},
       CountColumn<&GroupRow::key, &sums::Key::step>("StepId", 10, "The step; 0: none.")});
  const auto insert_behind = [&](std::string_view name, ColumnOf<GroupRow> column) {
    const auto at = std::find_if(columns.begin(), columns.end(),
                                 [&](const auto& known) { return known.column.name == name; });
    columns.insert(at + 1, std::move(column));
  };
  insert_behind("MinNs", sums::MinRankColumn());
  insert_behind("MaxNs", sums::MaxRankColumn());
  return columns;
}

// By name and step, of each rank: at the framework, at CANN, on the device.
std::vector<sums::Part> GroupsOfRanks(const std::vector<SpanItem>& items, std::size_t ranks) {
  std::vector<std::array<sums::Durations, 3>> of_ranks(ranks);
  for (const SpanItem& item : items) {
    const MarkedSpan& span = *item.span;
    const Time times[] = {span.framework, span.cann, span.device};
    for (std::size_t level = 0; level < std::size(times); ++level) {
      if (!times[level]) continue;
      of_ranks[item.rank][level][{span.step, {item.name}}].push_back(*times[level]);
    }
  }
  std::vector<sums::Part> parts(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (sums::Durations& level : of_ranks[rank]) {
      parts[rank].by.push_back(sums::GroupsOf(std::move(level)));
    }
  }
  return parts;
}

std::vector<sums::SumSheet> NameSheets() {
  std::vector<sums::SumSheet> sheets;
  const auto add = [&](const char* name, const char* file) {
    sheets.push_back({name,
                      {file, TextFile::Unit::kMilliseconds, /*without=*/""},
                      sheets.size(),
                      /*each_rank=*/false,
                      NameColumns(),
                      [](const GroupRow& a, const GroupRow& b) {
                        return a.key.step != b.key.step ? a.key.step < b.key.step
                                                        : Dispersion(a) > Dispersion(b);
                      }});
  };
  add("MSTXAllFrameworkStats", "all_fwk_stats");
  add("MSTXAllCannStats", "all_cann_stats");
  add("MSTXAllDeviceStats", "all_device_stats");
  return sheets;
}

}  // namespace

void AddMstxSheets(const MarkedRanks& ranks, Report& report) {
  const std::vector<SpanItem> items = NumberedSpans(ranks);
  report.sheets.push_back(SpanSheet(items));
  const std::vector<sums::Part> parts = GroupsOfRanks(items, ranks.size());
  sums::Ranks of_names;
  for (std::size_t i = 0; i < ranks.size(); ++i) of_names.push_back({ranks[i].rank, parts[i]});
  sums::SumTables(NameSheets(), of_names).AddSheets(report);
}

}  // namespace mpa::recipes::mstx
