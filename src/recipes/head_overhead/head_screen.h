// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "head_part.h"

namespace mpa::head {

/// What a rank's head comes to, as lines of a screen: the answer first, behind it `spread`, what is
/// said of all ranks, then the tables it follows from. What does not fit into `room` lines is
/// counted in the last one. `rank` is how the rank is called: "rank 0".
std::vector<std::string> HeadScreen(const HeadPart& part, std::string_view rank,
                                    std::string_view policy, std::size_t room,
                                    const std::vector<std::string>& spread = {});

}  // namespace mpa::head
