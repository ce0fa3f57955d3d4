// SPDX-License-Identifier: Apache-2.0
#include "hiding.h"

#include <algorithm>
#include <array>
#include <string>

namespace mpa {
namespace {

// Those that hide others cost much, so they are among the first.
constexpr std::size_t kMostHiding = 4;

// A gain is clearly larger than what is saved alone.
bool IsMore(TimeNs gain, const FoundCause& finding, const Rules& rules) { return gain - finding.alone > ShareOf(finding.gain, rules.hidden_share); }

}  // namespace

void FindHiding(const Job& job, const std::vector<const WhatIf*>& what_ifs, Diagnosis& diagnosis) {
  for (std::size_t i = 1; i < what_ifs.size(); ++i) {
    FoundCause& finding = diagnosis.findings[i];
    if (!IsMore(finding.gain, finding, job.rules)) continue;
    const std::size_t ahead = std::min(i, kMostHiding);
    for (std::size_t other = 0; other < ahead; ++other) {
      const std::array<const Removal*, 2> both = {&what_ifs[other]->expect, &what_ifs[i]->expect};
      const TimeNs with_other = diagnosis.step - diagnosis.findings[other].alone;
      const TimeNs then = with_other - StepTime(job.graph.graph, job.graph.steps, both);
      if (IsMore(then, finding, job.rules)) finding.after.push_back(diagnosis.findings[other].key);
    }
    if (!finding.after.empty()) continue;
    // It takes several of them.
    for (std::size_t other = 0; other < ahead; ++other) finding.after.push_back(diagnosis.findings[other].key);
  }
}

}  // namespace mpa
