// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa::readers {

/// Numbers threads and streams as they turn up.
class TrackNumbers {
 public:
  explicit TrackNumbers(Tracks& tracks) : tracks_(tracks) {}
  std::int32_t Of(std::int64_t pid, std::int64_t tid);

 private:
  Tracks& tracks_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> numbers_;
};

/// One end of a flow arrow.
struct FlowPoint {
  std::int64_t id = 0;
  bool is_end = false;
  TimeNs time = 0;
  std::int64_t pid = 0, tid = 0;
};

/// Pairs the ends of flows by id (a later end of the same id and role replaces an earlier one) and
/// appends the complete ones to trace.launches, in order of first appearance.
void AppendLaunches(const std::vector<FlowPoint>& points, TrackNumbers& tracks, RankTrace& trace);

/// Gives the texts of a fragment's pool their ids in the rank's pool, each looked up once.
class StringMapping {
 public:
  StringMapping(const StringPool& from, StringPool& to) : from_(from), to_(to), ids_(from.Size()) {}
  StringId operator[](StringId id);

 private:
  const StringPool& from_;
  StringPool& to_;
  std::vector<std::optional<StringId>> ids_;
};

/// An operator of the host; its name is a text of the fragment.
struct HostEvent {
  TimeNs start = 0, dur = 0;
  StringId name{};
  std::int64_t pid = 0, tid = 0;
};

/// Appends the operators of a fragment, and a step for each that is named "ProfilerStep#<number>".
void AppendHostOps(const std::vector<HostEvent>& events, StringMapping& texts, TrackNumbers& tracks,
                   RankTrace& trace);

}  // namespace mpa::readers
