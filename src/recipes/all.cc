// SPDX-License-Identifier: Apache-2.0
// The recipes: plain calls, nothing for the linker to drop.
#include <algorithm>
#include <string_view>
#include <tuple>

#include "embedded/recipes.h"
#include "mpa/recipe/recipe.h"

namespace mpa {
namespace recipes {

#define MPA_DECLARED(folder, name) \
  namespace folder {               \
  Recipe name();                   \
  }
MPA_RECIPES(MPA_DECLARED)
#undef MPA_DECLARED

}  // namespace recipes

namespace {

// These are first in --help; the others follow by their names.
constexpr std::string_view kFirst[] = {"all",
                                       "communication_time",
                                       "communication_matrix",
                                       "module_statistic",
                                       "operator_mfu",
                                       "head_overhead",
                                       "calibrate_npu_gpu",
                                       "cann_api_sum",
                                       "cluster_time_summary"};

std::vector<Recipe> InOrder(std::vector<Recipe> recipes) {
  std::ranges::sort(recipes, {}, [](const Recipe& recipe) {
    return std::tuple(std::ranges::find(kFirst, recipe.name), recipe.name);
  });
  return recipes;
}

}  // namespace

const std::vector<Recipe>& AllRecipes() {
#define MPA_MADE(folder, name) recipes::folder::name(),
  static const std::vector<Recipe> all = InOrder({MPA_RECIPES(MPA_MADE)});
#undef MPA_MADE
  return all;
}

}  // namespace mpa
