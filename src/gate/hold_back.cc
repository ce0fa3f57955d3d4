// SPDX-License-Identifier: Apache-2.0
// What a gate says of captures that lost records.
#include <string>
#include <string_view>

#include "mpa/base/language.h"
#include "mpa/gate/judge.h"

namespace mpa::gate {
namespace {

bool IsPassed(GateVerdict verdict) {
  return verdict == GateVerdict::kOk || verdict == GateVerdict::kImproved;
}

// "IMPROVED e2e 3.650 -> 3.250 ms" with the other verdict.
void ReplaceWord(std::string& line) {
  for (const GateVerdict passed : {GateVerdict::kOk, GateVerdict::kImproved}) {
    const std::string_view word = VerdictWord(passed);
    if (line.starts_with(word))
      line.replace(0, word.size(), VerdictWord(GateVerdict::kInconclusive));
  }
}

}  // namespace

void HoldBackVerdicts(GateReport& report) {
  report.partial = true;
  for (GateMetric& metric : report.metrics) {
    if (!IsPassed(metric.verdict)) continue;
    metric.verdict = GateVerdict::kInconclusive;
    if (metric.reason.empty()) metric.reason = Translated("parts of the input were lost");
    ReplaceWord(metric.line);
  }
  if (!IsPassed(report.verdict)) return;
  report.verdict = GateVerdict::kInconclusive;
  ReplaceWord(report.headline);
  ReplaceWord(report.short_headline);
}

}  // namespace mpa::gate
