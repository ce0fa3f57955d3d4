// SPDX-License-Identifier: Apache-2.0
// Device tasks on the timeline, the device side of marks, and the arrows from operators to both.
#include <set>
#include <utility>

#include "kernel_rules.h"
#include "mpa/base/text.h"
#include "mpa/raw/enumerations.h"
#include "mpa/raw/labels.h"
#include "trace_view.h"

namespace mpa::profiler_output {
namespace {

/// The device tasks as they are shown.
class HardwareTasks {
 public:
  explicit HardwareTasks(const TraceSource& source)
      : source_(source), copy_of_task_(source.session.tasks.Size(), -1) {
    const raw::Copies& copies = source.session.copies;
    for (std::size_t i = 0; i < copies.Size(); ++i) {
      copy_of_task_[static_cast<std::size_t>(copies.task[i])] = static_cast<std::int32_t>(i);
    }
  }

  void Append(std::size_t task, std::string& out) const {
    const raw::Tasks& tasks = source_.session.tasks;
    if (tasks.group[task] != 0) return;
    const bool is_copy = raw::IsCopy(source_.session, task);
    const TracePlace place = source_.TaskPlace(task);
    BeginSlice(out, "", place, tasks.dur[task],
               source_.texts[raw::TaskName(source_.session, task)]);
    Put(out, R"("Model Id": )", tasks.model[task], R"(, "Task Type": ")");
    AppendEscaped(out, View(raw::TimelineTaskType(source_.session, task)));
    Put(out, R"(", "Physic Stream Id": )", tasks.stream[task], R"(, "Task Id": )", tasks.task[task],
        R"(, "Batch Id": )", tasks.batch[task], R"(, "Subtask Id": )", tasks.context[task],
        R"(, "connection_id": )", source_.Connection(tasks.call[task]));
    if (is_copy) PutCopy(task, out);
    out += "}}";
    if (is_copy || tasks.kind[task] == raw::TaskKind::kKernel || IsEvent(tasks.call[task])) {
      PutLaunchArrow(out, 'f', source_.Connection(tasks.call[task]), place);
    }
  }

 private:
  std::string_view View(StringId id) const { return source_.session.strings.View(id); }

  /// True for calls that record events or wait for them.
  bool IsEvent(std::int32_t call) const {
    if (call < 0) return false;
    const StringId name = source_.session.calls.name[static_cast<std::size_t>(call)];
    return IsOneOf(View(name), {"aclrtRecordEvent", "aclrtStreamWaitEvent"});
  }

  void PutCopy(std::size_t task, std::string& out) const {
    const raw::Session& session = source_.session;
    const std::int32_t copy = copy_of_task_[task];
    if (IsLevel0(session) || session.copies.Empty()) return;
    std::int64_t bytes = 0, direction = -1;
    if (copy >= 0) {
      bytes = session.copies.bytes[static_cast<std::size_t>(copy)];
      direction = session.copies.direction[static_cast<std::size_t>(copy)];
    }
    const std::string_view operation = raw::NameOf(raw::CopyDirections(), direction);
    const double dur = session.tasks.dur[task];
    Put(out, R"-(, "size(B)": )-", bytes, R"-(, "bandwidth(GB/s)": )-",
        Decimal{dur > 0 ? static_cast<double>(bytes) / dur : 0}, R"(, "operation": ")",
        operation.empty() ? "other" : operation, "\"");
  }

  const TraceSource& source_;
  std::vector<std::int32_t> copy_of_task_;  ///< row in Copies, -1: none
};

/// Names of the devices and their streams.
std::string Streams(const TraceSource& source) {
  const raw::Tasks& tasks = source.session.tasks;
  std::set<std::pair<std::int64_t, std::int64_t>> streams;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (tasks.group[i] == 0) streams.emplace(tasks.device[i], tasks.stream[i]);
  }
  const raw::Marks& marks = source.session.marks;
  for (std::size_t i = 0; i < marks.Size(); ++i) {
    if (marks.device_start[i] >= 0) streams.emplace(marks.device[i], marks.device_stream[i]);
  }
  std::string out;
  std::int64_t named = -1;
  for (const auto& [device, stream] : streams) {
    const std::uint64_t process = source.Process(Layer::kHardware, device);
    if (device != named) {
      PutProcess(out, process, "Ascend Hardware", DeviceLabel(device), Layer::kHardware);
    }
    named = device;
    PutThread(out, process, stream, "Stream " + std::to_string(stream), stream);
  }
  return out;
}

}  // namespace

