// SPDX-License-Identifier: Apache-2.0
#include "alike.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "collection_facts.h"
#include "mpa/capture/survey.h"
#include "mpa/gate/comparable.h"

namespace mpa {
namespace {

gate::RunSummary CollectionOf(const LoadedCapture& capture) {
  const RankFacts facts = SurveyRank(capture.input);
  gate::RunSummary run;
  run.facts = CollectionFacts({facts});
  if (facts.world_size) run.facts["world_size"] = std::to_string(*facts.world_size);
  const std::vector<std::int32_t>& ids = capture.trace.steps.id;
  const std::set<std::int32_t> steps(ids.begin(), ids.end());
  if (!steps.empty()) run.facts["steps"] = std::to_string(steps.size());
  run.shapes = gate::CountShapes(capture.trace);
  return run;
}

// What spoils the numbers most comes first.
std::size_t Place(const std::string& field) {
  constexpr std::array<std::string_view, 5> kFirst = {"device", "steps", "world_size", "shapes",
                                                      "profiler_level"};
  return static_cast<std::size_t>(std::find(kFirst.begin(), kFirst.end(), field) - kFirst.begin());
}

}  // namespace

std::string NotAlike(const LoadedCapture& base, const LoadedCapture& comparison) {
  std::vector<GateMismatch> mismatches =
      gate::FindMismatches({CollectionOf(base)}, {CollectionOf(comparison)}, {});
  if (mismatches.empty()) return "";
  std::stable_sort(
      mismatches.begin(), mismatches.end(),
      [](const GateMismatch& a, const GateMismatch& b) { return Place(a.field) < Place(b.field); });
  return "The captures are not alike (base / comparison): " + gate::MismatchText(mismatches);
}

}  // namespace mpa
