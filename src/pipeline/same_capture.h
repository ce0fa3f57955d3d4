// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "mpa/pipeline/find_ranks.h"

namespace mpa {

/// What a run is read from: the captures of its ranks, or a baseline file.
struct RunSource {
  std::filesystem::path path;
  std::vector<FoundRank> ranks;  ///< empty: `path` is the file itself
};

/// True when both are the same files, or files with the same names within and the same content:
/// links and copies do not count as runs of their own. Contents are read only where names and sizes
/// agree.
bool IsSameCapture(const RunSource& a, const RunSource& b);

}  // namespace mpa
