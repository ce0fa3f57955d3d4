// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mfu_summary.h"

namespace mpa {

/// The summary of a rank ("rank 3") as lines for the screen.
std::vector<std::string> MfuScreen(std::string_view rank, const MfuSummary& summary);

}  // namespace mpa
