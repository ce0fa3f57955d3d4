// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/recipe/part_bytes.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// The part of a rank, as `reduce` gets it.
template <typename Part>
struct OfRank {
  RankId rank{};  ///< for RankName()
  const Part& part;
};

/// What the parts of recipes keep of a JobInfo.
template <class Archive>
void serialize(Archive& archive, JobInfo& job) {
  archive(job.groups, job.distributed_args, job.host_uid, job.host_name, job.devices);
}

/// Begins the rows of a rank in the report: workbooks of single ranks are made by it. Rows that are
/// added to the sheets afterwards get its position as their `rank`.
inline std::size_t BeginRank(RankId rank, Report& report) {
  report.ranks.push_back(rank);
  return report.ranks.size() - 1;
}

/// A row of the part of a rank, for sheets that list the rows of all ranks.
template <typename Row>
struct RowOfRank {
  RankId rank{};
  const Row* row = nullptr;
};

/// Adds a sheet with the rows that each part has in a list.
template <typename Part, typename Row>
void AddRowsOfRanks(const std::vector<OfRank<Part>>& ranks, std::vector<Row> Part::*rows,
                    ItemSheet<RowOfRank<Row>> columns, Report& report) {
  PartSheet<RowOfRank<Row>> list(std::move(columns));
  for (const auto& [id, part] : ranks) {
    const RankIndex rank = BeginRank(id, report);
    for (const Row& row : part.*rows) list.Add({id, &row}, rank);
  }
  report.sheets.push_back(std::move(list).Take());
}

/// Nothing to check: whatever the bytes of a part say can be reduced.
inline constexpr auto kChecksNothing = [](const auto&) {};

/// A recipe of two functions, for parts of any type that part_bytes.h can write:
///   Part kMap(const RankTrace&, const RecipeArguments&);
///   void kReduce(const std::vector<OfRank<Part>>&, const RecipeArguments&, OutputSelection,
///   Report&);
/// and of a third for parts that were read from files, which may hold anything:
///   void kCheck(const Part&);
/// It throws Error (kCorrupt) for a position that is in no list, and whatever else kReduce trusts.
template <auto kMap, auto kReduce, auto kCheck = kChecksNothing>
Recipe MakeRecipe(RecipeInfo info) {
  using Part =
      decltype(kMap(std::declval<const RankTrace&>(), std::declval<const RecipeArguments&>()));
  Recipe recipe{std::move(info), nullptr, nullptr, nullptr, nullptr};
  recipe.map = [](const RankTrace& trace,
                  const RecipeArguments& arguments) -> std::shared_ptr<const void> {
    return std::make_shared<const Part>(kMap(trace, arguments));
  };
  recipe.reduce = [](const std::vector<RankPart>& parts, const RecipeArguments& arguments,
                     OutputSelection wanted, Report& report) {
    std::vector<OfRank<Part>> typed;
    typed.reserve(parts.size());
    for (const RankPart& part : parts) {
      typed.push_back({part.rank, *static_cast<const Part*>(part.part.get())});
    }
    kReduce(typed, arguments, wanted, report);
    const auto are_made = [](const Sheet& sheet) { return sheet.rows.AreMade(); };
    const auto is_made = [](const TextDocument& document) { return document.write != nullptr; };
    if (std::ranges::none_of(report.sheets, are_made) &&
        std::ranges::none_of(report.documents, is_made))
      return;
    for (const RankPart& part : parts) report.sources.push_back(part.part);
  };
  recipe.encode = [](const RankPart& part) {
    return ToBytes(*static_cast<const Part*>(part.part.get()));
  };
  recipe.decode = [](std::string_view bytes) -> std::shared_ptr<const void> {
    auto part = std::make_shared<const Part>(FromBytes<Part>(bytes));
    kCheck(*part);
    return part;
  };
  return recipe;
}

}  // namespace mpa
