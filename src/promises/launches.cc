// SPDX-License-Identifier: Apache-2.0
// Launches and the work that they promised.
#include <fmt/format.h>

#include <algorithm>

#include "checks.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/time.h"
#include "mpa/measure/launch_chain.h"
#include "mpa/model/step_bounds.h"

namespace mpa::promises {
namespace {

bool HasOperators(const RankTrace& trace) {
  return std::ranges::any_of(trace.host_ops.name,
                             [&](StringId name) { return !IsStepMark(trace.strings.View(name)); });
}

}  // namespace

void CheckUnansweredLaunches(RankTrace& trace) {
  const UnansweredLaunches& lost = trace.unanswered_launches;
  if (lost.Empty()) return;
  const auto [first, last] = std::ranges::minmax(lost.time);
  const std::size_t all = lost.Size() + trace.launches.Size();
  trace.issues.Count(
      Promise::kLaunchesHaveWork,
      "launches have no work on the device, it was lost: times of the device are too small, those"
      " of operators are unknown; collect again",
      trace.launches.Empty()
          ? Say("{} launches", lost.Size())
          : Say("{} of {} launches, within {:.3f} ms", lost.Size(), all, InMs(last - first)));
}

void LeaveOutWorkBeforeLaunch(RankTrace& trace) {
  if (trace.device != DeviceKind::kGpu || trace.launches.Empty()) return;
  constexpr TimeNs kRounding = 2'000;  // of two times
  const auto is_early = [&](const auto& table, std::size_t row) {
    const std::int64_t link = table.link[row];  // of GPUs a row of the launches
    return link >= 0 &&
           table.start[row] + kRounding < trace.launches.host_time[static_cast<std::size_t>(link)];
  };
  std::size_t early = 0, all = 0;
  const auto count = [&](const auto& table) {
    all += table.Size();
    for (std::size_t i = 0; i < table.Size(); ++i) early += is_early(table, i) ? 1 : 0;
  };
  count(trace.kernels);
  count(trace.communications);
  count(trace.device_tasks);
  if (early == 0) return;
  if (4 * early > all) {
    trace.issues.Count(Promise::kTimesPossible,
                       "the clocks of host and device do not fit, waits between them are wrong",
                       Say("{} of {} pieces of work begin before their launch", early, all));
    return;
  }
  const auto leave_out = [&](auto& table) {
    table.Filter([&](std::size_t row) {
      if (!is_early(table, row)) return true;
      const auto launch = static_cast<std::size_t>(table.link[row]);
      trace.issues.Count(
          Promise::kWorkAfterLaunch,
          "work left out, it begins before its launch: its time is wrong; collect again",
          Say("\"{}\" at {} us, {:.3f} ms before", Printable(trace.strings.View(table.name[row])),
              table.start[row] / 1000, InMs(trace.launches.host_time[launch] - table.start[row])));
      return false;
    });
  };
  leave_out(trace.kernels);
  leave_out(trace.communications);
  leave_out(trace.device_tasks);
}

void CheckWorkHasLaunch(RankTrace& trace) {
  if (!trace.issues.Empty() || !HasOperators(trace)) return;
  TimeNs all = 0, without = 0;
  const auto add = [&](const auto& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      all += table.dur[i];
      if (table.link[i] < 0) without += table.dur[i];
    }
  };
  add(trace.kernels);
  if (trace.device == DeviceKind::kGpu) {
    add(trace.communications);
    add(trace.device_tasks);
  }
  // Some work was launched before the profiler began, on NPUs some by no operator, as that of
  // graphs.
  const bool on_gpu = trace.device == DeviceKind::kGpu;
  if (all == 0 || without < (on_gpu ? all / 4 : all)) return;
  if (!on_gpu && RunsCompiledCode(trace)) return;
  trace.issues.Count(Promise::kWorkHasLaunch,
                     "work of the device without a launch in the trace, operators lack its time",
                     Say("{:.3f} of {:.3f} ms", InMs(without), InMs(all)));
}

}  // namespace mpa::promises
