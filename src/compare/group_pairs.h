// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/measure/overall_metrics.h"

namespace mpa {

/// The same communication group in two captures; one may lack it.
struct GroupPair {
  const GroupTime* base = nullptr;
  const GroupTime* comparison = nullptr;
  bool by_process_group = false;  ///< the job's own name for it made the pair
};

/// The groups of both sides, those of the base first. Groups match by the job's name for them where
/// no other group of the side has it, then by the capture's.
std::vector<GroupPair> MatchGroups(const OverallMetrics& base, const OverallMetrics& comparison);

/// The same for people. Captures may name a group by the time of its creation: what is left over is
/// a pair, too, where each side has one group left.
std::vector<GroupPair> MatchAllGroups(const OverallMetrics& base, const OverallMetrics& comparison);

/// What the group is for, as far as the capture says: "dp (data parallel, 8 ranks)", "group of 8
/// ranks", "the only group". An address comes last, shortened.
std::string GroupMeaning(const OverallMetrics& side, const GroupTime& group);

/// The meaning of the group in the comparison, or in the base if the comparison lacks it.
std::string GroupMeaning(const OverallMetrics& base, const OverallMetrics& comparison,
                         const GroupPair& pair);

}  // namespace mpa
