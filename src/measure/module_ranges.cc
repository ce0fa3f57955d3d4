// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/module_ranges.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/measure/backward_pairs.h"
#include "mpa/measure/module_names.h"
#include "mpa/measure/mstx_places.h"

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
    if (around.size() > kMostModuleLevels) Fail(ErrorKind::kCorrupt, "{}", kModulesTooDeep);
  }
  std::string path;
  for (auto outer = around.rbegin(); outer != around.rend(); ++outer) {
    path += "/" + ranges.infos[*outer].name;
    if (path.size() > kMostModulePath) Fail(ErrorKind::kCorrupt, "{}", kModulesTooDeep);
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
