// SPDX-License-Identifier: Apache-2.0
#include "module_ranges.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/model/queue_index.h"

namespace mpa {
namespace {

// Groups of threads by track.
class Groups {
 public:
  Groups(const RankTrace& trace, const std::vector<std::int32_t>& groups) : groups_(groups) {
    runs_ops_.assign(groups.size(), false);
    for (const std::int32_t track : trace.host_ops.track) {
      if (track >= 0) runs_ops_[static_cast<std::size_t>(Of(track))] = true;
    }
  }

  std::int32_t Of(std::int32_t track) const {
    return track < 0 ? NestSpan::kAnyThread : groups_[static_cast<std::size_t>(track)];
  }
  // A thread without operators says nothing about whose modules these are.
  std::int32_t OfModule(std::int32_t track) const {
    const std::int32_t group = Of(track);
    if (group < 0 || !runs_ops_[static_cast<std::size_t>(group)]) return NestSpan::kAnyThread;
    return group;
  }

 private:
  const std::vector<std::int32_t>& groups_;
  std::vector<bool> runs_ops_;
};

void AddMstxRanges(const RankTrace& trace, const Groups& groups, ModuleRanges& ranges) {
  const MstxEvents& events = trace.mstx;
  const QueueIndex queue(trace.queued_work);
  for (const std::size_t i : events.RowsByStart()) {
    if (events.kind[i] != MstxKind::kStartEnd) continue;
    if (trace.strings.View(events.domain[i]) != "Module") continue;
    std::int32_t track = events.track[i];
    TimeNs start = events.start[i];
    TimeNs end = start + events.dur[i];
    // A range on a stream is recorded when the task queue gets to it; its place on the host is
    // where it was queued.
    const auto begun = queue.Find(track, start);
    const auto ended = queue.Find(track, end);
    if (begun && ended && trace.queued_work.queued[*begun] <= trace.queued_work.queued[*ended]) {
      track = trace.queued_work.queued_track[*begun];
      start = trace.queued_work.queued[*begun];
      end = trace.queued_work.queued[*ended];
    }
    const std::string_view message = trace.strings.View(events.message[i]);
    ranges.Add({start, end, groups.OfModule(track)},
               {std::string(message.empty() ? "(unnamed)" : message)});
  }
}

// "Linear" of "nn.Module: Linear_0"; the number tells apart modules of one class.
std::string_view ClassOf(std::string_view name) { return Trim(WithoutNumber(name)); }

void AddPythonModules(const RankTrace& trace, const Groups& groups, ModuleRanges& ranges) {
  constexpr std::string_view kPrefix = "nn.Module:";
  const PythonCalls& calls = trace.python_calls;
  for (const std::size_t i : calls.RowsByStart()) {
    const std::string_view name = trace.strings.View(calls.name[i]);
    if (!name.starts_with(kPrefix)) continue;
    ranges.Add({calls.start[i], calls.start[i] + calls.dur[i], groups.OfModule(calls.track[i])},
               {std::string(ClassOf(name.substr(kPrefix.size())))});
  }
}

// Finds operators by thread and start; of several the longest.
class OpStarts {
 public:
  explicit OpStarts(const HostOps& ops) : ops_(ops), order_(ops.Size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return std::tie(ops.track[a], ops.start[a], ops.dur[b]) <
             std::tie(ops.track[b], ops.start[b], ops.dur[a]);
    });
  }

  std::optional<std::size_t> Find(std::int32_t track, TimeNs start) const {
    const auto at = std::partition_point(order_.begin(), order_.end(), [&](std::size_t op) {
      return std::tie(ops_.track[op], ops_.start[op]) < std::tie(track, start);
    });
    if (at == order_.end() || ops_.track[*at] != track || ops_.start[*at] != start) {
      return std::nullopt;
    }
    return *at;
  }

 private:
  const HostOps& ops_;
  std::vector<std::size_t> order_;
};

// An operator of the backward pass.
struct BackwardOp {
  std::int32_t track = -1;
  TimeNs start = 0, end = 0;
  std::uint32_t module = 0;  // of the forward operator
};

