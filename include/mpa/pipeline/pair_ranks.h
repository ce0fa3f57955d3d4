// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"

namespace mpa {

/// The captures of one rank in two jobs.
struct CapturePair {
  std::int64_t rank = -1;  ///< -1: not asked for, because both are single captures
  RankInput base, comparison;
};

/// The ranks that two jobs have in common.
struct CapturePairs {
  std::vector<CapturePair> pairs;  ///< in order of their numbers; at least one
  std::vector<std::string> notes;  ///< what was left out
  bool partial = false;            ///< captures could not be had
};

/// The captures at two paths, each that of one rank or a directory with those of several. Throws
/// Error (kInput), with -bp or -d in front, when one cannot be opened or no rank is in both.
CapturePairs PairRanks(const std::filesystem::path& base, const std::filesystem::path& comparison,
                       const OpenOptions& options);

}  // namespace mpa
