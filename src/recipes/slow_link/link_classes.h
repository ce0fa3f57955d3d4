// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/recipe/duration_sample.h"
#include "mpa/recipe/job_collectives.h"

namespace mpa::recipes::slow_link {

/// A collective on one rank. The last rank to come does not wait, so the shortest time of all ranks
/// is that of the transfer.
struct LinkRow {
  const CollectiveInstance* op = nullptr;
  CollectiveInstance::Member member;
  TimeNs transmit = 0;
};

/// Collectives of one type that move as many bytes between as many ranks, and should take the same
/// time.
struct LinkClass {
  std::string type;
  std::int64_t bytes = 0;
  std::int64_t ranks = 0;
  std::vector<LinkRow> rows;  ///< by rank, then start
  DurationStats stats;        ///< of the times of transfer
  double offset = 0;          ///< of the farthest from the mean, in standard deviations

  const LinkRow& Longest() const;   ///< the first of them
  const LinkRow& Shortest() const;  ///< likewise
};

struct LinkClasses {
  std::vector<LinkClass> deviating;  ///< in order of type, bytes and ranks
  std::size_t count = 0;             ///< of all classes
  std::size_t unsized = 0;           ///< runs of collectives whose bytes are not recorded
};

/// Finds the classes in which a transfer took another time than the rest: it is three standard
/// deviations away from the mean. Of fewer than eleven collectives none can be; then one takes half
/// as long again as the median, and is farther away from it than four times the usual distance.
LinkClasses FindLinkClasses(const std::vector<const RankRuns*>& parts,
                            const CollectiveInstances& collectives);

}  // namespace mpa::recipes::slow_link
