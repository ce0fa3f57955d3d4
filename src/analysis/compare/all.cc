// SPDX-License-Identifier: Apache-2.0
// The analyses of `compare`. Plain calls: nothing for the linker to drop, and the order can be
// seen.
#include "mpa/analysis/recipe.h"

namespace mpa {
namespace recipes {

Recipe Overall();

}  // namespace recipes

const std::vector<Recipe>& CompareRecipes() {
  static const std::vector<Recipe> all = {recipes::Overall()};
  return all;
}

}  // namespace mpa
