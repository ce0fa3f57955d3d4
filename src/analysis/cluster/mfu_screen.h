// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mfu_summary.h"

namespace mpa {

/// The summary of a rank as lines for the screen.
std::vector<std::string> MfuScreen(std::int64_t rank, const MfuSummary& summary);

}  // namespace mpa
