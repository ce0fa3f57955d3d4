// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "findings.h"

/// What the sheets and the screen show beside the findings.
namespace mpa::recipes::serving_requests {

/// Steps of a lane that read prompts, decode, or both.
struct BatchKind {
  const Lane* lane = nullptr;
  std::string phase{};            ///< "prefill", "decode", "mixed", "unknown"
  std::vector<TimeNs> lengths{};  ///< in ascending order
  std::int64_t requests = 0, most_requests = 0, tokens = 0;
  bool tokens_known = true;

  double MeanRequests() const { return Mean(requests); }
  double MeanTokens() const { return tokens_known ? Mean(tokens) : -1; }

 private:
  double Mean(std::int64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(lengths.size());
  }
};
std::vector<BatchKind> BatchKindsOf(const Scene& scene);

/// What was going on in a part of the whole time.
struct Moment {
  const ServerPart* server = nullptr;
  std::int64_t number = 0;
  TimeNs begin = 0;  ///< since the first request, or whatever was first
  TimeNs length = 0;
  std::int64_t arrivals = 0;
  std::int64_t waiting = -1, running = -1, swapped = -1;  ///< the most
  double batch_requests = -1;                             ///< mean
  double free_share = -1;                                 ///< of blocks, the least
};
inline constexpr std::size_t kMoments = 40;  // as many as a chart of bars shows
std::vector<Moment> MomentsOf(const Scene& scene);

/// Blocks of the cache of an instance.
struct Blocks {
  std::int64_t total = -1, least_free = -1;
  double most_used = -1;
};
Blocks BlocksOf(const ServerPart& server);

/// Transfers to a rank.
struct TransfersOfRank {
  int rank = -1;
  std::vector<TimeNs> lengths{};  ///< in ascending order
  std::vector<double> ns_per_token{};
  std::int64_t tokens = 0;
};
std::vector<TransfersOfRank> TransfersOf(const Scene& scene);

}  // namespace mpa::recipes::serving_requests
