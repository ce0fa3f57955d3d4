// SPDX-License-Identifier: Apache-2.0
// The recipes. Plain calls: nothing for the linker to drop, and the order can be seen.
#include "mpa/recipe/recipe.h"

namespace mpa {
namespace recipes {

Recipe CannApiSum();
Recipe ComputeOpSum();
Recipe FreqAnalysis();
Recipe HcclSum();
Recipe HeadOverhead();
Recipe ModuleStatistic();
Recipe OperatorMfu();

}  // namespace recipes

const std::vector<Recipe>& AllRecipes() {
  static const std::vector<Recipe> all = {recipes::ModuleStatistic(), recipes::OperatorMfu(),
                                          recipes::HeadOverhead(),    recipes::CannApiSum(),
                                          recipes::ComputeOpSum(),    recipes::FreqAnalysis(),
                                          recipes::HcclSum()};
  return all;
}

}  // namespace mpa
