// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpa/capture/ability.h"
#include "mpa/collectives/runs.h"
#include "mpa/report/report.h"

namespace mpa {

/// Adds a note on `uneven` ones. Throws Error (kInput) when there are no collectives at all.
void NoteRuns(std::string_view recipe, const JointRuns& collectives, Report& report);

/// Of recipes that look at joint collectives of any device.
Verdict JudgeCommunication(const RankFacts& facts);

/// Of those that need the groups of the collectives.
Verdict JudgeCollectives(const RankFacts& facts);

}  // namespace mpa
