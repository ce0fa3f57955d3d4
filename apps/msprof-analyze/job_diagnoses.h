// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/pipeline/compare.h"
#include "mpa/pipeline/pair_ranks.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// Looks for what slows two jobs down while their ranks are compared: each capture is read once.
class JobDiagnoses {
 public:
  /// Of the jobs at these paths; their ranks are those of the pairs and those without a pair.
  JobDiagnoses(const CapturePairs& pairs, std::filesystem::path base,
               std::filesystem::path comparison, OpenOptions open);

  /// True for jobs of several ranks with numbers.
  bool AreJobs() const;
  /// The ranks of the larger one.
  std::size_t Ranks() const;
  /// Lets the request condense the ranks that it reads.
  void Visit(RankId rank, CompareRequest& request);
  /// Reads the ranks that no request has read. Gives what of the causes has changed, as lines of at
  /// most `width` columns. Nothing where a rank cannot be read: it may be the cause.
  std::vector<std::string> Lines(std::size_t width);

 private:
  struct Side {
    std::filesystem::path path;
    std::set<RankId> ranks;
    std::vector<RankPart> parts;
    bool lacks_ranks = false;
  };
  void Read(Side& side) const;

  std::array<Side, 2> sides_;  // the base, the comparison
  OpenOptions open_;
  Recipe recipe_;
};

}  // namespace mpa
