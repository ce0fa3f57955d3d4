// SPDX-License-Identifier: Apache-2.0
// How long the compute kernels of every rank ran, by type and by name.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "mpa/recipe/arguments.h"
#include "mpa/recipe/duration_sample.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_spread.h"
#include "mpa/report/member_columns.h"

namespace mpa::recipes {
namespace {

constexpr std::string_view kWithoutNames = "exclude_op_name";

// Type of operator and core; name and shapes, too, where kernels are listed by name.
using TypeKey = std::pair<std::string, std::string>;
using NameKey = std::tuple<std::string, std::string, std::string, std::string>;

struct ComputeOps {
  std::vector<std::pair<TypeKey, DurationSample>> by_type;
  std::vector<std::pair<NameKey, DurationSample>> by_name;  // name, type, core, shapes
};

std::string OrNone(std::string_view text) { return std::string(text.empty() ? "N/A" : text); }

ComputeOps MapComputeOpSum(const RankTrace& trace, const RecipeArguments& arguments) {
  const Kernels& kernels = trace.kernels;
  const bool names = !arguments.contains(kWithoutNames);
  std::map<std::tuple<StringId, StringId>, std::vector<TimeNs>> types;
  std::map<std::tuple<StringId, StringId, StringId, StringId>, std::vector<TimeNs>> of_names;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    types[{kernels.op_type[i], kernels.core[i]}].push_back(kernels.dur[i]);
    if (!names) continue;
    of_names[{kernels.name[i], kernels.op_type[i], kernels.core[i], kernels.shapes[i]}].push_back(
        kernels.dur[i]);
  }
  const auto text = [&](StringId id) { return OrNone(trace.strings.View(id)); };
  ComputeOps part;
  for (auto& [key, durations] : types) {
    part.by_type.push_back(
        {{text(std::get<0>(key)), text(std::get<1>(key))}, DurationSample(std::move(durations))});
  }
  for (auto& [key, durations] : of_names) {
    part.by_name.push_back({{text(std::get<0>(key)), text(std::get<1>(key)), text(std::get<2>(key)),
                             text(std::get<3>(key))},
                            DurationSample(std::move(durations))});
  }
  return part;
}

struct TypeItem {
  TypeKey key;
  DurationStats stats;
  std::int64_t rank = -1;
};
struct NameItem {
  NameKey key;
  DurationStats stats;
  std::int64_t rank = -1;
};

// The column of a part of the key.
template <typename Item, std::size_t kPart>
ColumnOf<Item> KeyColumn(const char* name, double width, const char* meaning) {
  return {NamedColumn(name, Format::kText, width, meaning),
          [](const Item& item) -> Cell { return std::get<kPart>(item.key); }};
}

template <typename Item>
ColumnOf<Item> RankColumn() {
  return {NamedColumn("Rank", Format::kInteger, 10, "The rank."), Member<&Item::rank>};
}

std::vector<ColumnOf<TypeItem>> TypeColumns(bool with_rank) {
  std::vector<ColumnOf<TypeItem>> columns = {
      KeyColumn<TypeItem, 0>("OpType", 30, "Type of the operator."),
      KeyColumn<TypeItem, 1>("TaskType", 18, "The core that ran it, such as AI_CORE.")};
  AddStatsColumns(columns);
  if (with_rank) columns.push_back(RankColumn<TypeItem>());
  return columns;
}

std::vector<ColumnOf<NameItem>> NameColumns() {
  std::vector<ColumnOf<NameItem>> columns = {
      KeyColumn<NameItem, 0>("OpName", 40, "The kernel."),
      KeyColumn<NameItem, 1>("OpType", 30, "Type of the operator."),
      KeyColumn<NameItem, 2>("TaskType", 18, "The core that ran it, such as AI_CORE."),
      KeyColumn<NameItem, 3>("InputShapes", 40, "Shapes of the inputs, joined by ';'.")};
  AddStatsColumns(columns);
  columns.push_back(RankColumn<NameItem>());
  return columns;
}

// The largest sum first; of equal ones in order of key and rank.
template <typename Item>
void SortBySum(std::vector<Item>& items) {
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::tie(b.stats.sum, a.key, a.rank) < std::tie(a.stats.sum, b.key, b.rank);
  });
}

using Ranks = std::vector<OfRank<ComputeOps>>;

std::vector<TypeItem> AllRanks(const Ranks& ranks) {
  std::map<TypeKey, DurationSample> samples;
  for (const auto& rank : ranks) {
    for (const auto& [key, sample] : rank.part.by_type) samples[key].Merge(sample);
  }
  std::vector<TypeItem> items;
  for (const auto& [key, sample] : samples) items.push_back({key, StatsOf(sample)});
  SortBySum(items);
  return items;
}

