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

enum Level : std::size_t { kFramework, kCann, kDevice, kLevels };

// A span with the name that all ranks have for it.
struct SpanItem {
  std::size_t rank = 0;  // position
  std::int64_t index = 0, rank_id = -1;
  std::int32_t step = 0;
  std::string name;
  std::array<Time, kLevels> times;
  std::array<TimeNs, kLevels> totals{};  // of the rank

  double Share(std::size_t level) const {
    return Percent(static_cast<double>(times[level].value_or(0)),
                   static_cast<double>(totals[level]));
  }
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
    std::array<TimeNs, kLevels> totals{};
    for (const MarkedSpan& span : part.spans) {
      totals[kFramework] += span.framework.value_or(0);
      totals[kCann] += span.cann;
      totals[kDevice] += span.device.value_or(0);
    }
    count(part, [&](const MarkedSpan& span, int before) {
      const std::string& name = part.names[span.name];
      SpanItem& item = items.emplace_back();
      item.rank = position;
      item.rank_id = ranks[position].rank;
      item.step = span.step;
      item.name = most[{span.step, name}] > 1 ? fmt::format("{}_{}", name, before) : name;
      item.times = {span.framework, span.cann, span.device};
      item.totals = totals;
    });
  }
  return items;
}

template <Level kLevel>
void AddLevel(const std::string& name, const char* meaning, SheetColumns<SpanItem>& columns) {
  columns.push_back({NamedColumn(name + "DurationNs", Format::kInteger, 14, meaning),
                     [](const SpanItem& item) -> Cell {
                       const Time& time = item.times[kLevel];
                       return time ? Cell(*time) : Cell(NoNumber::kUnknown);
                     }});
  columns.push_back({NamedColumn(name + "DurationRatio(%)", Format::kDecimals2, 14,
                                 "Its share of all those of the rank, in %."),
                     [](const SpanItem& item) -> Cell {
                       return item.times[kLevel] ? Cell(item.Share(kLevel))
                                                 : Cell(NoNumber::kUnknown);
                     }});
}

SheetColumns<SpanItem> SpanColumns() {
  SheetColumns<SpanItem> columns = {
      CountColumn<&SpanItem::index>("index", 14, "The number of the row."),
      TextColumn<&SpanItem::name>(
          "Name", 40,
          "What was marked, within the ranges around it; repetitions in a step are numbered.")};
  AddLevel<kFramework>("Framework",
                       "From the operator that set the first mark to the one that set the second, "
                       "in ns; 0 of ranges.",
                       columns);
  AddLevel<kCann>("Cann", "Duration on the host, in ns.", columns);
  AddLevel<kDevice>(
      "Device", "Duration on the stream, in ns; empty where nothing was recorded there.", columns);
  columns.push_back(CountColumn<&SpanItem::rank_id>("Rank", 14, "The rank."));
  columns.push_back(
      CountColumn<&SpanItem::step>("StepId", 14, "The step in which it began; 0: none."));
  return columns;
}

// The largest share of its rank first.
Sheet SpanSheet(std::vector<SpanItem> items) {
  std::ranges::stable_sort(
      items, [](const SpanItem& a, const SpanItem& b) { return a.Share(kCann) > b.Share(kCann); });
  const auto columns = SpanColumns();
  Sheet sheet = SheetOf("MSTXMarkStats", columns,
                        {"mark_stats", TextFile::Unit::kMilliseconds, /*without=*/"index"});
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].index = static_cast<std::int64_t>(i);
    AddRow(columns, items[i], items[i].rank, sheet);
  }
  return sheet;
}

// How far the longest is above the third quartile, as a share of the sum.
double Dispersion(const GroupRow& row) {
  const DurationStats& stats = row.stats;
  return Percent(static_cast<double>(stats.max) - stats.q3.value_or(0),
                 static_cast<double>(stats.sum));
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
    const auto at =
        std::ranges::find_if(columns, [&](const auto& known) { return known.column.name == name; });
    columns.insert(at + 1, std::move(column));
  };
  insert_behind("MinNs", sums::MinRankColumn());
  insert_behind("MaxNs", sums::MaxRankColumn());
  return columns;
}

// By name and step, of each rank: at the framework, at CANN, on the device.
std::vector<sums::Part> GroupsOfRanks(const std::vector<SpanItem>& items, std::size_t ranks) {
  std::vector<std::array<sums::Durations, kLevels>> of_ranks(ranks);
  for (const SpanItem& item : items) {
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (!item.times[level]) continue;
      of_ranks[item.rank][level][{item.step, {item.name}}].push_back(*item.times[level]);
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
  std::vector<SpanItem> items = NumberedSpans(ranks);
  const std::vector<sums::Part> parts = GroupsOfRanks(items, ranks.size());
  report.sheets.push_back(SpanSheet(std::move(items)));
  sums::Ranks of_names;
  for (std::size_t i = 0; i < ranks.size(); ++i) of_names.push_back({ranks[i].rank, parts[i]});
  sums::SumTables(NameSheets(), of_names).AddSheets(report);
}

}  // namespace mpa::recipes::mstx
