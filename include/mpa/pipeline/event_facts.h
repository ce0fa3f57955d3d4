// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/capture/survey.h"

namespace mpa {

/// Fills in what a survey left unknown because only the events of a text capture or GPU trace tell
/// it. Traces are read as long as they are small, so that this takes a moment; what stays unknown
/// after that is in a larger one.
void TellFromEvents(const OpenOptions& options, std::vector<RankFacts>& ranks);

}  // namespace mpa