// Those whose forward operators a module owns, in order of thread and start.
std::vector<BackwardOp> FindBackwardOps(const RankTrace& trace, const Groups& groups,
                                        const ModuleRanges& ranges, ModuleNest& nest) {
  const HostOps& ops = trace.host_ops;
  const OpStarts starts(ops);
  std::vector<NestSpan> forward;
  std::vector<BackwardOp> backward;
  const BackwardLinks& links = trace.backward_links;
  for (std::size_t i = 0; i < links.Size(); ++i) {
    const auto cause = starts.Find(links.forward_track[i], links.forward_time[i]);
    const auto op = starts.Find(links.backward_track[i], links.backward_time[i]);
    if (!cause || !op) continue;
    forward.push_back(
        {ops.start[*cause], ops.start[*cause] + ops.dur[*cause], groups.Of(ops.track[*cause])});
    backward.push_back({ops.track[*op], ops.start[*op], ops.start[*op] + ops.dur[*op], 0});
  }
  nest = Nest(ranges.spans, forward);
  std::vector<BackwardOp> owned;
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (nest.places[i].module == NestPlace::kNone) continue;
    backward[i].module = static_cast<std::uint32_t>(nest.places[i].module);
    owned.push_back(backward[i]);
  }
  std::stable_sort(owned.begin(), owned.end(), [](const BackwardOp& a, const BackwardOp& b) {
    return std::tie(a.track, a.start) < std::tie(b.track, b.start);
  });
  return owned;
}

}  // namespace

std::string PathAround(const ModuleRanges& ranges, const ModuleNest& nest, std::uint32_t module) {
  std::vector<std::size_t> around;
  for (auto outer = nest.parent[module]; outer != NestPlace::kNone;
       outer = nest.parent[static_cast<std::size_t>(outer)]) {
    around.push_back(static_cast<std::size_t>(outer));
  }
  std::string path;
  for (auto outer = around.rbegin(); outer != around.rend(); ++outer) {
    path += "/" + ranges.infos[*outer].name;
  }
  const std::size_t first = path.find_first_not_of('/');
  if (first == std::string::npos) return "";
  return path.substr(first, path.find_last_not_of('/') + 1 - first);
}

ModuleRanges FindForwardModules(const RankTrace& trace, const std::vector<std::int32_t>& groups) {
  const Groups of_track(trace, groups);
  ModuleRanges ranges;
  AddMstxRanges(trace, of_track, ranges);
  ranges.source = ModuleSource::kMstxRanges;
  if (ranges.spans.empty()) {
    AddPythonModules(trace, of_track, ranges);
    ranges.source = ranges.spans.empty() ? ModuleSource::kNone : ModuleSource::kPythonCalls;
  }
  for (std::uint32_t i = 0; i < ranges.infos.size(); ++i) ranges.infos[i].forward = i;
  return ranges;
}

void AddBackwardModules(const RankTrace& trace, const std::vector<std::int32_t>& groups,
                        ModuleRanges& ranges) {
  const Groups of_track(trace, groups);
  ModuleNest nest;
  const std::vector<BackwardOp> ops = FindBackwardOps(trace, of_track, ranges, nest);
  ModuleRanges paths, modules;
  for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
    const BackwardOp& first = ops[begin];
    NestSpan span{first.start, first.end, of_track.Of(first.track)};
    for (; end < ops.size() && ops[end].module == first.module && ops[end].track == first.track;
         ++end) {
      span.end = std::max(span.end, ops[end].end);
    }
    const std::string path = PathAround(ranges, nest, first.module);
    if (!path.empty()) {
      paths.Add({span.start - 1, span.end + 1, span.group}, {path, true, first.module});
    }
    modules.Add(span, {ranges.infos[first.module].name, true, first.module});
  }
  for (const ModuleRanges& added : {paths, modules}) {
    for (std::size_t i = 0; i < added.spans.size(); ++i) ranges.Add(added.spans[i], added.infos[i]);
  }
}

}  // namespace mpa
