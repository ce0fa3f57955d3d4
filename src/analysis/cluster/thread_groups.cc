// SPDX-License-Identifier: Apache-2.0
#include "thread_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace mpa {

std::vector<std::int32_t> GroupThreads(const RankTrace& trace) {
  std::vector<std::int32_t> group(trace.tracks.Size());
  std::iota(group.begin(), group.end(), 0);
  const auto find = [&](std::int32_t track) {
    while (group[static_cast<std::size_t>(track)] != track) {
      track = group[static_cast<std::size_t>(track)];
    }
    return track;
  };

  const BackwardLinks& links = trace.backward_links;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> counts;  // backward, forward
  for (std::size_t i = 0; i < links.Size(); ++i) {
    if (links.forward_track[i] < 0 || links.backward_track[i] < 0) continue;
    ++counts[{links.backward_track[i], links.forward_track[i]}];
  }
  // A thread that runs the backward pass of several works for the one with the most operators.
  std::map<std::int32_t, std::pair<std::size_t, std::int32_t>> works_for;
  for (const auto& [threads, count] : counts) {
    const auto [backward, forward] = threads;
    if (backward == forward) continue;
    auto& most = works_for[backward];
    if (count > most.first) most = {count, forward};
  }
  for (const auto& [backward, most] : works_for) {
    const std::int32_t a = find(backward);
    const std::int32_t b = find(most.second);
    group[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (std::size_t i = 0; i < group.size(); ++i) group[i] = find(static_cast<std::int32_t>(i));
  return group;
}

}  // namespace mpa