void AddSheets(const Ranks& ranks, const std::vector<TypeItem>& all, bool names, Report& report) {
  const auto all_columns = TypeColumns(false);
  const auto type_columns = TypeColumns(true);
  const auto name_columns = NameColumns();
  Sheet sums = SheetOf("ComputeOpAllRankStats", all_columns, {"all_stats"});
  Sheet types = SheetOf("ComputeOpPerRankStatsByOpType", type_columns, {"rank_stats_by_optype"});
  Sheet of_names = SheetOf("ComputeOpPerRankStatsByOpName", name_columns, {"rank_stats_by_opname"});
  for (const TypeItem& item : all) AddRow(all_columns, item, 0, sums);
  std::vector<TypeItem> type_items;
  std::vector<NameItem> name_items;
  for (const auto& [rank, part] : ranks) {
    for (const auto& [key, sample] : part.by_type) {
      type_items.push_back({key, StatsOf(sample), rank});
    }
    for (const auto& [key, sample] : part.by_name) {
      name_items.push_back({key, StatsOf(sample), rank});
    }
  }
  SortBySum(type_items);
  SortBySum(name_items);
  for (const TypeItem& item : type_items) AddRow(type_columns, item, 0, types);
  for (const NameItem& item : name_items) AddRow(name_columns, item, 0, of_names);
  report.sheets = {std::move(sums), std::move(types)};
  if (names) report.sheets.push_back(std::move(of_names));
}

// Where the time goes: the longest types, and how they spread over the ranks.
void AddLines(const Ranks& ranks, const std::vector<TypeItem>& all, Report& report) {
  TimeNs total = 0;
  for (const TypeItem& item : all) total += item.stats.sum;
  std::vector<RankValue> of_ranks;
  for (const auto& rank : ranks) {
    TimeNs sum = 0;
    for (const auto& [key, sample] : rank.part.by_type) sum += StatsOf(sample).sum;
    of_ranks.push_back({rank.rank, static_cast<double>(sum) / 1e6});
  }
  if (all.empty()) return;
  const auto ms = [](TimeNs time) { return static_cast<double>(time) / 1e6; };
  report.lines.push_back(fmt::format("compute kernels: {:.3f} ms on {} rank{}", ms(total),
                                     ranks.size(), ranks.size() == 1 ? "" : "s"));
  if (of_ranks.size() > 1) {
    const RankSpread spread = SpreadOf(of_ranks);
    report.lines.push_back(fmt::format(
        "of one rank: min {:.3f} ms ({}), median {:.3f} ms, max {:.3f} ms ({})", spread.min.value,
        RankText(spread.min.rank), spread.median, spread.max.value, RankText(spread.max.rank)));
  }
  constexpr std::size_t kShown = 10;
  report.lines.push_back(
      fmt::format("{:<32} {:<16} {:>8} {:>12} {:>7}", "type", "core", "kernels", "ms", "share"));
  for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i) {
    const TypeItem& item = all[i];
    report.lines.push_back(fmt::format("{:<32.32} {:<16.16} {:>8} {:>12.3f} {:>5.1f} %",
                                       item.key.first, item.key.second, item.stats.count,
                                       ms(item.stats.sum),
                                       100.0 * static_cast<double>(item.stats.sum) /
                                           static_cast<double>(std::max<TimeNs>(total, 1))));
  }
  if (all.size() > kShown) report.lines.push_back(fmt::format("... {} more", all.size() - kShown));
}

void ReduceComputeOpSum(const Ranks& ranks, const RecipeArguments& arguments, Wanted wanted,
                        Report& report) {
  const std::vector<TypeItem> all = AllRanks(ranks);
  if (wanted.sheets) AddSheets(ranks, all, !arguments.contains(kWithoutNames), report);
  if (wanted.screen != Detail::kNone) AddLines(ranks, all, report);
}

Verdict JudgeComputeOpSum(const RankFacts& facts) {
  return JudgeKernelTypes(facts, "only kernels of NPUs are summed");
}

}  // namespace

Recipe ComputeOpSum() {
  return MakeRecipe<MapComputeOpSum, ReduceComputeOpSum>(
      {.name = "compute_op_sum",
       .folder = "ComputeOpSum",
       .summary = "how long compute kernels ran, by type and by name",
       .needs = Tables::kKernels,
       .parameters = {{kWithoutNames, "", "Sum by type only: no table by name and shapes"}},
       .can_run = JudgeComputeOpSum});
}

}  // namespace mpa::recipes
