// SPDX-License-Identifier: Apache-2.0
// Compares two captures: both are read, condensed by every recipe, and freed before the sheets are
// made.
#include "mpa/pipeline/compare.h"

#include <algorithm>
#include <array>

#include "load_rank.h"
#include "mpa/base/parallel.h"

namespace mpa {
namespace {

struct SideResult {
  std::vector<std::any> parts;  // one per recipe
  std::vector<std::string> notes;
  bool partial = false;
};

SideResult RunSide(const RankInput& input, std::optional<std::int32_t> step,
                   const CompareRequest& request, Tables wanted) {
  LoadedRank rank = LoadRank(input, {wanted, request.gpu_flow_cat}, step);
  SideResult result{{}, std::move(rank.notes), rank.partial};
  for (const Recipe& recipe : request.recipes) result.parts.push_back(recipe.map(rank.trace));
  return result;
}

}  // namespace

CompareOutcome Compare(const CompareRequest& request) {
  Tables wanted = request.base_step ? Tables::kSteps : Tables::kNone;
  for (const Recipe& recipe : request.recipes) wanted = wanted | recipe.needs;

  const std::array<const RankInput*, 2> inputs = {&request.base, &request.comparison};
  const std::array steps = {request.base_step, request.comparison_step};
  const std::array sides = {Side::kBase, Side::kComparison};
  std::array<SideResult, 2> results;
  ParallelFor(results.size(),
              [&](std::size_t i) { results[i] = RunSide(*inputs[i], steps[i], request, wanted); });

  CompareOutcome outcome;
  for (SideResult& result : results) {
    outcome.partial = outcome.partial || result.partial;
    for (std::string& note : result.notes) {  // a capture compared with itself says all twice
      auto& notes = outcome.report.notes;
      if (std::find(notes.begin(), notes.end(), note) == notes.end())
        notes.push_back(std::move(note));
    }
  }
  for (std::size_t r = 0; r < request.recipes.size(); ++r) {
    std::vector<PartOf<std::any>> parts;
    for (std::size_t i = 0; i < results.size(); ++i) {
      parts.push_back({{sides[i], inputs[i]->path.string()}, std::move(results[i].parts[r])});
    }
    request.recipes[r].reduce(parts, outcome.report);
  }
  return outcome;
}

}  // namespace mpa
