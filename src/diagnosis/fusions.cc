// SPDX-License-Identifier: Apache-2.0
// Which known fusions a job has not made.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "diagnose.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {
namespace {

// More are not replayed, nor told.
constexpr std::size_t kMostTold = 32;

// What each one too short for a finding saves, once all findings are fixed.
std::vector<TimeNs> SavedBy(const std::vector<const OpenFusion*>& open,
                            const StepReplays::Removals& fixes, StepReplays& replays) {
  std::vector<StepReplays::Removals> sets = {{}};
  for (const OpenFusion* fusion : open) sets.push_back({&fusion->what_if.expect});
  const std::vector<TimeNs> times = replays.Times(fixes, sets);
  std::vector<TimeNs> saved;
  for (std::size_t i = 1; i < times.size(); ++i)
    saved.push_back(std::max<TimeNs>(0, times[0] - times[i]));
  return saved;
}

}  // namespace

void TellFusions(const Job& job, const OpenFusions& fusions, StepReplays& replays,
                 EvidenceFinder& evidence, Diagnosis& diagnosis) {
  if (!fusions.judged) return;
  diagnosis.known_fusions = KnownFusions();
  std::vector<const OpenFusion*> open;
  for (const OpenFusion& fusion : fusions.open) open.push_back(&fusion);
  StableSort(open, std::greater{}, &OpenFusion::time);
  open.resize(std::min(open.size(), kMostTold));
  const std::vector<TimeNs> saved =
      open.empty() ? std::vector<TimeNs>() : SavedBy(open, FixesOf(diagnosis), replays);
  for (std::size_t i = 0; i < open.size(); ++i) {
    const OpenFusion& fusion = *open[i];
    Finding found = NewFinding(job, fusion.in_attention ? kOpAttention : kOpUnfused, fusion.place);
    evidence.Find(fusion.what_if, ComputeCategories(), found);
    SeenFusion& seen = diagnosis.fusions.emplace_back();
    seen.key = found.key;
    seen.pieces = fusion.pattern->pieces;
    if (fusion.breaker != nullptr) seen.breaker = fusion.breaker->name;
    seen.calls = fusion.calls;
    seen.time = static_cast<TimeNs>(fusion.time);
    seen.gone = static_cast<TimeNs>(fusion.gone);
    seen.saves = saved[i];
    if (!found.evidence.empty()) seen.place = std::move(found.evidence.front());
    if (fusion.gains_little) continue;
    const auto told = std::ranges::find(diagnosis.findings, seen.key, &Finding::key);
    seen.is_finding =
        told != diagnosis.findings.end() ||
        std::ranges::find(diagnosis.hidden, seen.key, &Finding::key) != diagnosis.hidden.end();
    if (told != diagnosis.findings.end()) seen.saves = told->gain;
  }
  StableSort(diagnosis.fusions, std::greater{}, [](const SeenFusion& fusion) {
    return std::pair{fusion.saves, fusion.gone};
  });
}

}  // namespace mpa
