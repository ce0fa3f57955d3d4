// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/module_ranges.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "mpa/base/error.h"

namespace mpa {
namespace {

// In order of track, then start, the longest first; equal ones in the order in which they came.
std::vector<std::uint32_t> InOrder(const std::vector<NestSpan>& items) {
  return RowsBy<std::uint32_t>(items.size(), [&](std::uint32_t item) {
    return std::tuple{items[item].track, items[item].start, -items[item].end};
  });
}

NestPlace PlaceOf(const Nesting& modules, const NestSpan& item) {
  const std::int64_t around = modules.FindEnclosing(item);
  // A shorter module that begins with the item does not hold its begin: the item is the outer one.
  // What begins at the very end of a module is behind it.
  const bool begins_together =
      around != Nesting::kNone && modules.At(static_cast<std::size_t>(around)).start == item.start;
  if (begins_together || item.end == item.start) return {around, false};
  const std::int64_t begun_in = modules.FindAround(item.track, item.start);
  return {around != Nesting::kNone ? around : begun_in, around != begun_in};
}

}  // namespace

ModuleNest Nest(const std::vector<NestSpan>& modules, const std::vector<NestSpan>& items) {
  const Nesting nesting(modules);
  ModuleNest nest{
      .parent = {}, .modules = nesting.InOrder(), .places = {}, .items = InOrder(items)};
  nest.parent.reserve(modules.size());
  for (std::size_t i = 0; i < modules.size(); ++i) nest.parent.push_back(nesting.Parent(i));
  nest.places.reserve(items.size());
  for (NestSpan item : items) {
    NestPlace place = PlaceOf(nesting, item);
    if (place.module == NestPlace::kNone) {
      item.track = ThreadGroups::kAnyThread;
      place = PlaceOf(nesting, item);
    }
    nest.places.push_back(place);
  }
  return nest;
}

MstxPlace MstxPlaces::Of(std::size_t row) const {
  const MstxEvents& events = trace_.mstx;
  const QueuedWork& work = trace_.queued_work;
  const MstxPlace recorded{events.start[row], events.start[row] + events.dur[row],
                           events.track[row]};
  const auto begun = queue_.Find(recorded.track, recorded.start);
  const auto ended = queue_.Find(recorded.track, recorded.end);
  if (!begun || !ended || work.queued[*begun] > work.queued[*ended]) return recorded;
  return {work.queued[*begun], work.queued[*ended], work.queued_track[*begun]};
}

namespace {

// Finds operators by thread and start; of several the longest.
class OpStarts {
 public:
  explicit OpStarts(const HostOps& ops)
      : ops_(ops), order_(RowsBy(ops.Size(), [&](std::size_t op) {
          return std::tuple{ops.track[op], ops.start[op], -ops.dur[op]};
        })) {}

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

}  // namespace

std::vector<BackwardPair> FindBackwardPairs(const RankTrace& trace) {
  const OpStarts starts(trace.host_ops);
  const BackwardLinks& links = trace.backward_links;
  std::vector<BackwardPair> pairs;
  for (std::size_t i = 0; i < links.Size(); ++i) {
    const auto forward = starts.Find(links.forward_track[i], links.forward_time[i]);
    const auto backward = starts.Find(links.backward_track[i], links.backward_time[i]);
    if (forward && backward) pairs.push_back({*forward, *backward});
  }
  return pairs;
}

namespace {

void AddMstxRanges(const RankTrace& trace, const ThreadGroups& groups, ModuleRanges& ranges) {
  const MstxEvents& events = trace.mstx;
  const MstxPlaces places(trace);
  for (const std::size_t i : events.RowsByStart()) {
    if (events.kind[i] != MstxKind::kStartEnd) continue;
    if (trace.strings.View(events.domain[i]) != "Module") continue;
    const MstxPlace place = places.Of(i);
    const std::string_view message = trace.strings.View(events.message[i]);
    ranges.Add({place.start, place.end, groups.OfMark(place.track)},
               {std::string(message.empty() ? "(unnamed)" : message)});
  }
}

void AddPythonModules(const RankTrace& trace, const ThreadGroups& groups, ModuleRanges& ranges) {
  const PythonCalls& calls = trace.python_calls;
  for (const std::size_t i : calls.RowsByStart()) {
    const std::string_view name = trace.strings.View(calls.name[i]);
    if (!IsModuleCall(name)) continue;
    ranges.Add({calls.start[i], calls.start[i] + calls.dur[i], groups.OfMark(calls.track[i])},
               {std::string(ModuleClass(name))});
  }
}

// An operator of the backward pass.
struct BackwardOp {
  std::int32_t track = -1;
  TimeNs start = 0, end = 0;
  std::uint32_t module = 0;  // of the forward operator
};

// Those whose forward operators a module owns, in order of thread and start.
std::vector<BackwardOp> FindBackwardOps(const RankTrace& trace, const ThreadGroups& groups,
                                        const ModuleRanges& ranges, ModuleNest& nest) {
  const HostOps& ops = trace.host_ops;
  std::vector<NestSpan> forward;
  std::vector<BackwardOp> backward;
  for (const BackwardPair& pair : FindBackwardPairs(trace)) {
    forward.push_back({ops.start[pair.forward], ops.start[pair.forward] + ops.dur[pair.forward],
                       groups.Of(ops.track[pair.forward])});
    const std::size_t op = pair.backward;
    backward.push_back({ops.track[op], ops.start[op], ops.start[op] + ops.dur[op], 0});
  }
  nest = Nest(ranges.spans, forward);
  std::vector<BackwardOp> owned;
  for (std::size_t i = 0; i < backward.size(); ++i) {
    if (nest.places[i].module == NestPlace::kNone) continue;
    backward[i].module = static_cast<std::uint32_t>(nest.places[i].module);
    owned.push_back(backward[i]);
  }
  std::ranges::stable_sort(owned, [](const BackwardOp& a, const BackwardOp& b) {
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
    if (around.size() > kMaxModuleLevels) Fail(ErrorKind::kCorrupt, "{}", kModulesTooDeep);
  }
  std::string path;
  for (auto outer = around.rbegin(); outer != around.rend(); ++outer) {
    path += "/" + ranges.infos[*outer].name;
    if (path.size() > kMaxModulePath) Fail(ErrorKind::kCorrupt, "{}", kModulesTooDeep);
  }
  const std::size_t first = path.find_first_not_of('/');
  if (first == std::string::npos) return "";
  return path.substr(first, path.find_last_not_of('/') + 1 - first);
}

ModuleRanges FindForwardModules(const RankTrace& trace, const ThreadGroups& groups) {
  ModuleRanges ranges;
  AddMstxRanges(trace, groups, ranges);
  ranges.source = ModuleSource::kMstxRanges;
  if (ranges.spans.empty()) {
    AddPythonModules(trace, groups, ranges);
    ranges.source = ranges.spans.empty() ? ModuleSource::kNone : ModuleSource::kPythonCalls;
  }
  for (std::uint32_t i = 0; i < ranges.infos.size(); ++i) ranges.infos[i].forward = i;
  return ranges;
}

void AddBackwardModules(const RankTrace& trace, const ThreadGroups& groups, ModuleRanges& ranges) {
  ModuleNest nest;
  const std::vector<BackwardOp> ops = FindBackwardOps(trace, groups, ranges, nest);
  ModuleRanges paths, modules;
  for (std::size_t begin = 0, end = 0; begin < ops.size(); begin = end) {
    const BackwardOp& first = ops[begin];
    NestSpan span{first.start, first.end, groups.Of(first.track)};
    for (; end < ops.size() && ops[end].module == first.module && ops[end].track == first.track;
         ++end) {
      span.end = std::max(span.end, ops[end].end);
    }
    const std::string path = PathAround(ranges, nest, first.module);
    if (!path.empty()) {
      paths.Add({span.start - 1, span.end + 1, span.track}, {path, true, first.module});
    }
    modules.Add(span, {ranges.infos[first.module].name, true, first.module});
  }
  for (const ModuleRanges& added : {paths, modules}) {
    for (std::size_t i = 0; i < added.spans.size(); ++i) ranges.Add(added.spans[i], added.infos[i]);
  }
}

}  // namespace mpa
