// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/compare/comparison.h"
#include "mpa/measure/overall_metrics.h"

namespace mpa {

/// A part of the end-to-end time, by how much it changed, and what that change is made of.
struct Change {
  TimeNs time = 0;
  std::string name;              ///< "MatMulV2", which may be long
  std::string detail{};          ///< what stands behind it: "42 kernels, +7.4 %"
  std::vector<Change> names{};   ///< single things, the largest first; add up to `time`
  std::vector<Change> levels{};  ///< the same by larger parts, where few names are not enough
};

/// So many names stand for a change.
inline constexpr std::size_t kMostNames = 3;

/// True when the first `kMostNames` of `parts`, which are sorted, make up 80 % of the change.
bool Concentrates(const std::vector<Change>& parts, TimeNs change);

/// In percent, without the sign for it: "+3.5", "0.0", ">999".
std::string GrowthText(TimeNs base, TimeNs comparison);

/// The change of the end-to-end time. Its parts are those of OverallMetrics; names are those of
/// kernels (by type if both sides know it) and of communication groups.
Change EndToEndChange(const CompareInput& input, const OverallMetrics& base,
                      const OverallMetrics& comparison);

}  // namespace mpa
