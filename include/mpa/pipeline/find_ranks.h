// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"

namespace mpa {

/// The capture of a rank.
struct FoundRank {
  std::int64_t rank = -1;  ///< -1: the capture does not say
  RankInput input;
};

/// The captures of a job.
struct FoundRanks {
  std::vector<FoundRank> ranks;    ///< of one job, in order of their numbers
  std::vector<std::string> notes;  ///< what was left out, kinds of records that are not read
  bool partial = false;            ///< captures or wanted ranks could not be had
};

/// The ranks below `directory`, or those that are wanted. Throws Error (kInput) when there is none.
FoundRanks FindRanks(const std::filesystem::path& directory,
                     const std::optional<std::set<std::int64_t>>& wanted,
                     const OpenOptions& options);

}  // namespace mpa
