// SPDX-License-Identifier: Apache-2.0
// What the runtime did for a call, and the names of the graphs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyse.h"

namespace mpa::head {
namespace {

// Where GE works for a call; empty when the begin is not known.
std::optional<Interval> GraphSpan(const CallParts& parts) {
  if (!parts.bounds.t3) return std::nullopt;
  return Interval{*parts.bounds.t3, parts.bounds.executed.value_or(parts.bounds.t4)};
}

bool Executes(RuntimeCall meaning) {
  return meaning == RuntimeCall::kModelExecute || meaning == RuntimeCall::kReplay;
}

void AddWorker(const RuntimeCalls& runtime, std::size_t row, CallParts& parts) {
  parts.workers.push_back(row);
  for (const std::size_t inner :
       runtime.Starting(runtime.Table().track[row], runtime.Start(row), runtime.End(row))) {
    if (runtime.Meaning(inner) == RuntimeCall::kLaunch) parts.launches.push_back(inner);
  }
}

// The outermost calls of each thread by time.
class CallsOfThreads {
 public:
  CallsOfThreads(const HostForest& forest, std::vector<CallParts>& parts)
      : forest_(forest), parts_(parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].found.parent < 0) of_track_[Node(i).track].push_back(i);
    }
  }

  // The call of the thread that runs at `time`.
  std::optional<std::size_t> At(std::int32_t track, TimeNs time) const {
    const auto calls = of_track_.find(track);
    return calls != of_track_.end() ? LastBegun(calls->second, time) : std::nullopt;
  }

  // A call of another thread whose model is executed on this one.
  std::optional<std::size_t> WorkedFor(const RuntimeCalls& runtime, std::size_t row) const {
    for (const auto& [track, calls] : of_track_) {
      if (track == runtime.Table().track[row]) continue;
      for (const TimeNs time : {runtime.Start(row), runtime.End(row)}) {
        const auto call = LastBegun(calls, time);
        if (call && IsWorkerOf(runtime, row, parts_[*call])) return call;
      }
    }
    return std::nullopt;
  }

 private:
  const HostNode& Node(std::size_t call) const { return forest_.At(parts_[call].found.node); }

  std::optional<std::size_t> LastBegun(const std::vector<std::size_t>& calls, TimeNs time) const {
    const auto after = std::partition_point(
        calls.begin(), calls.end(), [&](std::size_t call) { return Node(call).start <= time; });
    if (after == calls.begin() || Node(*std::prev(after)).end <= time) return std::nullopt;
    return *std::prev(after);
  }

  static bool IsWorkerOf(const RuntimeCalls& runtime, std::size_t row, const CallParts& parts) {
    if (!parts.bounds.t3 || !parts.execute) return false;
    const bool overlaps =
        runtime.Start(row) < parts.bounds.t4 && runtime.End(row) > *parts.bounds.t3;
    const auto& model = runtime.Table().model;
    return overlaps && model[row] == model[*parts.execute];
  }

  const HostForest& forest_;
  const std::vector<CallParts>& parts_;
  std::map<std::int32_t, std::vector<std::size_t>> of_track_;
};

}  // namespace

void FindRuntimeParts(const HostForest& forest, const RuntimeCalls& runtime,
                      std::vector<CallParts>& parts) {
  for (CallParts& call : parts) {
    const HostNode& node = forest.At(call.found.node);
    for (const std::size_t row : runtime.Starting(node.track, node.start, node.end)) {
      if (Executes(runtime.Meaning(row)) && !call.execute) call.execute = row;
    }
    const auto span = GraphSpan(call);
    if (!span) continue;
    for (const std::size_t row : runtime.Starting(node.track, span->begin, span->end)) {
      if (runtime.Meaning(row) == RuntimeCall::kLaunch) call.launches.push_back(row);
    }
  }
}

std::vector<std::size_t> FindLoneExecutions(const HostForest& forest, const RuntimeCalls& runtime,
                                            std::vector<CallParts>& parts) {
  const CallsOfThreads calls(forest, parts);
  std::vector<std::size_t> lone;
  for (std::int32_t track = 0; track < runtime.Tracks(); ++track) {
    std::vector<std::size_t> executions;
    for (const std::size_t row : runtime.OfTrack(track)) {
      if (Executes(runtime.Meaning(row))) executions.push_back(row);
    }
    ForEachOutermost(runtime, executions, [&](std::size_t row) {
      if (calls.At(track, runtime.Start(row))) return;
      if (const auto call = calls.WorkedFor(runtime, row)) {
        AddWorker(runtime, row, parts[*call]);
      } else {
        lone.push_back(row);
      }
    });
  }
  return lone;
}

