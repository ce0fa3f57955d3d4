// SPDX-License-Identifier: Apache-2.0
// How long operators take on the host and on the device.
#include "mpa/raw/operator_times.h"

namespace mpa::raw {
namespace {

// Operators inside one that run side by side may take more time than it has.
TimeNs Minus(TimeNs a, TimeNs b) {
  TimeNs difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? a : difference;
}

void SumDeviceWork(const Session& session, OperatorTimes& times) {
  for (std::size_t i = 0; i < session.links.Size(); ++i) {
    const std::int32_t op = session.links.op[i];
    const std::int32_t task = session.links.task[i];
    if (task < 0) {
      times.device_self[op] += session.collectives.dur[session.links.collective[i]];
      continue;
    }
    const double dur = session.tasks.dur[task];
    times.device_self[op] += dur;
    if (session.tasks.kind[task] != TaskKind::kKernel) continue;
    const StringId core = session.kernels.core[session.tasks.detail[task]];
    if (session.strings.View(core) == "AI_CORE") times.cube_self[op] += dur;
  }
}

}  // namespace

OperatorTimes SumOperatorTimes(const Session& session) {
  const TorchOps& ops = session.ops;
  OperatorTimes times;
  times.host_total.resize(ops.Size());
  times.device_self.resize(ops.Size());
  times.cube_self.resize(ops.Size());
  for (std::size_t row = 0; row < ops.Size(); ++row) {
    times.host_total[row] = ops.end[row] - ops.start[row];
  }
  SumDeviceWork(session, times);
  times.host_self = times.host_total;
  times.device_total = times.device_self;
  times.cube_total = times.cube_self;
  for (std::size_t row = ops.Size(); row-- > 0;) {  // children come after their parents
    const std::int32_t parent = ops.parent[row];
    if (parent < 0) continue;
    times.host_self[parent] = Minus(times.host_self[parent], times.host_total[row]);
    times.device_total[parent] += times.device_total[row];
    times.cube_total[parent] += times.cube_total[row];
  }
  return times;
}

}  // namespace mpa::raw
