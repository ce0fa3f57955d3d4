// SPDX-License-Identifier: Apache-2.0
// Marks and ranges of the program on the timeline: on the host, and their side on the device.
#include "mpa/raw/enumerations.h"
#include "trace_view.h"

namespace mpa::profiler_output {
namespace {

// The profiler's numbers of arrows between marks begin behind this.
constexpr std::int64_t kFirstArrow = 4000000001;

void PutMarkArrow(std::string& out, char phase, std::int64_t mark, const TracePlace& place) {
  std::string id;
  PutUnsigned(id, static_cast<std::uint64_t>(mark) + kFirstArrow);
  PutArrow(out, phase, "MsTx_" + id, "MsTx", place, "\"", id, "\"");
}

void PutMark(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::Marks& marks = source.session.marks;
  const std::uint64_t host = TraceProcess(source.session.info.process, Layer::kMarks, kHost);
  const TracePlace place{host, marks.thread[i], marks.start[i]};
  BeginSlice(out, "", place, Duration(marks.start[i], marks.end[i]),
             source.texts[marks.message[i]]);
  Put(out, R"("event_type": ")", raw::NameOf(raw::MarkTypes(), marks.event_type[i]),
      R"(", "domain": ")", source.texts[marks.domain[i]], R"("}})");
  PutMarkArrow(out, 's', marks.mark_id[i], place);
  if (marks.device_start[i] < 0) return;
  const std::uint64_t device =
      TraceProcess(source.session.info.process, Layer::kHardware, marks.device[i]);
  const TracePlace there{device, marks.device_stream[i], marks.device_start[i]};
  BeginSlice(out, "", there, Duration(marks.device_start[i], marks.device_end[i]),
             source.texts[marks.message[i]]);
  Put(out, R"("Physic Stream Id": )", marks.device_stream[i], R"(, "Task Id": )",
      marks.device_task[i], "}}");
  PutMarkArrow(out, 'f', marks.mark_id[i], there);
}

}  // namespace

void WriteMarkEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  if (session.marks.Empty()) return;
  std::string names;
  const std::uint64_t process = TraceProcess(session.info.process, Layer::kMarks, kHost);
  PutProcess(names, process, session.info.process_name, "CPU", Layer::kMarks);
  for (const std::int64_t thread : Distinct(session.marks.thread)) {
    PutThread(names, process, thread, "Thread " + std::to_string(thread), thread);
  }
  file.Write(names);
  file.WriteRows(session.marks.Size(), [&](std::size_t begin, std::size_t end, std::string& out) {
    for (std::size_t i = begin; i < end; ++i) PutMark(source, i, out);
  });
}

}  // namespace mpa::profiler_output
