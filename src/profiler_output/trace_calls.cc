// SPDX-License-Identifier: Apache-2.0
// Calls of CANN on the timeline, and where the arrows to the device begin.
#include "call_names.h"
#include "kernel_rules.h"
#include "mpa/raw/labels.h"
#include "trace_view.h"

namespace mpa::profiler_output {
namespace {

void PutCall(const TraceSource& source, std::size_t i, const TracePlace& place, std::string& out) {
  const raw::HostCalls& calls = source.session.calls;
  const raw::Level level = calls.level[i];
  const bool is_acl = level == raw::Level::kAcl;
  const std::string_view name = source.texts[calls.name[i]];
  BeginSlice(out, "", place, Duration(calls.start[i], calls.end[i]), raw::LevelPrefix(level), "@",
             source.texts[raw::CallName(calls, i)]);
  Put(out, R"("Thread Id": )", calls.thread[i], R"(, "Mode": ")",
      is_acl ? AclMode(calls.type[i]) : name, R"(", "level": ")", LevelName(level), R"(", "id": ")",
      is_acl ? name : "0", R"(", "item_id": ")");
  if (calls.item[i] != StringId::kEmpty) {
    out += source.texts[calls.item[i]];
  } else {
    PutUnsigned(out, calls.item_id[i]);
  }
  Put(out, R"(", "connection_id": )", i, "}}");
}

}  // namespace

void WriteCallEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  const raw::HostCalls& calls = session.calls;
  if (calls.Empty()) return;
  // At level 0 the profiler leaves out the calls, but not where they launch device work.
  const bool level0 = IsLevel0(session);
  const std::uint64_t process = TraceProcess(session.info.process, Layer::kCann, kHost);
  std::string names;
  PutProcess(names, process, "CANN", "CPU", Layer::kCann);
  for (const std::int64_t thread : Distinct(calls.thread)) {
    PutThread(names, process, thread, "Thread " + std::to_string(thread), thread);
  }
  file.Write(names);
  file.WriteRows(calls.Size(), [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t i = begin; i < end; ++i) {
      const TracePlace place{process, calls.thread[i], calls.start[i]};
      if (!level0) PutCall(source, i, place, out);
      if (calls.launches[i] != 0) PutLaunchArrow(out, 's', i, place);
    }
  });
}

}  // namespace mpa::profiler_output
