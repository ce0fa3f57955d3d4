// SPDX-License-Identifier: Apache-2.0
#include "module_ranges.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "mpa/base/text.h"
#include "mstx_places.h"

namespace mpa {
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

// "Linear" of "nn.Module: Linear_0"; the number tells apart modules of one class.
std::string_view ClassOf(std::string_view name) {
  const std::size_t number = name.find_last_not_of("0123456789");
  if (number != std::string_view::npos && number + 1 < name.size() && name[number] == '_') {
    name = name.substr(0, number);
  }
  return Trim(name);
}

void AddPythonModules(const RankTrace& trace, const ThreadGroups& groups, ModuleRanges& ranges) {
  constexpr std::string_view kPrefix = "nn.Module:";
  const PythonCalls& calls = trace.python_calls;
  for (const std::size_t i : calls.RowsByStart()) {
    const std::string_view name = trace.strings.View(calls.name[i]);
    if (!name.starts_with(kPrefix)) continue;
    ranges.Add({calls.start[i], calls.start[i] + calls.dur[i], groups.OfMark(calls.track[i])},
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
std::vector<BackwardOp> FindBackwardOps(const RankTrace& trace, const ThreadGroups& groups,
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
      paths.Add({span.start - 1, span.end + 1, span.group}, {path, true, first.module});
    }
    modules.Add(span, {ranges.infos[first.module].name, true, first.module});
  }
  for (const ModuleRanges& added : {paths, modules}) {
    for (std::size_t i = 0; i < added.spans.size(); ++i) ranges.Add(added.spans[i], added.infos[i]);
  }
}

}  // namespace mpa