Engine EngineOf(const RankTrace& trace, const HostForest& forest, const RuntimeCalls& runtime,
                const CallParts& parts, bool runs_eagerly) {
  const FoundCall& found = parts.found;
  if (runs_eagerly) return Engine::kEagerFx;
  if (found.run == HostNode::kNone && found.execution == HostNode::kNone) {
    const bool replays = found.replay != HostNode::kNone || parts.bounds.t3;
    return replays ? Engine::kAclGraph : Engine::kUnknown;
  }
  const auto span = GraphSpan(parts);
  if (!span) return Engine::kGe;
  const HostNode& node = forest.At(found.node);
  bool any = !parts.workers.empty();
  bool is_static = false;
  for (const std::size_t row : runtime.Starting(node.track, span->begin, span->end)) {
    any = true;
    const RuntimeCall meaning = runtime.Meaning(row);
    is_static =
        is_static || meaning == RuntimeCall::kInputCopy || meaning == RuntimeCall::kStepInfo;
  }
  if (!any) return Engine::kGe;
  if (is_static) return Engine::kGeStatic;
  // Two different operators are enough to know.
  std::set<std::pair<StringId, std::int64_t>> operators;
  for (const std::size_t row : parts.launches) {
    const StringId item = runtime.Table().item[row];
    if (IsParameterUpdate(trace.strings.View(item))) continue;
    const bool named = item != StringId::kEmpty;
    operators.emplace(item, named ? 0 : static_cast<std::int64_t>(row));
    if (operators.size() >= 2) return Engine::kGeDynamic;
  }
  return operators.empty() ? Engine::kGeStatic : Engine::kGe;
}

namespace {

class Names {
 public:
  std::size_t Of(const std::string& name) {
    const auto [found, is_new] = positions_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return found->second;
  }
  std::vector<std::string> Take() { return std::move(names_); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> positions_;
};

bool IsNested(const HostForest& forest, std::int64_t region) {
  std::int64_t at = forest.At(region).parent;
  while (at != HostNode::kNone && forest.At(at).event != HostEvent::kRegion) {
    at = forest.At(at).parent;
  }
  return at != HostNode::kNone;
}

}  // namespace

std::vector<std::string> NameGraphs(const RankTrace& trace, const HostForest& forest,
                                    const RuntimeCalls& runtime,
                                    const std::vector<CallParts>& parts, std::vector<Call>& calls) {
  std::unordered_map<std::int64_t, std::int64_t> calls_of_region;
  for (const CallParts& part : parts) {
    if (part.bounds.region != HostNode::kNone) ++calls_of_region[part.bounds.region];
  }
  Names names;
  std::unordered_map<std::int64_t, std::int64_t> place_in_region;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> place_in_step;  // by thread too
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Call& call = calls[i];
    const CallParts& part = parts[i];
    const std::int64_t ordinal =
        call.step >= 0 && call.parent < 0 ? ++place_in_step[{call.track, call.step}] : 0;
    const std::int64_t region = part.bounds.region;
    const auto id = region != HostNode::kNone
                        ? RegionIdOf(trace.strings.View(forest.At(region).name))
                        : std::nullopt;
    if (region != HostNode::kNone) {
      call.calls_of_region = static_cast<std::int32_t>(calls_of_region[region]);
      call.in_nested_region = IsNested(forest, region);
    }
    const std::int64_t model = part.execute ? runtime.Table().model[*part.execute] : -1;
    if (id) {
      call.frame = id->frame;
      call.variant = id->variant;
      std::string name = fmt::format("region {}/{}", id->frame, id->variant);
      if (calls_of_region[region] > 1) name += fmt::format(" #{}", ++place_in_region[region]);
      call.graph = names.Of(name);
    } else if (model >= 0) {
      call.graph = names.Of(fmt::format("model {}", model));
    } else if (ordinal > 0) {
      call.graph = names.Of(fmt::format("call {} of the step", ordinal));
    } else {
      call.graph = names.Of("unnamed");
    }
  }
  return names.Take();
}

}  // namespace mpa::head
