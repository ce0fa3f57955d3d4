// SPDX-License-Identifier: Apache-2.0
// Kernels of GPUs that communicate, known by the operators that launched them.
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu_launches.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/nesting.h"

namespace mpa::readers {
namespace {

// Calls of the runtime stand among the operators.
bool IsCall(std::string_view op) {
  return op.starts_with("cuda") || op.starts_with("hip") || op.starts_with("cuLaunch") ||
         op.starts_with("xpu") || op.starts_with("urEnqueue");
}

// By text, whether it names such an operator.
std::vector<bool> NamesThatCommunicate(const RankTrace& trace) {
  std::vector<bool> communicates(trace.strings.Size(), false);
  for (std::size_t i = 0; i < communicates.size(); ++i) {
    communicates[i] = IsOperatorOfCollective(trace.strings.View(static_cast<StringId>(i)));
  }
  return communicates;
}

// The kernels that were launched while an operator of communication ran on the thread; few are.
std::vector<std::size_t> Candidates(const RankTrace& trace, const std::vector<bool>& communicates) {
  std::map<std::int32_t, Intervals> running;  // by thread
  for (std::size_t i = 0; i < trace.host_ops.Size(); ++i) {
    if (!communicates[Index(trace.host_ops.name[i])]) continue;
    const TimeNs start = trace.host_ops.start[i];
    running[trace.host_ops.track[i]].push_back({start, start + trace.host_ops.dur[i]});
  }
  for (auto& [track, spans] : running) spans = Union(std::move(spans));
  std::vector<std::size_t> found;
  if (running.empty()) return found;
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
    if (trace.kernels.link[i] < 0) continue;
    const auto launch = static_cast<std::size_t>(trace.kernels.link[i]);  // links are rows
    const auto spans = running.find(trace.launches.host_track[launch]);
    if (spans != running.end() && Contains(spans->second, trace.launches.host_time[launch])) {
      found.push_back(i);
    }
  }
  return found;
}

}  // namespace

bool IsOperatorOfCollective(std::string_view op) {
  return op.starts_with("c10d::") || op.starts_with("_c10d_functional::") ||
         op.starts_with("nccl:") || op == kCollectiveOperator;
}

void MoveCollectives(RankTrace& trace) {
  const std::vector<bool> communicates = NamesThatCommunicate(trace);
  const std::vector<std::size_t> candidates = Candidates(trace, communicates);
  if (candidates.empty()) return;
  const Nesting ops(SpansOf(trace.host_ops));
  const auto is_collective = [&](std::size_t kernel) {
    const auto launch = static_cast<std::size_t>(trace.kernels.link[kernel]);
    auto op = ops.Find(trace.launches.host_track[launch], trace.launches.host_time[launch]);
    const auto name_of = [&] { return trace.host_ops.name[static_cast<std::size_t>(op)]; };
    while (op != Nesting::kNone && IsCall(trace.strings.View(name_of()))) {
      op = ops.Parent(static_cast<std::size_t>(op));
    }
    return op != Nesting::kNone && communicates[Index(name_of())];
  };
  std::vector<bool> stays(trace.kernels.Size(), true);
  for (const std::size_t i : candidates) {
    if (!is_collective(i)) continue;
    stays[i] = false;
    const StringId name = trace.kernels.name[i];
    trace.communications.Append({.start = trace.kernels.start[i],
                                 .dur = trace.kernels.dur[i],
                                 .name = name,
                                 .op_type = name,
                                 .link = trace.kernels.link[i]});
  }
  trace.kernels.Filter([&](std::size_t i) { return stays[i]; });
}

}  // namespace mpa::readers
