// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "mpa/recipe/recipe.h"

namespace mpa::time_summary {

/// The parts that an earlier run of cluster_time_summary left: of a database, or of the one below a
/// directory. Empty: there is no table ClusterTimeSummary.
std::vector<RankPart> ReadEarlierRows(const std::filesystem::path& path,
                                      std::optional<std::int32_t> step);

}  // namespace mpa::time_summary
