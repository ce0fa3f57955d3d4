// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/duration_sample.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_spread.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/screen_list.h"

/// Recipes that group durations by a key and summarise each group, of every rank by itself and of
/// all ranks together. A recipe declares its groupings, its sheets and its lines for the screen.
namespace mpa::recipes::sums {

/// What the durations of a group have in common.
struct Key {
  std::int32_t step = 0;  ///< 0 where groups do not tell steps apart
  std::vector<std::string> texts;
  auto operator<=>(const Key&) const = default;
};

/// The groups of a rank, in order of key, each once. A group without durations only says that the
/// rank has the key.
using Groups = std::vector<std::pair<Key, DurationSample>>;

/// What a rank comes to: its groups by each of the groupings of the recipe.
struct Part {
  std::vector<Groups> by;
};
using Ranks = std::vector<OfRank<Part>>;

using DurationsByKey = std::map<Key, std::vector<TimeNs>>;
Groups GroupsOf(DurationsByKey durations);

/// Groups `durations`: `id` gives what is cheap to compare of a row, such as ids of texts, and
/// `texts` the key of such an id. Ids with equal keys make one group. Rows without counts(row) are
/// left out.
template <typename Id, typename Texts, typename Counts>
Groups GroupBy(const std::vector<TimeNs>& durations, Id id, Texts texts, Counts counts) {
  std::map<decltype(id(0)), std::vector<TimeNs>> by_id;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    if (counts(i)) by_id[id(i)].push_back(durations[i]);
  }
  DurationsByKey by_key;
  for (auto& [of, values] : by_id) {
    std::vector<TimeNs>& known = by_key[{.step = 0, .texts = texts(of)}];
    known.insert(known.end(), values.begin(), values.end());
  }
  return GroupsOf(std::move(by_key));
}
template <typename Id, typename Texts>
Groups GroupBy(const std::vector<TimeNs>& durations, Id id, Texts texts) {
  return GroupBy(durations, id, texts, [](std::size_t) { return true; });
}

/// A group in a sheet.
struct GroupRow {
  Key key;
  DurationStats stats;
  double share = 0;              ///< of the sums of the rank, or of all ranks, in percent
  RankId rank{};                 ///< of a sheet of each rank
  std::size_t place = 0;         ///< of the rank among the others
  std::size_t ranks = 1;         ///< that the row could be about, with or without the key
  std::vector<RankValue> means;  ///< in ns, of each rank that has the key
  std::vector<RankId> min_ranks, max_ranks;  ///< with the shortest and the longest
};

/// How the rows of a sheet are ordered; rows that are equal stay in order of rank and key.
using Before = bool (*)(const GroupRow& a, const GroupRow& b);
inline bool LargestSumFirst(const GroupRow& a, const GroupRow& b) {
  return a.stats.sum > b.stats.sum;
}

struct SumSheet {
  SheetTitle title;
  TextFile text_file{};
  std::size_t by = 0;  ///< which of the groupings
  bool each_rank;      ///< else one row for a key of all ranks
  SheetColumns<GroupRow> columns{};
  Before before = nullptr;
  std::size_t most = SIZE_MAX;  ///< rows
  std::vector<Chart> charts{};
};

/// The sum of the durations of each rank and type, as cells.
Chart SumsOfEachRank(std::string title, Tint tint);

/// A list of the first rows of a sheet on the screen.
struct GroupList {
  ScreenList list;
  std::vector<Cell> (*cells)(const GroupRow& row);
  std::size_t shown;
  std::string_view noun;  ///< of a row: "... 3 more types"
};

/// The rows of a sheet.
std::vector<GroupRow> RowsOf(const SumSheet& sheet, const Ranks& ranks);
/// A sheet with rows of RowsOf().
Sheet SheetWith(const SumSheet& sheet, const std::vector<GroupRow>& rows);
void AppendList(const GroupList& list, const std::vector<GroupRow>& rows, Report& report);

