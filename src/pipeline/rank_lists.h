// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "mpa/base/rank.h"

namespace mpa {

/// "rank 7 not found; there are ranks 0-6"; empty if all wanted ranks are there, or nothing is.
std::string MissingRanks(const std::optional<std::set<RankId>>& wanted,
                         const std::set<RankId>& there);

}  // namespace mpa
