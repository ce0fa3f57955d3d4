// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/collectives/instances.h"

namespace mpa {

/// Throws Error (kCorrupt) when a number names a text or row that does not exist, or a time is
/// invalid. What was read from files may hold anything.
void CheckCollectives(const RankCollectives& collectives);

}  // namespace mpa
