// SPDX-License-Identifier: Apache-2.0
// Reads the records of host and devices and joins them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "device_tasks.h"
#include "dictionary.h"
#include "graph_capture.h"
#include "host_records.h"
#include "host_side.h"
#include "join_tasks.h"
#include "mpa/base/parallel.h"
#include "mpa/base/text.h"
#include "mpa/capture/record_kinds.h"
#include "stages.h"
#include "tensors.h"

namespace mpa::raw {
namespace {

// Task ids of 16 bits wrap; older drivers and some chips do not record when.
bool RecordsFlips(const Device& device, const Side& side) {
  constexpr std::int64_t kFirstDriver = 467473;
  const bool counted = device.platform != 0 && device.platform != 2 && device.platform != 11;
  return counted && device.generation != Generation::kStarsV6 && side.driver >= kFirstDriver;
}

// Counts the records of device work that are not read.
void CountUnread(RecordSide side, const DataFiles& files, Issues& issues) {
  for (const Slice& slice : files.SomeSlices()) {
    const RecordKind* kind = KindOfRecords(side, slice.path.filename().string());
    if (kind == nullptr || kind->use != RecordUse::kWorkNotRead) continue;
    issues.Count("records of a kind that cannot be read yet are left out",
                 slice.path.filename().string());
  }
}

// Loading of a model happens before the collection, but its calls are kept.
constexpr std::uint32_t kModelLoad = 2;

void Renumber(const std::vector<std::int32_t>& new_rows, std::vector<std::int32_t>& calls) {
  for (std::int32_t& call : calls) {
    if (call >= 0) call = new_rows[static_cast<std::size_t>(call)];
  }
}

// Sets HostCalls::launches: of all nodes, of the recording of events and the waiting for them, and
// of calls that copy.
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

// Removes the calls that ended before the collection began. They were needed to understand the
// tasks that they launched; these lose the connection.
void DropEarlyCalls(Session& session) {
  HostCalls& calls = session.calls;
  std::vector<std::int32_t> new_rows(calls.Size(), -1);
  std::int32_t kept = 0;
  const auto keeps = [&](std::size_t i) {
    return calls.End(i) >= session.info.begin ||
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

class CannReader {
 public:
  CannReader(const ControlFiles& files, Parts wanted, Session& session)
      : files_(files),
        wanted_(wanted),
        session_(session),
        host_files_(files.has_host ? DataFiles(files.host.data) : DataFiles()),
        dictionary_(host_files_, session.strings),
        input_{host_files_, files_.host.clock, dictionary_, session.issues} {
    dictionary_.CountDamage(session.issues);
    const std::vector<Device>& devices = session.info.devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      device_files_.emplace_back(files.devices[i].data);
      input_.wide_task_ids |= devices[i].generation == Generation::kStarsV6;
      input_.batches |= RecordsFlips(devices[i], files.devices[i]);
    }
    logs_.resize(devices.size());
  }

  void Read() {
    const bool tasks = Intersects(wanted_, Parts::kCann | Parts::kCounters) || EstimatesClocks();
    if (tasks) {
      TellWhatIsUnread();
      ReadTasks();
    } else if (Intersects(wanted_, Parts::kMarks)) {
      for (std::size_t i = 0; i < logs_.size(); ++i) ReadMarksOfDevice(i, session_.issues);
    }
    if (Intersects(wanted_, Parts::kMarks)) ReadMarks(input_, files_, logs_, session_);
    ReadSamples();
    if (tasks) DropEarlyCalls(session_);
  }

 private:
  // Clocks are estimated from tasks, regardless of the wanted parts.
  bool EstimatesClocks() const {
    return std::ranges::any_of(files_.devices, &Side::device_count_unknown);
  }

  void TellWhatIsUnread() {
    CountUnread(RecordSide::kHost, host_files_, session_.issues);
    for (const DataFiles& files : device_files_) {
      CountUnread(RecordSide::kDevice, files, session_.issues);
    }
    for (const Device& device : session_.info.devices) {
      if (device.generation != Generation::kUnknown) continue;
      session_.issues.Count("work of a device left out, its chip is unknown",
                            fmt::format("platform_version {}", device.platform));
    }
  }

  bool WantsFrequencies() const {
    return Intersects(wanted_, Parts::kFrequency | Parts::kCounters);
  }

  // The logs of all devices, read in parallel with the records of the host.
  void ReadTasks() {
    TensorSets tensors(session_.strings);
    HostSide host;
    wide_streams_ = HasWideStreams(input_);
    std::vector<Issues> issues(logs_.size());
    ParallelFor(logs_.size() + 1, [&](std::size_t i) {
      if (i < logs_.size()) {
        ReadLog(i, issues[i]);
      } else {
        ReadHostCalls(input_, session_.calls);
        host = ReadHostSide(input_, session_.calls, tensors);
      }
    });
    for (const Issues& of_device : issues) session_.issues.Merge(of_device);

    const TaskOrigins origins = JoinTasks(files_, logs_, host, dictionary_, session_);
    for (DeviceLog& log : logs_) log.tasks = {};
    FindModelIterations(files_, logs_, session_);
    FindKernels(host, origins, tensors, dictionary_, session_);
    session_.schedule_streams = ReadScheduleStreams(input_, host.capture);
    FindCopies(input_, host, origins, session_);
    BuildCollectives(input_, host, origins, session_);
    MarkLaunches(host, dictionary_, session_);
    for (std::size_t i = 0; i < device_files_.size(); ++i) {
      ReadAiCpu(device_files_[i], files_.devices[i], session_.info.devices[i], wide_streams_,
                session_);
    }
    session_.ai_cpu.Reorder(RowsBy(session_.ai_cpu.start));
    session_.input_queue.Reorder(RowsBy(session_.input_queue.time));
  }

  TaskTrack ReadMarksOfDevice(std::size_t device, Issues& issues) {
    TaskTrack track =
        ReadTaskTrack(device_files_[device], session_.info.devices[device].generation, issues);
    logs_[device].marks = std::exchange(track.marks, {});
    return track;
  }

  void ReadLog(std::size_t device, Issues& issues) {
    const Device& described = session_.info.devices[device];
    DeviceLog& log = logs_[device];
    const TaskTrack track = ReadMarksOfDevice(device, issues);
    log.tasks = ReadDeviceTasks(device_files_[device], described.generation, wide_streams_, issues);
    log.has_flips = !track.flips.empty();
    if (RecordsFlips(described, files_.devices[device])) {
      CountDeviceBatches(track.flips, log.tasks);
    }
  }

  void ReadSamples() {
    for (std::size_t i = 0; i < device_files_.size(); ++i) {
      const Device& device = session_.info.devices[i];
      const Side& side = files_.devices[i];
      if (WantsFrequencies()) ReadFrequencies(device_files_[i], side, device, session_);
      if (Intersects(wanted_, Parts::kMemory)) {
        ReadMemorySamples(device_files_[i], side, device, session_);
      }
      if (Intersects(wanted_, Parts::kCounters)) {
        ReadCounters(device_files_[i], side, device, wide_streams_, session_);
      }
      if (Intersects(wanted_, Parts::kTraffic)) {
        ReadLinkTraffic(device_files_[i], side, device, session_);
        ReadMemoryTraffic(device_files_[i], side, device, session_);
        ReadSocTraffic(device_files_[i], side, device, session_);
      }
      if (Intersects(wanted_, Parts::kTraffic | Parts::kCacheUse)) {
        ReadL2Cache(device_files_[i], device, session_);
      }
    }
    if (Intersects(wanted_, Parts::kTraffic))
      ReadHostUse(host_files_, files_.host, files_.host_setup, session_);
    if (Intersects(wanted_, Parts::kMemory)) ReadOpMemory(input_, files_.host.begin, session_);
  }

  ControlFiles files_;  // clocks of devices may have to be estimated
  const Parts wanted_;
  Session& session_;
  DataFiles host_files_;
  Dictionary dictionary_;
  HostInput input_;
  std::vector<DataFiles> device_files_;
  std::vector<DeviceLog> logs_;
  bool wide_streams_ = false;
};

}  // namespace

void ReadCann(const ControlFiles& files, Parts wanted, Session& session) {
  CannReader(files, wanted, session).Read();
}

}  // namespace mpa::raw
