// SPDX-License-Identifier: Apache-2.0
// trace_view.json: a Chrome trace, an array of events.
#include "text_files.h"
#include "trace_events.h"

namespace mpa::profiler_output {

void WriteTraceView(const raw::Session& session, const std::filesystem::path& path) {
  const bool is_empty = session.ops.Empty() && session.queue.Empty() && session.python.Empty() &&
                        session.garbage_collections.Empty() && session.calls.Empty() &&
                        session.tasks.Empty() && session.marks.Empty() &&
                        session.core_clocks.Empty() && session.device_memory.Empty() &&
                        session.traffic.Empty();
  if (is_empty) return;
  const TraceSource source(session);
  ChunkedFile file(path);
  file.Write("[");
  file.DropNext(2);  // the comma before the first event
  WriteFrameworkEvents(source, file);
  WriteHardwareEvents(source, file);
  WriteMarkEvents(source, file);
  WriteCommunicationEvents(source, file);
  WriteActivityEvents(source, file);
  WriteCounterEvents(source, file);
  WriteTrafficEvents(source, file);
  WriteCallEvents(source, file);
  WriteDeviceArrows(source, file);
  file.Write("]");
  file.Close();
}

}  // namespace mpa::profiler_output
