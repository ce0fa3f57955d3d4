// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnosis/diagnose.h"
#include "diagnosis/set_rule.h"

namespace mpa {

/// The diagnosis of a job whose ranks are numbered from 0 on.
inline Diagnosis DiagnoseJob(const std::vector<RankDiagnosis>& parts,
                             const Thresholds& thresholds = {}, bool for_page = false,
                             const AbsentRanks& absent = {}) {
  std::vector<DiagnosedRank> ranks;
  for (std::size_t i = 0; i < parts.size(); ++i)
    ranks.push_back({static_cast<std::int64_t>(i), &parts[i]});
  return Diagnose(std::move(ranks), thresholds, "", for_page, absent);
}

/// The finding with that key; null: there is none.
inline const Finding* FindingWith(const Diagnosis& diagnosis, std::string_view key) {
  for (const Finding& finding : diagnosis.findings) {
    if (finding.key == key) return &finding;
  }
  return nullptr;
}

/// The value of a metric of the finding; -1: it has none of that name.
inline double MetricIn(const Finding& finding, std::string_view name) {
  for (const Metric& metric : finding.metrics) {
    if (metric.info->name == name) return metric.value;
  }
  return -1;
}

}  // namespace mpa
