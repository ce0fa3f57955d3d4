// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/job/job.h"

namespace mpa {

/// What counts as a stretch of the host that stands still.
inline constexpr Threshold kStallRatio{
    "stall_ratio", 20, 2, 1e6,
    "an operator, a launch, or a gap stalls that takes this many times the median"};

/// What the host of a rank does from one moment at which it issues work to the next, and what is
/// usual for it. All causes that fill such a stretch have one price: what it takes beyond the
/// usual.
class HostStretches {
 public:
  HostStretches(const Job& job, RankIndex rank);

  /// The median of what the class takes of a stretch, of those that have any of it.
  TimeNs UsualOf(TimeCategory category) const { return Usual(of_class_, category); }
  /// The same of all stretches, so that it is 0 for a class that less than half of them have. 0,
  /// too, where a step has few of them: then none is just what lies between any two operators.
  TimeNs UsualOfAll(TimeCategory category) const { return Usual(of_all_, category); }
  /// The median of whole stretches.
  TimeNs Whole() const { return whole_; }
  /// Nothing is issued after it that a fix could issue earlier.
  bool IsBehindAll(const HostShare& share) const { return IsBehindAll(share.edge); }
  bool IsBehindAll(std::uint32_t edge) const;

 private:
  using ByCategory = std::map<TimeCategory, TimeNs>;
  static TimeNs Usual(const ByCategory& of, TimeCategory category) {
    const auto found = of.find(category);
    return found == of.end() ? 0 : found->second;
  }

  const RankDiagnosis& part_;
  ByCategory of_class_, of_all_;
  TimeNs whole_ = 0;
  TimeNs last_issue_ = 0;
};

}  // namespace mpa
