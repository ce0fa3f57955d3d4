// SPDX-License-Identifier: Apache-2.0
// Findings as the causes that comparisons of jobs tell.
#include "mpa/diagnosis/report/cause_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/report/amount.h"

namespace mpa {
namespace {

// "MatMulV3" of "aclnnMm_MatMulV3Common_MatMulV3": the last part is the type.
std::string_view TypeInKernel(std::string_view name) {
  if (!name.starts_with("aclnn")) return name;
  const std::size_t last = name.rfind('_');
  return last == std::string_view::npos ? name : name.substr(last + 1);
}

std::optional<double> MetricOf(const Finding& finding, const MetricInfo& info) {
  const auto found = std::ranges::find(finding.metrics, &info, &Metric::info);
  return found == finding.metrics.end() ? std::nullopt : std::optional(found->value);
}

// "rank 3 computes 30 % slower": the culprit, and by how much.
std::string CauseTitle(const Finding& finding) {
  if (finding.Is(kRankLateCompute) && finding.ranks.size() <= 4 && !finding.ranks.empty()) {
    const auto slower = MetricOf(finding, kSlowerThanPeers);
    const long percent = slower ? std::lround(100 * (*slower - 1)) : 0;
    if (percent > 0) {
      const std::string ranks = RankList(finding.ranks).Names();
      return finding.ranks.size() == 1 ? Say("rank {} computes {} % slower", ranks, percent)
                                       : Say("ranks {} compute {} % slower", ranks, percent);
    }
  }
  return ShortTitleOf(finding);
}

// The place with most time: "MatMulV3 +1.20 ms" of kernels, "aten::item at train.py:90" of a host.
std::string CausePlace(const Finding& finding) {
  constexpr std::size_t kColumns = 60;
  if (finding.evidence.empty()) return "";
  const Evidence& place = finding.evidence.front();
  const std::string& name = place.op.empty() ? place.name : place.op;
  if (!finding.Is(kRankLateCompute) || place.time <= 0) {
    return AtLine(std::string(TypeInKernel(name)), place.line, kColumns);
  }
  return fmt::format("{} +{}", TypeInKernel(name), AmountText(Quantity::kTime, place.time));
}

}  // namespace

bool CostsEachStep(const Finding& finding) {
  return finding.gain_max > 0 && IsOfStep(finding) && !finding.Is(kStepLong);
}

JobCause CauseOf(const Finding& finding) {
  return {.key = finding.key,
          .text = CauseTitle(finding),
          .detail = CausePlace(finding),
          .cost = finding.gain_max,
          .is_fault = finding.kind == FindingKind::kFault};
}

JobCauses CausesIn(const Diagnosis& diagnosis) {
  JobCauses causes{diagnosis.step, LeastGain(diagnosis.thresholds, diagnosis.step), {}};
  for (const Finding& finding : diagnosis.findings) {
    if (CostsEachStep(finding)) causes.causes.push_back(CauseOf(finding));
  }
  for (const Finding& hidden : diagnosis.hidden) {
    JobCause& cause = causes.causes.emplace_back(CauseOf(hidden));
    cause.cost = hidden.alone;
    cause.is_hidden = true;
  }
  return causes;
}

}  // namespace mpa