void WriteHardwareEvents(const TraceSource& source, ChunkedFile& file) {
  const HardwareTasks tasks(source);
  file.Write(Streams(source));
  file.WriteRows(source.session.tasks.Size(),
                 [&](std::size_t i, std::string& out) { tasks.Append(i, out); });
}

void WriteDeviceArrows(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  const raw::DeviceLinks& links = session.links;
  const std::vector<std::int32_t> first_copy = raw::FirstCopiesOfCollectives(session);
  const auto put = [&](std::size_t i, std::string& out) {
    const auto op = static_cast<std::size_t>(links.op[i]);
    const TracePlace from{static_cast<std::uint64_t>(session.ops.process[op]),
                          session.ops.thread[op], session.ops.start[op]};
    const std::int32_t collective = links.collective[i];
    const std::int32_t task =
        collective < 0 ? links.task[i] : first_copy[static_cast<std::size_t>(collective)];
    const TracePlace to = task >= 0 ? source.TaskPlace(static_cast<std::size_t>(task))
                                    : source.CollectivePlace(static_cast<std::size_t>(collective));
    PutArrow(out, 's', "torch_to_npu", "async_npu", from, to.time);
    PutArrow(out, 'f', "torch_to_npu", "async_npu", to, to.time);
  };
  file.WriteRows(links.Size(), [&](std::size_t i, std::string& out) { put(i, out); });
}

// What the timeline shows of a device as a whole: its activity, core frequency and memory.

namespace {

constexpr std::string_view kActivityNames[] = {"Computing", "Communication",
                                               "Communication(Not Overlapped)", "Free"};

void PutMemory(const TraceSource& source, std::size_t i, std::string& out) {
  const raw::DeviceMemory& memory = source.session.device_memory;
  const TracePlace place{source.Process(Layer::kMemory, memory.device[i]), 0, memory.time[i]};
  const std::string whose = memory.whole_device[i] != 0 ? "Device/" : "APP/";
  const auto ddr = static_cast<double>(memory.ddr[i]);
  const auto hbm = static_cast<double>(memory.hbm[i]);
  PutCounter(out, whose + "DDR", place, "KB", Decimal{ddr / kBytesPerKilobyte});
  PutCounter(out, whose + "HBM", place, "KB", Decimal{hbm / kBytesPerKilobyte});
  PutCounter(out, whose + "Memory", place, "KB", Decimal{(ddr + hbm) / kBytesPerKilobyte});
}

}  // namespace

void WriteActivityEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Activities& activities = source.session.activities;
  std::string names = DeviceRows(source, activities.device, "Overlap Analysis", Layer::kActivities);
  for (const std::int64_t device : Distinct(activities.device)) {
    const std::uint64_t process = source.Process(Layer::kActivities, device);
    for (std::size_t i = 0; i < std::size(kActivityNames); ++i) {
      const auto thread = static_cast<std::int64_t>(i);
      PutThread(names, process, thread, kActivityNames[i], thread);
    }
  }
  file.Write(names);
  file.WriteRows(activities.Size(), [&](std::size_t i, std::string& out) {
    const auto activity = static_cast<std::size_t>(activities.activity[i]);
    const TracePlace place{source.Process(Layer::kActivities, activities.device[i]),
                           static_cast<std::int64_t>(activity), activities.start[i]};
    BeginSlice(out, "", place, Duration(activities.start[i], activities.end[i]),
               kActivityNames[activity]);
    out += "}}";
  });
}

void WriteCounterEvents(const TraceSource& source, ChunkedFile& file) {
  const raw::Session& session = source.session;
  const raw::CoreFrequencies& frequencies = session.frequencies;
  file.Write(DeviceRows(source, frequencies.device, "AI Core Freq", Layer::kCoreFrequency));
  file.WriteRows(frequencies.Size(), [&](std::size_t i, std::string& out) {
    const TracePlace place{source.Process(Layer::kCoreFrequency, frequencies.device[i]), 0,
                           frequencies.time[i]};
    PutCounter(out, "AI Core Freq", place, "MHz", frequencies.mhz[i]);
  });
  file.Write(DeviceRows(source, session.device_memory.device, "NPU MEM", Layer::kMemory));
  file.WriteRows(session.device_memory.Size(),
                 [&](std::size_t i, std::string& out) { PutMemory(source, i, out); });
}

}  // namespace mpa::profiler_output
