// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/rank_state.h"
#include "mpa/capture/capture.h"

namespace mpa {

/// The captures of one rank in two jobs.
struct CapturePair {
  RankId rank{};  ///< -1: not asked for, because both are single captures
  RankInput base, comparison;
};

/// A rank that cannot be compared, because one side lacks it.
struct UnpairedRank {
  RankId rank{};
  RankState state{};          ///< on the side that lacks it
  std::string_view option{};  ///< that side: "-d"; empty: not known
};

/// "damaged in -d: rank 2", "not captured in -bp: ranks 4-7": a line for each state and side.
std::vector<std::string> UnpairedLines(const std::vector<UnpairedRank>& ranks);

/// The ranks that two jobs have in common.
struct CapturePairs {
  std::vector<CapturePair> pairs;  ///< in order of their numbers; at least one
  std::vector<UnpairedRank> unpaired{};
  std::vector<std::string> notes;  ///< what was left out
  bool partial = false;            ///< captures could not be had
};

/// The captures at two paths, each that of one rank or a directory with those of several. Throws
/// Error (kInput), with -bp or -d in front, when one cannot be opened or no rank is in both.
CapturePairs PairRanks(const std::filesystem::path& base, const std::filesystem::path& comparison,
                       const OpenOptions& options);

}  // namespace mpa
