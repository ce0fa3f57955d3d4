// SPDX-License-Identifier: Apache-2.0
// Outliers among the times of a collective.
#include "stragglers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

namespace mpa::recipes::slow_rank {
namespace {

constexpr std::size_t kMin = 3;

// The statistic of Dixon's test that one of 200 samples without an outlier exceeds, from kMin
// values on.
constexpr std::array kLimits = {
    0.994, 0.920, 0.823, 0.744, 0.680, 0.723, 0.676, 0.638, 0.707, 0.675, 0.649, 0.672, 0.649,
    0.629, 0.611, 0.595, 0.580, 0.568, 0.556, 0.545, 0.536, 0.526, 0.519, 0.510, 0.503, 0.496,
    0.489, 0.484, 0.478, 0.473, 0.468, 0.463, 0.458, 0.454, 0.450, 0.446, 0.442, 0.439, 0.435,
    0.432, 0.429, 0.425, 0.423, 0.420, 0.417, 0.414, 0.412, 0.409, 0.407, 0.405, 0.402, 0.400,
    0.398, 0.396, 0.394, 0.392, 0.391, 0.388, 0.387, 0.385, 0.383, 0.382, 0.380, 0.379, 0.377,
    0.376, 0.374, 0.372, 0.371, 0.370, 0.368, 0.368, 0.366, 0.365, 0.364, 0.363, 0.361, 0.360,
    0.359, 0.358, 0.356, 0.356, 0.355, 0.353, 0.352, 0.352, 0.351, 0.350, 0.349, 0.348, 0.347,
    0.346, 0.345, 0.344, 0.344, 0.343, 0.341, 0.341};
constexpr std::size_t kMaxOfDixon = kMin + kLimits.size() - 1;
static_assert(kMaxOfDixon == 100);

// How far the shortest lies below the next ones, as a part of the whole range. The more values, the
// more of them are left out at both ends: further outliers would hide this one.
bool ShortestStandsOut(const std::vector<TimeNs>& sorted) {
  constexpr std::size_t kMaxOfWholeRange = 7, kMaxWithoutLongest = 10, kMaxWithoutNext = 13;
  const std::size_t count = sorted.size();
  const std::size_t next = count <= kMaxWithoutLongest ? 1 : 2;
  std::size_t longest = count - 1;
  if (count > kMaxOfWholeRange) longest = count - 2;
  if (count > kMaxWithoutNext) longest = count - 3;
  const auto range = static_cast<double>(sorted[longest] - sorted[0]);
  if (range == 0) return false;
  return static_cast<double>(sorted[next] - sorted[0]) / range > kLimits[count - kMin];
}

bool ShortestOfFewStandsOut(const std::vector<TimeNs>& sorted) {
  constexpr TimeNs kMinNs = 100'000;
  const TimeNs lead = sorted[1] - sorted[0];
  return lead > kMinNs && lead > sorted[0];
}

std::vector<std::size_t> BeyondThreeDeviations(const std::vector<TimeNs>& durations,
                                               std::size_t shortest) {
  const auto count = static_cast<double>(durations.size());
  double mean = 0, squares = 0;
  for (const TimeNs dur : durations) mean += static_cast<double>(dur) / count;
  for (const TimeNs dur : durations) {
    const double distance = static_cast<double>(dur) - mean;
    squares += distance * distance / count;
  }
  const double limit = 3 * std::sqrt(squares);
  std::vector<std::size_t> found;
  bool any_above = false;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    const auto dur = static_cast<double>(durations[i]);
    if (dur < mean - limit) found.push_back(i);
    any_above = any_above || dur > mean + limit;
  }
  // A rank waited outstandingly long: the rank with the shortest time came last.
  if (any_above && found.empty()) found.push_back(shortest);
  return found;
}

}  // namespace

std::vector<std::size_t> StragglersOf(const std::vector<TimeNs>& durations) {
  constexpr std::size_t kFewValues = 3;
  if (durations.size() < 2) return {};
  const auto shortest = static_cast<std::size_t>(
      std::distance(durations.begin(), std::ranges::min_element(durations)));
  if (durations.size() > kMaxOfDixon) return BeyondThreeDeviations(durations, shortest);
  std::vector<TimeNs> sorted = durations;
  std::ranges::sort(sorted);
  const bool few = std::set<TimeNs>(sorted.begin(), sorted.end()).size() <= kFewValues;
  const bool stands_out = few ? ShortestOfFewStandsOut(sorted) : ShortestStandsOut(sorted);
  return stands_out ? std::vector{shortest} : std::vector<std::size_t>{};
}

}  // namespace mpa::recipes::slow_rank
