// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/capture/survey.h"

namespace mpa {

/// Adds to the facts of raw captures, as warnings, what commands that read them say is lost or
/// damaged. Captures are read as long as they are small, so that this takes a moment; of larger
/// ones only control files, names and sizes are judged.
void TellRawDamage(std::vector<RankFacts>& ranks);

}  // namespace mpa
