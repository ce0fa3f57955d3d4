// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/capture/ability.h"
#include "mpa/collectives/instances.h"
#include "mpa/report/report.h"

namespace mpa {

/// Leaves those whose members have to be known, and adds a note on the names that ranks ran a
/// different number of times. Throws Error (kInput) when there are no collectives at all.
CollectiveInstances KnownInstances(std::string_view recipe, const CollectiveInstances& instances,
                                   bool on_gpu, Report& report);

/// Of recipes that look at joint collectives of any device.
Verdict JudgeCommunication(const RankFacts& facts);

/// Of those that need the groups of the collectives.
Verdict JudgeCollectives(const RankFacts& facts);

}  // namespace mpa
