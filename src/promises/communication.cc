// SPDX-License-Identifier: Apache-2.0
// Operators that communicate, and what the device has of it.
#include <fmt/format.h>

#include <string_view>

#include "checks.h"
#include "mpa/base/language.h"

namespace mpa::promises {
namespace {

// What runs on the device as a collective; "c10d::" alone may run on the host.
bool IsCollectiveCall(std::string_view name) { return name.starts_with("Hccl"); }

}  // namespace

void CheckCommunicationRecorded(RankTrace& trace) {
  if (trace.device == DeviceKind::kGpu || !trace.communications.Empty()) return;
  if (trace.device_tasks.Empty() && trace.kernels.Empty()) return;
  std::size_t calls = 0;
  std::string_view first;
  for (const StringId id : trace.host_ops.name) {
    const std::string_view name = trace.strings.View(id);
    if (IsCollectiveCall(name) && calls++ == 0) first = name;
  }
  if (calls == 0) return;
  trace.issues.Count(Promise::kCommunicationRecorded,
                     "operators communicate, but no collective of the device was recorded: times"
                     " of communication are unknown, not 0; collect communication, too",
                     Say("{} calls, the first is {}", calls, first));
}

}  // namespace mpa::promises
