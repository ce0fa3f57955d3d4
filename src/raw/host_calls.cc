// SPDX-License-Identifier: Apache-2.0
// Completes the host calls once their tasks are known.
#include "cann_stages.h"
#include "mpa/base/text.h"

namespace mpa::raw {
namespace {

// Loading of a model happens before the collection, but its calls are kept.
constexpr std::uint32_t kModelLoad = 2;

void Renumber(const std::vector<std::int32_t>& new_rows, std::vector<std::int32_t>& calls) {
  for (std::int32_t& call : calls) {
    if (call >= 0) call = new_rows[static_cast<std::size_t>(call)];
  }
}

}  // namespace

void MarkLaunches(const HostSide& host, Dictionary& dictionary, Session& session) {
  HostCalls& calls = session.calls;
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    const bool of_events =
        calls.level[i] == Level::kAcl &&
        IsOneOf(session.strings.View(calls.name[i]), {"aclrtRecordEvent", "aclrtStreamWaitEvent"});
    calls.launches[i] = calls.level[i] == Level::kNode || of_events;
  }
  constexpr auto kRuntime = static_cast<std::uint32_t>(Level::kRuntime);
  const StringId copy = session.strings.Intern("MEMCPY_ASYNC");
  for (std::size_t i = 0; i < host.tasks.size(); ++i) {
    const std::int32_t call = host.call_of_task[i];
    if (call < 0 || dictionary.TypeName(kRuntime, host.tasks[i].type) != copy) continue;
    const auto row = static_cast<std::size_t>(call);
    if (calls.level[row] == Level::kAcl) calls.launches[row] = 1;
  }
}

void DropEarlyCalls(Session& session) {
  HostCalls& calls = session.calls;
  std::vector<std::int32_t> new_rows(calls.Size(), -1);
  std::int32_t kept = 0;
  const auto keeps = [&](std::size_t i) {
    return calls.end[i] >= session.info.begin ||
           (calls.level[i] == Level::kModel && calls.type[i] == kModelLoad);
  };
  for (std::size_t i = 0; i < calls.Size(); ++i) {
    if (keeps(i)) new_rows[i] = kept++;
  }
  if (static_cast<std::size_t>(kept) == calls.Size()) return;
  calls.Filter(keeps);
  Renumber(new_rows, session.tasks.call);
  Renumber(new_rows, session.collectives.call);
}

}  // namespace mpa::raw