inline double Ms(double ns) { return ns / 1e6; }
inline double SumMs(const std::vector<GroupRow>& rows) {
  TimeNs sum = 0;
  for (const GroupRow& row : rows) sum += row.stats.sum;
  return Ms(static_cast<double>(sum));
}

/// Of the rows of a list of sums, the largest first, what the first has of all: a name for a
/// sentence, and times in ms.
struct LargestSum {
  std::string name;
  double own = 0, all = 0, percent = 0;
};
LargestSum LargestOf(const std::vector<GroupRow>& rows);

/// The column of a text of the key.
template <std::size_t kText>
ColumnOf<GroupRow> KeyColumn(const char* name, double width, const char* meaning) {
  return {NamedColumn(name, Format::kText, width, meaning),
          [](const GroupRow& row) -> Cell { return row.key.texts[kText]; }};
}
/// The columns `front`, those of StatsColumns(), and `behind`.
inline SheetColumns<GroupRow> WithStats(SheetColumns<GroupRow> front,
                                        SheetColumns<GroupRow> behind = {}) {
  return Joined(std::move(front), StatsColumns<GroupRow>(), std::move(behind));
}
/// "MinRank" and "MaxRank": the first with the shortest and with the longest.
ColumnOf<GroupRow> MinRankColumn();
ColumnOf<GroupRow> MaxRankColumn();
inline ColumnOf<GroupRow> RankColumn(const char* name = "Rank", double width = 10) {
  return CountColumn<&GroupRow::rank, kRank>(name, width, "The rank.");
}

/// The rows of the sheets of a recipe, each made when they are first asked for.
class SumTables {
 public:
  SumTables(std::vector<SumSheet> sheets, const Ranks& ranks)
      : sheets_(std::move(sheets)), ranks_(ranks), rows_(sheets_.size()) {}

  const std::vector<GroupRow>& Rows(std::size_t sheet) {
    if (!rows_[sheet]) rows_[sheet] = RowsOf(sheets_[sheet], ranks_);
    return *rows_[sheet];
  }
  /// "4 ranks", "3 of 4 ranks" where nothing is known of one.
  std::string RankCountText() const;
  /// In ms, of all groups of each rank of which something is known.
  std::vector<RankValue> SumsOfRanks(std::size_t by) const;
  void AddSheets(Report& report) {
    for (std::size_t i = 0; i < sheets_.size(); ++i) {
      report.sheets.push_back(SheetWith(sheets_[i], Rows(i)));
    }
  }

 private:
  std::vector<SumSheet> sheets_;
  const Ranks& ranks_;
  std::vector<std::optional<std::vector<GroupRow>>> rows_;
};

/// Throws Error (kCorrupt) for a part of another recipe, or a damaged one: its groupings have other
/// keys than `texts` says, the number of texts of each.
void CheckSums(const Part& part, std::span<const std::size_t> texts);

/// A recipe of three functions, and of the number of texts in the keys of each grouping:
///   Part kMap(const RankTrace&, const RecipeArguments&);
///   std::vector<SumSheet> kSheets(const RecipeArguments&);
///   void kLines(SumTables&, Report&);
template <auto kMap, auto kSheets, auto kLines, std::size_t... kTexts>
Recipe SumRecipe(RecipeInfo info) {
  constexpr auto kReduce = [](const Ranks& ranks, const RecipeArguments& arguments,
                              OutputSelection wanted, Report& report) {
    SumTables tables(kSheets(arguments), ranks);
    if (wanted.sheets) tables.AddSheets(report);
    if (wanted.screen != Detail::kNone) kLines(tables, report);
  };
  constexpr auto kCheck = [](const Part& part) {
    CheckSums(part, std::array<std::size_t, sizeof...(kTexts)>{kTexts...});
  };
  return MakeRecipe<kMap, kReduce, kCheck>(std::move(info));
}

}  // namespace mpa::recipes::sums
