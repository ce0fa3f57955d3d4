// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/pipeline/find_ranks.h"

namespace mpa {

/// Captures of one job: of an engine, a role or a session. No rank is in it twice.
struct CaptureGroup {
  std::string name;  ///< as people would call it, of a session its time; empty: of the only one
  std::vector<FoundRank> ranks;
};

/// The name of a group of captures that lie in the given directory itself.
inline constexpr std::string_view kHere = ".";

/// How captures that share ranks were told apart.
enum class ToldApart : std::uint8_t {
  kNeedNot,      ///< no rank occurs twice
  kByDirectory,  ///< names are directories below the one that was given
  kByName,       ///< names are what files have in common, with '#' for numbers
  kByTime,       ///< sessions, in order
  kNot,          ///< no group is known to be of one job: the latest capture of each rank comes last
};

struct CaptureGroups {
  ToldApart told_apart{};
  std::vector<CaptureGroup> groups;
};

/// Separates captures below `directory`: by the directories that they are in, by their names, by
/// the times in these.
CaptureGroups SeparateCaptures(const std::filesystem::path& directory,
                               std::vector<FoundRank> found);

/// Takes the captures of earlier jobs out of `ranks`. Ranks of one job are captured within minutes:
/// what is days apart belongs to another job, and the latest one stays. Takes none when a name has
/// no time.
std::vector<FoundRank> TakeEarlierJobs(std::vector<FoundRank>& ranks);

/// Takes captures out of `ranks` that are of another kind of device, or of a job of another size,
/// than most of them.
std::vector<FoundRank> TakeOtherJobs(std::vector<FoundRank>& ranks);

}  // namespace mpa
