// SPDX-License-Identifier: Apache-2.0
// The framework on the timeline: operators, the task queue, Python, and the arrows between them.
#include <set>

#include "mpa/raw/labels.h"
#include "profiler_database.h"
#include "trace_events.h"

namespace mpa::profiler_output {
namespace {

// The framework's own process keeps its number.
std::uint64_t Process(std::int64_t process) { return static_cast<std::uint64_t>(process); }

/// An argument that is a list, if the framework recorded it.
void PutList(std::string& out, std::string_view name, std::string_view list) {
  if (list.empty()) return;
  Put(out, R"(, ")", name, R"(": ")");
  AppendEscapedList(out, list);
  out += '"';
}

void PutText(std::string& out, std::string_view name, std::string_view escaped) {
  if (!escaped.empty()) Put(out, R"(, ")", name, R"(": ")", escaped, "\"");
}

void PutOp(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::TorchOps& ops = source.session.ops;
  const StringPool& strings = source.session.strings;
  const TracePlace place{Process(ops.process[i]), ops.thread[i], ops.start[i]};
  BeginSlice(out, "cpu_op", place, ops.dur[i], source.texts[ops.name[i]]);
  Put(out, R"("Sequence number": )", ops.sequence[i], R"(, "Fwd thread id": )",
      ops.forward_thread[i]);
  PutList(out, "Input Dims", strings.View(ops.shapes[i]));
  PutList(out, "Input type", strings.View(ops.types[i]));
  PutList(out, "Call stack", strings.View(ops.stack[i]));
  // Not seen in real data.
  PutText(out, "Module Hierarchy", source.texts[ops.modules[i]]);
  PutText(out, "flops", source.texts[ops.extra[i]]);
  out += "}}";
}

void PutQueueRange(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::QueueRanges& queue = source.session.queue;
  const TracePlace place{Process(queue.process[i]), queue.thread[i], queue.start[i]};
  const bool dequeue = queue.dequeue[i] != 0;
  const std::string_view name = source.texts[queue.name[i]];
  BeginSlice(out, dequeue ? "dequeue" : "enqueue", place, queue.dur[i],
             dequeue ? "Dequeue" : "Enqueue", name.empty() ? "" : "@", name);
  Put(out, R"("correlation_id": )", queue.correlation[i], "}}");
  PutArrow(out, dequeue ? 'f' : 's', "enqueue_to_dequeue", "async_task_queue", place,
           queue.correlation[i]);
}

/// The arrow from an operator to that of the backward pass, where they run on different threads.
void PutBackward(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::TorchOps& ops = source.session.ops;
  const raw::BackwardPairs& pairs = source.session.backward;
  const auto forward = static_cast<std::size_t>(pairs.forward[i]);
  const auto backward = static_cast<std::size_t>(pairs.backward[i]);
  if (ops.thread[forward] == ops.thread[backward]) return;
  const auto place = [&](std::size_t op) {
    return TracePlace{Process(ops.process[op]), ops.thread[op], ops.start[op]};
  };
  PutArrow(out, 's', "fwdbwd", "fwdbwd", place(forward), pairs.sequence[i]);
  PutArrow(out, 'f', "fwdbwd", "fwdbwd", place(backward), pairs.sequence[i]);
}

void PutPythonCall(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::PythonCalls& python = source.session.python;
  const TracePlace place{Process(python.process[i]), python.thread[i], python.start[i]};
  BeginSlice(out, "python_function", place, python.dur[i], source.texts[python.name[i]]);
  Put(out, R"("Python id": )", python.id[i], R"(, "Python parent id": )", python.parent_id[i]);
  if (python.module_id[i] >= 0) Put(out, R"(, "Python module id": )", python.module_id[i]);
  out += "}}";
}

/// Names of the threads. One that only takes work off the queue is shown below all others.
std::string Threads(const raw::Session& session) {
  const raw::QueueRanges& queue = session.queue;
  std::set<std::int64_t> dequeues, others;
  for (std::size_t i = 0; i < queue.Size(); ++i) {
    (queue.dequeue[i] != 0 ? dequeues : others).insert(queue.thread[i]);
  }
  for (const std::int64_t thread : Distinct(session.python.thread)) others.insert(thread);
  for (const std::int64_t thread : others) dequeues.erase(thread);
  for (const std::int64_t thread : Distinct(session.ops.thread)) others.insert(thread);
  std::set<std::int64_t> all = dequeues;
  all.insert(others.begin(), others.end());
  if (all.empty()) return {};

  const std::uint64_t process = Process(!session.ops.Empty()     ? session.ops.process.front()
                                        : !session.queue.Empty() ? queue.process.front()
                                                                 : session.python.process.front());
  std::string out;
  PutProcess(out, process, "Python", "CPU", Layer::kFramework);
  const std::int64_t last = *all.rbegin() + 1;
  for (const std::int64_t thread : all) {
    PutThread(out, process, thread, "Thread " + std::to_string(thread),
              dequeues.contains(thread) ? last : thread);
  }
  return out;
}

std::string Collections(const raw::Session& session) {
  const GarbageCollections& collections = session.garbage_collections;
  const auto& devices = session.info.devices;
  const std::int64_t device = devices.empty() ? kHost : devices.front().id;
  std::string out;
  for (std::size_t i = 0; i < collections.Size(); ++i) {
    const std::int64_t process = collections.process[i];
    const TracePlace place{TraceProcess(process, Layer::kCollections, device), process,
                           collections.start[i]};
    if (i == 0) {
      PutProcess(out, place.process, "Python GC", "CPU", Layer::kCollections);
      PutThread(out, place.process, place.thread, "Python GC", place.thread);
    }
    BeginSlice(out, "GC", place, collections.dur[i], "GC");
    out += "}}";
  }
  return out;
}

}  // namespace

void WriteFrameworkEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  const auto write = [&](std::size_t count, auto put) {
    file.WriteRows(count, [&](std::size_t i, std::string& out) { put(source, i, out); });
  };
  write(session.ops.Size(), PutOp);
  write(session.queue.Size(), PutQueueRange);
  file.Write(Threads(session));
  write(session.backward.Size(), PutBackward);
  write(session.python.Size(), PutPythonCall);
  file.Write(Collections(session));
}

// Calls of CANN on the timeline, and where the arrows to the device begin.

namespace {

void PutCall(const TraceSource& source, std::size_t i, const TracePlace& place, std::string& out) {
  const raw::HostCalls& calls = source.session.calls;
  const raw::Level level = calls.level[i];
  const bool is_acl = level == raw::Level::kAcl;
  const std::string_view name = source.texts[calls.name[i]];
  BeginSlice(out, "", place, calls.dur[i], raw::LevelPrefix(level), "@",
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
  const std::uint64_t process = source.Process(Layer::kCann, kHost);
  file.Write(HostRows(source, calls.thread, "CANN", Layer::kCann));
  file.WriteRows(calls.Size(), [&](std::size_t i, std::string& out) {
    const TracePlace place{process, calls.thread[i], calls.start[i]};
    if (!level0) PutCall(source, i, place, out);
    if (calls.launches[i] != 0) PutLaunchArrow(out, 's', i, place);
  });
}

// Marks and ranges of the program on the timeline: on the host, and their side on the device.

namespace {

void PutMarkArrow(std::string& out, char phase, std::int64_t mark, const TracePlace& place) {
  std::string id;
  PutUnsigned(id, static_cast<std::uint64_t>(MarkConnection(mark)));
  PutArrow(out, phase, "MsTx_" + id, "MsTx", place, "\"", id, "\"");
}

void PutMark(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::Marks& marks = source.session.marks;
  const TracePlace place{source.Process(Layer::kMarks, kHost), marks.thread[i], marks.start[i]};
  BeginSlice(out, "", place, marks.dur[i], source.texts[marks.message[i]]);
  Put(out, R"("event_type": ")", raw::NameOf(raw::MarkTypes(), marks.event_type[i]),
      R"(", "domain": ")", source.texts[marks.domain[i]], R"("}})");
  PutMarkArrow(out, 's', marks.mark_id[i], place);
  if (marks.device_start[i] < 0) return;
  const TracePlace there{source.Process(Layer::kHardware, marks.device[i]), marks.device_stream[i],
                         marks.device_start[i]};
  BeginSlice(out, "", there, marks.device_dur[i], source.texts[marks.message[i]]);
  Put(out, R"("Physic Stream Id": )", marks.device_stream[i], R"(, "Task Id": )",
      marks.device_task[i], "}}");
  PutMarkArrow(out, 'f', marks.mark_id[i], there);
}

}  // namespace

void WriteMarkEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  if (session.marks.Empty()) return;
  file.Write(HostRows(source, session.marks.thread, session.info.process_name, Layer::kMarks));
  file.WriteRows(session.marks.Size(),
                 [&](std::size_t i, std::string& out) { PutMark(source, i, out); });
}

}  // namespace mpa::profiler_output
