// SPDX-License-Identifier: Apache-2.0
#include "gap_reason.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/measure/device_work.h"

namespace mpa::free_analysis {
namespace {

// A call may wait that much longer behind its operator than the one before.
constexpr TimeNs kUsualWait = 50'000;

std::string Us(TimeNs time) { return PythonFloat(static_cast<double>(time) / 1000); }

std::string TasksText(const Gap& gap) {
  std::string text = "Device task running: ";
  for (std::size_t i = 0; i < gap.tasks.size(); ++i) {
    text +=
        fmt::format("{}{} {} tasks", i > 0 ? ", " : "", gap.tasks[i].second, gap.tasks[i].first);
  }
  if (gap.longest_rest == 0) return text + ".";
  return text + fmt::format(", max remaining free {} us", Us(gap.longest_rest));
}

// What took longest: one of the two launches, or the time between them.
std::string LaunchText(const Interval& before, const Interval& behind) {
  const TimeNs between = behind.begin - before.end;
  const TimeNs launch = std::max(before.end - before.begin, behind.end - behind.begin);
  if (between >= launch) {
    return fmt::format("long time between two node@launch {} us", Us(between));
  }
  return fmt::format("long node@launch {} us", Us(launch));
}

}  // namespace

Reason ReasonOf(const Gap& gap) {
  Reason reason;
  if (!gap.tasks.empty()) {
    reason.cause = Cause::kDevice;
    reason.text = TasksText(gap);
    return reason;
  }
  const HostSide &before = gap.before, &behind = gap.behind;
  if (before.op_end && behind.op_end) reason.framework_idle = *behind.op_end - *before.op_end;
  if (before.call && behind.call) reason.runtime_idle = behind.call->end - before.call->end;
  if (!reason.runtime_idle) {
    reason.text = fmt::format("Skip free analysis due to no {} dispatch time.",
                              reason.framework_idle ? "CANN" : "pytorch");
    return reason;
  }
  if (!reason.framework_idle) {
    reason.cause = Cause::kHost;
    reason.text = "Host, no pytorch dispatch time: " + LaunchText(*before.call, *behind.call);
    return reason;
  }
  const TimeNs waited_before = before.call->begin - *before.op_end;
  const TimeNs waited_behind = behind.call->begin - *behind.op_end;
  if (waited_behind - waited_before < kUsualWait) {
    reason.cause = Cause::kFramework;
    reason.text =
        fmt::format("Idle Pytorch layer: no task dispatched in {} us", Us(*reason.framework_idle));
    return reason;
  }
  reason.cause = Cause::kRuntime;
  reason.text = "Abnormal CANN layer: " + LaunchText(*before.call, *behind.call);
  return reason;
}

}  // namespace mpa::free_analysis
