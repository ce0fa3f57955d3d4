// SPDX-License-Identifier: Apache-2.0
// Kernels of GPUs that communicate, known by the operators that launched them.
#include <string_view>
#include <vector>

#include "gpu_launches.h"
#include "mpa/base/text.h"
#include "mpa/measure/nesting.h"
#include "mpa/model/launches.h"

namespace mpa::readers {
namespace {

bool Communicates(std::string_view op) {
  return op.starts_with("c10d::") || op.starts_with("_c10d_functional::") ||
         op.starts_with("nccl:") || op == "record_param_comms";
}

// Calls of the runtime stand among the operators.
bool IsCall(std::string_view op) {
  return op.starts_with("cuda") || op.starts_with("hip") || op.starts_with("cuLaunch") ||
         op.starts_with("xpu") || op.starts_with("urEnqueue");
}

}  // namespace

void MoveCollectives(RankTrace& trace) {
  // By text; most traces have no such operator.
  std::vector<bool> communicates(trace.strings.Size(), false);
  bool any = false;
  for (const StringId name : trace.host_ops.name) {
    if (communicates[Index(name)] || !Communicates(trace.strings.View(name))) continue;
    any = communicates[Index(name)] = true;
  }
  if (!any || trace.kernels.Empty()) return;
  const Nesting ops(SpansOf(trace.host_ops));
  const LaunchIndex launches(trace);
  const auto is_collective = [&](std::size_t kernel) {
    const auto launch = launches.Find(trace.kernels.link[kernel]);
    if (!launch) return false;
    auto op = ops.Find(trace.launches.host_track[*launch], trace.launches.host_time[*launch]);
    const auto name_of = [&] { return trace.host_ops.name[static_cast<std::size_t>(op)]; };
    while (op != Nesting::kNone && IsCall(trace.strings.View(name_of())))
      op = ops.Parent(static_cast<std::size_t>(op));
    return op != Nesting::kNone && communicates[Index(name_of())];
  };
  std::vector<bool> stays(trace.kernels.Size(), true);
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
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
