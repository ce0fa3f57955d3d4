// SPDX-License-Identifier: Apache-2.0
// The recipes. Plain calls: nothing for the linker to drop, and the order can be seen.
#include "mpa/recipe/recipe.h"

namespace mpa {
namespace recipes {

Recipe ModuleStatistic();
Recipe OperatorMfu();
Recipe HeadOverhead();

}  // namespace recipes

const std::vector<Recipe>& AllRecipes() {
  static const std::vector<Recipe> all = {recipes::ModuleStatistic(), recipes::OperatorMfu(),
                                          recipes::HeadOverhead()};
  return all;
}

}  // namespace mpa
