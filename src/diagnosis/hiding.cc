// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "mpa/diagnosis/causes/cause.h"
#include "passes.h"

namespace mpa {
namespace {

// Those that hide others cost much, so they are among the first.
constexpr std::size_t kMostHiding = 4;

void Insert(FoundCause cause, Diagnosis& diagnosis) {
  const auto place =
      std::find_if(diagnosis.hidden.begin(), diagnosis.hidden.end(),
                   [&](const FoundCause& other) { return other.alone < cause.alone; });
  diagnosis.hidden.insert(place, std::move(cause));
}

// A gain is clearly larger than what is saved alone.
bool IsMore(TimeNs gain, const FoundCause& finding, const Rules& rules) {
  return gain - finding.alone > ShareOf(finding.gain, rules.hidden_share);
}

}  // namespace

void FindHiding(StepReplays& replays, const std::vector<const WhatIf*>& what_ifs,
                Diagnosis& diagnosis) {
  for (std::size_t i = 1; i < what_ifs.size(); ++i) {
    FoundCause& finding = diagnosis.findings[i];
    if (!IsMore(finding.gain, finding, diagnosis.rules)) continue;
    const std::size_t ahead = std::min(i, kMostHiding);
    std::vector<StepReplays::Removals> pairs;
    for (std::size_t other = 0; other < ahead; ++other)
      pairs.push_back({&what_ifs[other]->expect, &what_ifs[i]->expect});
    const std::vector<TimeNs> with_both = replays.Times({}, pairs);
    for (std::size_t other = 0; other < ahead; ++other) {
      const TimeNs with_other = diagnosis.step - diagnosis.findings[other].alone;
      const TimeNs then = with_other - with_both[other];
      if (IsMore(then, finding, diagnosis.rules))
        finding.after.push_back(diagnosis.findings[other].key);
    }
    if (!finding.after.empty()) continue;
    // It takes several of them.
    for (std::size_t other = 0; other < ahead; ++other)
      finding.after.push_back(diagnosis.findings[other].key);
  }
}

void AddHidden(const std::vector<const WhatIf*>& what_ifs,
               const std::function<TimeNs(const Removal&)>& step_with, FoundCause cause,
               Diagnosis& diagnosis) {
  const std::size_t ahead = std::min(what_ifs.size(), kMostHiding);
  for (std::size_t other = 0; other < ahead; ++other) {
    const FoundCause& finding = diagnosis.findings[other];
    const TimeNs then = diagnosis.step - finding.alone - step_with(what_ifs[other]->expect);
    if (cause.alone - then > ShareOf(cause.alone, diagnosis.rules.hidden_share))
      cause.after.push_back(finding.key);
  }
  const bool several = cause.after.empty();  // it takes more than one of them
  for (std::size_t other = 0; several && other < what_ifs.size(); ++other)
    cause.after.push_back(diagnosis.findings[other].key);
  Insert(std::move(cause), diagnosis);
}

void AddHiddenBehindOthers(StepReplays& replays, const StepReplays::Removals& others,
                           const WhatIf& what_if, FoundCause cause, Diagnosis& diagnosis) {
  StepReplays::Removals with = others;
  with.push_back(&what_if.expect);
  cause.alone = replays.Time(others) - replays.Time(with);
  if (cause.alone < LeastGain(diagnosis.rules, diagnosis.step)) return;
  cause.if_others_do = true;
  for (const FoundCause& finding : diagnosis.findings) {
    if (finding.id == "rank.late") cause.after.push_back(finding.key);
  }
  Insert(std::move(cause), diagnosis);
}

}  // namespace mpa
