// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/dispatch.h"

#include <algorithm>
#include <compare>
#include <unordered_map>

#include "mpa/measure/nesting.h"

namespace mpa {
namespace {

// Finds the host call that handed a kernel or collective to the device. The timeline names the call
// of each run; tables of kernels do not, so their rows are found by kind and start.
class CallOfWork {
 public:
  explicit CallOfWork(const RankTrace& trace) : trace_(trace) {
    const DeviceRuns& runs = trace.device_runs;
    runs_.reserve(runs.Size());
    for (std::size_t i = 0; i < runs.Size(); ++i) {
      if (runs.connection[i] >= 0) runs_.push_back({runs.kind[i], runs.start[i], i});
    }
    std::sort(runs_.begin(), runs_.end());
    const HostCalls& calls = trace.host_calls;
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      if (calls.connection[i] < 0) continue;
      const auto [found, is_new] = calls_.try_emplace(calls.connection[i], i);
      const bool launches = trace.strings.View(calls.name[i]) == "Node@launch";
      if (!is_new && launches) found->second = i;
    }
  }

  std::int64_t Of(const DeviceWork& work) const {
    if (work.kernel == DeviceWork::kNone && work.collective == DeviceWork::kNone) return -1;
    const DeviceRunKind kind =
        work.collective != DeviceWork::kNone ? DeviceRunKind::kCollective : DeviceRunKind::kKernel;
    const DeviceRuns& runs = trace_.device_runs;
    auto at = std::lower_bound(runs_.begin(), runs_.end(), Run{kind, work.start, 0});
    std::int64_t call = -1;
    for (; at != runs_.end() && at->kind == kind && at->start == work.start; ++at) {
      const auto found = calls_.find(runs.connection[at->row]);
      if (found == calls_.end()) continue;
      const bool same = runs.dur[at->row] == work.dur;
      if (call < 0 || same) call = static_cast<std::int64_t>(found->second);
      if (same) break;
    }
    return call;
  }

 private:
  struct Run {
    DeviceRunKind kind;
    TimeNs start;
    std::size_t row;
    auto operator<=>(const Run&) const = default;
  };

  const RankTrace& trace_;
  std::vector<Run> runs_;
  std::unordered_map<std::int64_t, std::size_t> calls_;
};

}  // namespace

std::vector<Dispatch> FindDispatches(const RankTrace& trace) {
  const Nesting ops(SpansOf(trace.host_ops));
  const WorkOfRank found = FindDeviceWork(trace, ops);
  const CallOfWork calls(trace);
  std::vector<Dispatch> dispatches;
  dispatches.reserve(found.launched.size() + found.unlaunched.size());
  for (const LaunchedWork& launched : found.launched) {
    dispatches.push_back({launched.work, launched.op, calls.Of(launched.work)});
  }
  for (const DeviceWork& work : found.unlaunched) dispatches.push_back({work, -1, calls.Of(work)});
  std::stable_sort(dispatches.begin(), dispatches.end(), [](const Dispatch& a, const Dispatch& b) {
    return a.work.start < b.work.start;
  });
  return dispatches;
}

}  // namespace mpa
