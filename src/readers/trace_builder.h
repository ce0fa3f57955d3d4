// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa::readers {

template <typename T>
void AppendAll(const std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Numbers threads and streams in order of appearance.
class TrackNumbers {
 public:
  explicit TrackNumbers(Tracks& tracks);
  std::int32_t Of(std::int64_t pid, std::int64_t tid);

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;

  Tracks& tracks_;
  std::map<Key, std::int32_t> numbers_;
  // Most events are of the thread of the one before.
  Key last_;
  std::int32_t number_of_last_ = -1;
};

/// Exporters make process ids for the viewer from the program's: its number, 10 bits further up.
inline constexpr int kViewerBits = 10;
/// The device of a process of the viewer, in the lowest bits of its number.
constexpr std::int64_t DeviceOf(std::int64_t viewer_pid) { return viewer_pid & 31; }

/// The threads of the profiled program. Events of the runtime and marks are in processes that the
/// viewer made up; their threads are those of the program. Built after all operators were read.
class HostThreads {
 public:
  explicit HostThreads(const RankTrace& trace);

  /// The thread with that tid in the program's process that `viewer_pid` was made from, or in the
  /// only process that has it; -1 when there is none.
  std::int32_t Find(std::int64_t viewer_pid, std::int64_t tid) const;
  /// The program's process that `viewer_pid` was made from, or its only process; else -1.
  std::int64_t OwnerOf(std::int64_t viewer_pid) const;
  /// True when the number of a process of the program is in `viewer_pid`.
  bool IsDerived(std::int64_t viewer_pid) const;

 private:
  std::map<std::int64_t, std::map<std::int64_t, std::int32_t>> tracks_;  // by tid, then pid
  std::set<std::int64_t> pids_;
};

/// One end of a flow arrow.
struct FlowPoint {
  std::int64_t id = 0;
  bool is_end = false;
  TimeNs time = 0;
  std::int64_t pid = 0, tid = 0;
};

/// Where and when an event began.
struct EventPlace {
  std::int64_t pid = 0, tid = 0;
  TimeNs start = 0;
  auto operator<=>(const EventPlace&) const = default;
};

/// Pairs the ends of flows by id, several ends with one start, too, and appends the complete ones
/// to trace.launches, in order of first appearance. Those without an end are launches without work.
class LaunchFlows {
 public:
  void Append(const std::vector<FlowPoint>& points, TrackNumbers& tracks, RankTrace& trace);
  /// Gives every event of `links` at which a launch ends the link of that launch. `places` contains
  /// the positions of the events, both in the same order.
  void Link(const std::vector<EventPlace>& places, std::vector<std::int64_t>& links);
  /// The ends at which no event was linked.
  std::vector<EventPlace> EndsWithoutEvent() const;

 private:
  std::vector<std::pair<EventPlace, std::int64_t>> ends_;  // with the links, ordered
  std::vector<bool> linked_;                               // of the ends
};

/// Appends to trace.unanswered_launches what lacks its end, where no other arrows of the trace are
/// of launches: traces of CANN alone.
void AppendUnanswered(const std::vector<FlowPoint>& points, TrackNumbers& tracks, RankTrace& trace);

/// Pairs forward and backward points by id and appends the pairs to trace.backward_links.
void AppendBackwardLinks(const std::vector<FlowPoint>& points, TrackNumbers& tracks,
                         RankTrace& trace);

/// One half of a piece of queued work: the enqueue or the execution.
struct QueueEvent {
  std::int64_t id = 0;
  bool is_work = false;
  TimeNs start = 0, dur = 0;
  std::int64_t pid = 0, tid = 0;
  StringId name{};  ///< a text of the rank's pool
};

/// Pairs both halves by id and appends the pairs to trace.queued_work, in order of the execution.
void AppendQueuedWork(const std::vector<QueueEvent>& events, TrackNumbers& tracks,
                      RankTrace& trace);

/// The kind of mstx event with this name in exporters; empty for other names.
std::optional<MstxKind> MstxKindOf(std::string_view name);

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

/// The placeholder for missing details of an operator.
inline constexpr std::string_view kNotRecorded = "N/A";

/// Appends a step when `name` contains "ProfilerStep#<number>".
void AppendStep(std::string_view name, TimeNs start, TimeNs dur, RankTrace& trace);

/// Appends a mark when a server names its steps like `name`.
void AppendServingMark(std::string_view name, TimeNs start, TimeNs dur, RankTrace& trace);

/// An operator of the host; its name is a text of the fragment.
struct HostEvent {
  TimeNs start = 0, dur = 0;
  StringId name{};
  std::int64_t pid = 0, tid = 0;
  StringId shapes{}, types{}, stack{};
};

/// Appends the operators of a fragment, and a step for each that is named "ProfilerStep#<number>".
void AppendHostOps(const std::vector<HostEvent>& events, StringMapping& texts, TrackNumbers& tracks,
                   RankTrace& trace);

/// Drops the operators, Python functions and steps of processes of other ranks.
void DropProcesses(const std::set<std::int64_t>& pids, RankTrace& trace);

/// Appends the Python functions of a fragment.
void AppendPythonCalls(const std::vector<HostEvent>& events, StringMapping& texts,
                       TrackNumbers& tracks, RankTrace& trace);

}  // namespace mpa::readers
