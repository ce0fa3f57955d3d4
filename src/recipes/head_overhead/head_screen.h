// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "head_part.h"

namespace mpa::head {

/// How much of a rank is told.
enum class Detail : std::uint8_t { kAnswer, kAll };

/// What a rank's head comes to, as lines of a screen: the answer first, then the tables it follows
/// from. `rank` is how the rank is called: "rank 0".
std::vector<std::string> HeadScreen(const HeadPart& part, std::string_view rank,
                                    std::string_view policy, Detail detail);

}  // namespace mpa::head
