// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace mpa {

/// "0, 1 and 2", of many "0, 1, 2, 3, 4, 5, 6, 7 and 13 more". Labels of captures
/// without a number come last.
std::string RankList(const std::set<std::int64_t>& ranks);

/// "rank 7 not found; there are 0 and 1"; empty if all wanted ranks are there, or nothing is.
std::string MissingRanks(const std::optional<std::set<std::int64_t>>& wanted,
                         const std::set<std::int64_t>& there);

}  // namespace mpa
