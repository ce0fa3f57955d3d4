// SPDX-License-Identifier: Apache-2.0
// The time that operators take on the host and on the device.
#include "mpa/raw/summaries.h"

namespace mpa::raw {
namespace {

// Operators inside one that run in parallel may take more time than it has.
TimeNs Minus(TimeNs a, TimeNs b) {
  TimeNs difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? a : difference;
}

bool IsHwts(const Session& session) {
  return !session.info.devices.empty() &&
         session.info.devices.front().generation == Generation::kHwts;
}

// What the profiler counts for each collective: of the rows of its timeline the first one that an
// arrow of the launch leads to. That is the first copy where the parts are tasks of their own. On
// HWTS chips copies and collective have arrows of their own, and both count.
std::vector<double> CountedDurations(const Session& session) {
  std::vector<double> counted = session.collectives.dur;
  const bool adds = IsHwts(session);
  std::vector<std::uint8_t> has_copy(counted.size());
  const CollectiveParts& parts = session.parts;
  for (std::size_t i = 0; i < parts.Size(); ++i) {
    const std::int32_t collective = parts.collective[i];
    const std::int32_t task = parts.task[i];
    if (collective < 0 || has_copy[collective]) continue;
    if (session.strings.View(session.tasks.host_type[task]) != "MEMCPY_ASYNC") continue;
    has_copy[collective] = 1;
    counted[collective] = (adds ? counted[collective] : 0) + session.tasks.dur[task];
  }
  return counted;
}

void SumDeviceWork(const Session& session, OperatorTimes& times) {
  const std::vector<double> collectives = CountedDurations(session);
  for (std::size_t i = 0; i < session.links.Size(); ++i) {
    const std::int32_t op = session.links.op[i];
    const std::int32_t task = session.links.task[i];
    if (task < 0) {
      times.device_self[op] += collectives[session.links.collective[i]];
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
