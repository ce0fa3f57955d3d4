// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/thread_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace mpa {
namespace {

using Track = std::int32_t;

// The forward thread for which each backward thread works, by the links between operators: of
// several the one with the most.
std::map<Track, Track> FollowLinks(const BackwardLinks& links) {
  std::map<std::pair<Track, Track>, std::size_t> counts;  // backward, forward
  for (std::size_t i = 0; i < links.Size(); ++i) {
    const Track backward = links.backward_track[i];
    const Track forward = links.forward_track[i];
    if (backward >= 0 && forward >= 0 && backward != forward) ++counts[{backward, forward}];
  }
  std::map<Track, Track> works_for;
  std::map<Track, std::size_t> most;
  for (const auto& [threads, count] : counts) {
    if (count <= most[threads.first]) continue;
    most[threads.first] = count;
    works_for[threads.first] = threads.second;
  }
  return works_for;
}

// Backward threads without links are known by what the autograd engine runs there. They work for
// the thread that runs the most operators otherwise.
void AddEngineThreads(const RankTrace& trace, std::map<Track, Track>& works_for) {
  const HostOps& ops = trace.host_ops;
  std::vector<bool> is_engine(trace.tracks.Size());
  std::vector<std::size_t> count(trace.tracks.Size());
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    if (ops.track[i] < 0) continue;
    const auto track = static_cast<std::size_t>(ops.track[i]);
    ++count[track];
    if (trace.strings.View(ops.name[i]).starts_with("autograd::engine::")) is_engine[track] = true;
  }
  std::size_t busiest = count.size();
  for (std::size_t track = 0; track < count.size(); ++track) {
    if (is_engine[track] || count[track] == 0) continue;
    if (busiest == count.size() || count[track] > count[busiest]) busiest = track;
  }
  if (busiest == count.size()) return;
  for (std::size_t track = 0; track < count.size(); ++track) {
    if (is_engine[track]) {
      works_for.try_emplace(static_cast<Track>(track), static_cast<Track>(busiest));
    }
  }
}

}  // namespace

ThreadGroups::ThreadGroups(const RankTrace& trace)
    : groups_(trace.tracks.Size()), runs_ops_(trace.tracks.Size()) {
  std::iota(groups_.begin(), groups_.end(), 0);
  const auto find = [&](Track track) {
    while (Of(track) != track) track = Of(track);
    return track;
  };

  std::map<Track, Track> works_for = FollowLinks(trace.backward_links);
  AddEngineThreads(trace, works_for);
  for (const auto& [backward, forward] : works_for) {
    const Track a = find(backward);
    const Track b = find(forward);
    groups_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i] = find(static_cast<Track>(i));
  for (const Track track : trace.host_ops.track) {
    if (track >= 0) runs_ops_[static_cast<std::size_t>(Of(track))] = true;
  }
}

std::int32_t ThreadGroups::OfMark(std::int32_t track) const {
  const std::int32_t group = Of(track);
  return group >= 0 && runs_ops_[static_cast<std::size_t>(group)] ? group : kAnyThread;
}

}  // namespace mpa
