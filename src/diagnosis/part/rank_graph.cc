// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/part/rank_graph.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "mpa/diagnosis/part/graph_draft.h"

namespace mpa {
namespace {

template <typename Matches>
Intervals SpansOfOps(const RankTrace& trace, Matches matches) {
  std::vector<Interval> spans;
  const HostOps& ops = trace.host_ops;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    if (matches(trace.strings.View(ops.name[i])))
      spans.push_back({ops.start[i], ops.start[i] + ops.dur[i]});
  }
  return Union(std::move(spans));
}

}  // namespace

std::uint32_t GraphDraft::Add(TimeNs start, TimeNs dur, NodeKind kind, TimeNs host_time,
                              std::int32_t row) {
  return AddOfStep(start, dur, kind, host_time < 0 ? std::nullopt : steps.OfHostTime(host_time),
                   row);
}

std::uint32_t GraphDraft::AddOfStep(TimeNs start, TimeNs dur, NodeKind kind,
                                    std::optional<std::size_t> step, std::int32_t row) {
  if (steps.Count() == 0) step = 0;  // the whole capture
  graph.nodes.push_back(
      {start, dur, kind, step ? static_cast<std::int32_t>(*step) : -1, row, Leaf{}});
  return static_cast<std::uint32_t>(graph.nodes.size() - 1);
}

std::uint32_t GraphDraft::Wait(std::uint32_t node, std::uint32_t on, WaitsFor from, TimeNs weight) {
  graph.edges.push_back({node, on, from, std::max<TimeNs>(0, weight)});
  return static_cast<std::uint32_t>(graph.edges.size() - 1);
}

Intervals OptimizerSpans(const RankTrace& trace) {
  return SpansOfOps(trace,
                    [](std::string_view name) { return name.starts_with("Optimizer.step#"); });
}

Intervals GradientSpans(const RankTrace& trace) {
  return SpansOfOps(trace, [](std::string_view name) { return name.ends_with("AccumulateGrad"); });
}

Intervals ClearingSpans(const RankTrace& trace) {
  return SpansOfOps(trace,
                    [](std::string_view name) { return name.starts_with("Optimizer.zero_grad#"); });
}

RankGraph BuildRankGraph(const RankTrace& trace, TimeNs host_offset,
                         std::vector<HostStretch>& host) {
  GraphDraft draft(trace, host_offset);
  // A launch and a piece of queued work have two nodes or three each, and hardly more edges.
  const std::size_t expected = 3 * (draft.found.launches.size() + trace.queued_work.Size());
  draft.graph.nodes.reserve(expected);
  draft.graph.edges.reserve(expected);
  const HostChain chain = AddHost(draft, host);
  AddDevice(draft, chain, host);
  return std::move(draft.graph);
}

}  // namespace mpa
