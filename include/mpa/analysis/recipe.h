// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mpa/model/rank_trace.h"
#include "mpa/report/report.h"

namespace mpa {

/// Which capture a part was computed from.
struct Origin {
  Side side = Side::kNeither;
  std::string path;
};

template <typename Part>
struct PartOf {
  Origin origin;
  Part part;
};

/// An analysis: `map` condenses one rank, `reduce` turns the parts of all ranks into sheets. `map`
/// runs on several ranks at once and depends on its argument only. A part holds values, no string
/// ids and no pointers into the rank: it outlives the rank.
struct Recipe {
  std::string name;
  std::string summary;  ///< one line for --help
  Tables needs{};       ///< the loader reads nothing else
  std::function<std::any(const RankTrace&)> map;
  std::function<void(const std::vector<PartOf<std::any>>&, Report&)> reduce;
};

/// Name, summary and needs of a Recipe, and its two functions with the part's real type.
template <typename Part>
Recipe MakeRecipe(std::string name, std::string summary, Tables needs,
                  Part (*map)(const RankTrace&),
                  void (*reduce)(const std::vector<PartOf<Part>>&, Report&)) {
  Recipe recipe{std::move(name), std::move(summary), needs, {}, {}};
  recipe.map = [map](const RankTrace& trace) -> std::any { return map(trace); };
  recipe.reduce = [reduce](const std::vector<PartOf<std::any>>& parts, Report& report) {
    std::vector<PartOf<Part>> typed;
    typed.reserve(parts.size());
    for (const auto& part : parts) {
      typed.push_back({part.origin, std::any_cast<const Part&>(part.part)});
    }
    reduce(typed, report);
  };
  return recipe;
}

/// The analyses of `compare`, in the order of their sheets.
const std::vector<Recipe>& CompareRecipes();

}  // namespace mpa
