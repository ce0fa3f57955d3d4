// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"

namespace mpa::recipes::sums {
namespace {

// Shares are those of the rows from `first` on.
void SetShares(std::vector<GroupRow>& rows, std::size_t first) {
  TimeNs total = 0;
  for (std::size_t i = first; i < rows.size(); ++i) total += rows[i].stats.sum;
  for (std::size_t i = first; i < rows.size() && total > 0; ++i) {
    rows[i].share = 100.0 * static_cast<double>(rows[i].stats.sum) / static_cast<double>(total);
  }
}

std::vector<GroupRow> RowsOfRanks(std::size_t by, const Ranks& ranks) {
  std::vector<GroupRow> rows;
  for (std::size_t place = 0; place < ranks.size(); ++place) {
    const std::size_t first = rows.size();
    for (const auto& [key, sample] : ranks[place].part.by[by]) {
      GroupRow& row = rows.emplace_back();
      row.key = key;
      row.stats = StatsOf(sample);
      row.rank = ranks[place].rank;
      row.place = place;
    }
    SetShares(rows, first);
  }
  return rows;
}

// Quartiles are those of all durations together.
std::vector<GroupRow> RowsOfAll(std::size_t by, const Ranks& ranks) {
  std::map<Key, std::pair<GroupRow, DurationSample>> groups;
  for (const auto& [rank, part] : ranks) {
    for (const auto& [key, sample] : part.by[by]) {
      const auto [found, is_new] = groups.try_emplace(key);
      auto& [row, all] = found->second;
      const DurationStats stats = StatsOf(sample);
      if (is_new || stats.min < row.stats.min) row.min_ranks.clear();
      if (is_new || stats.max > row.stats.max) row.max_ranks.clear();
      if (row.min_ranks.empty()) row.stats.min = stats.min;
      if (row.max_ranks.empty()) row.stats.max = stats.max;
      if (stats.min == row.stats.min) row.min_ranks.push_back(rank);
      if (stats.max == row.stats.max) row.max_ranks.push_back(rank);
      row.means.push_back({rank, stats.mean});
      all.Merge(sample);
    }
  }
  std::vector<GroupRow> rows;
  for (auto& [key, group] : groups) {
    GroupRow& row = rows.emplace_back(std::move(group.first));
    row.key = key;
    row.stats = StatsOf(group.second);
    row.ranks = ranks.size();
  }
  SetShares(rows, 0);
  return rows;
}

}  // namespace

Groups GroupsOf(DurationsByKey durations) {
  Groups groups;
  groups.reserve(durations.size());
  for (auto& [key, values] : durations) {
    groups.emplace_back(key, DurationSample(std::move(values)));
  }
  return groups;
}

void CheckSums(const Part& part, std::span<const std::size_t> texts) {
  bool holds = part.by.size() == texts.size();
  for (std::size_t by = 0; holds && by < part.by.size(); ++by) {
    for (const auto& [key, sample] : part.by[by]) holds = holds && key.texts.size() == texts[by];
  }
  if (!holds) Fail(ErrorKind::kCorrupt, "the part holds other sums than those of the recipe");
}

std::vector<GroupRow> RowsOf(const SumSheet& sheet, const Ranks& ranks) {
  std::vector<GroupRow> rows =
      sheet.each_rank ? RowsOfRanks(sheet.by, ranks) : RowsOfAll(sheet.by, ranks);
  if (sheet.before != nullptr) StableSort(rows, sheet.before);
  if (rows.size() > sheet.most) rows.resize(sheet.most);
  return rows;
}

Chart SumsOfEachRank(std::string title, Tint tint) {
  Chart chart = HeatOf(std::move(title), "Rank", "OpType", {"SumNs", tint}, Measured::kNs,
                       Chart::SameLabel::kSum);
  chart.own_scale = true;
  return chart;
}

Sheet SheetWith(const SumSheet& sheet, const std::vector<GroupRow>& rows) {
  ItemSheet list(sheet.title, sheet.columns, sheet.text_file);
  list.sheet.charts = sheet.charts;
  for (const GroupRow& row : rows) list.Add(row);
  return std::move(list.sheet);
}

LargestSum LargestOf(const std::vector<GroupRow>& rows) {
  const double own = Ms(static_cast<double>(rows.front().stats.sum)), all = SumMs(rows);
  return {ShortenName(Printable(rows.front().key.texts[0]), 30), own, all,
          all > 0 ? 100 * own / all : 0};
}

void AppendList(const GroupList& list, const std::vector<GroupRow>& rows, Report& report) {
  report.lines.push_back(list.list.Heading());
  const std::size_t shown = std::min(list.shown, rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    report.lines.push_back(list.list.LineOf(list.cells(rows[i])));
  }
  AddMoreLine(rows.size(), shown, list.noun, report.lines);
}

std::string SumTables::RankCountText() const {
  const auto known = static_cast<std::size_t>(
      std::ranges::count_if(ranks_, [](const auto& rank) { return !rank.part.by[0].empty(); }));
  const std::string all = Counted(ranks_.size(), "rank");
  return known < ranks_.size() ? Say("{} of {}", known, all) : all;
}

std::vector<RankValue> SumTables::SumsOfRanks(std::size_t by) const {
  std::vector<RankValue> sums;
  for (const auto& [rank, part] : ranks_) {
    if (part.by[by].empty()) continue;
    TimeNs sum = 0;
    for (const auto& [key, sample] : part.by[by]) sum += StatsOf(sample).sum;
    sums.push_back({rank, Ms(static_cast<double>(sum))});
  }
  return sums;
}

ColumnOf<GroupRow> MinRankColumn() {
  return {NamedColumn("MinRank", Format::kInteger, 10, "First rank with the shortest duration."),
          [](const GroupRow& row) -> Cell { return RankCell(row.min_ranks.front()); }};
}

ColumnOf<GroupRow> MaxRankColumn() {
  return {NamedColumn("MaxRank", Format::kInteger, 10, "First rank with the longest duration."),
          [](const GroupRow& row) -> Cell { return RankCell(row.max_ranks.front()); }};
}

}  // namespace mpa::recipes::sums
