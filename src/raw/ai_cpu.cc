// SPDX-License-Identifier: Apache-2.0
// The AI CPU's records of its own work.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device_tasks.h"
#include "stages.h"
#include "time_order.h"

namespace mpa::raw {
namespace {

constexpr std::uint8_t kAiCpuEntry = 1;  // of the device's queue

// The members of a record of a kernel; early records have them elsewhere.
struct Layout {
  std::size_t stream, task, start, compute, copy, copied, end, submitted, done, dispatch;
};
constexpr Layout kLayout = {24, 26, 40, 48, 56, 64, 80, 96, 120, 132};
constexpr Layout kEarlyLayout = {4, 6, 16, 24, 32, 40, 56, 72, 96, 108};

// The members of a record of input data: time, two texts of fixed lengths, size of the queue.
struct QueueLayout {
  std::size_t time, action, source, size;
};
constexpr QueueLayout kQueueLayout = {16, 24, 40, 112};
constexpr QueueLayout kEarlyQueueLayout = {8, 16, 32, 104};

// The kernels of the AI CPU by stream and task, as the device ran them.
class RunKernels {
 public:
  RunKernels(const Session& session, std::int64_t device) : session_(session) {
    const Kernels& kernels = session.kernels;
    for (std::size_t i = 0; i < kernels.Size(); ++i) {
      if (kernels.task[i] < 0 || session.strings.View(kernels.core[i]) != "AI_CPU") continue;
      const auto task = static_cast<std::size_t>(kernels.task[i]);
      if (session.tasks.device[task] != device) continue;
      by_task_[{session.tasks.stream[task], session.tasks.task_id[task]}].push_back(i);
    }
  }

  // The name of the kernel that was running at `end`; `none` without one.
  StringId NameAt(std::int64_t stream, std::int64_t task, TimeNs end, StringId none) const {
    const auto found = by_task_.find({stream, task});
    if (found == by_task_.end()) return none;
    const std::vector<std::size_t>& runs = found->second;  // in order of start, without overlaps
    const auto task_of = [&](std::size_t kernel) {
      return static_cast<std::size_t>(session_.kernels.task[kernel]);
    };
    const auto after = std::partition_point(runs.begin(), runs.end(), [&](std::size_t kernel) {
      return session_.tasks.start[task_of(kernel)] <= end;
    });
    if (after == runs.begin() || session_.tasks.end[task_of(*(after - 1))] < end) return none;
    return session_.kernels.name[*(after - 1)];
  }

 private:
  const Session& session_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> by_task_;
};

class AiCpuReader {
 public:
  AiCpuReader(const Side& side, const Device& device, bool wide_streams, Session& session)
      : side_(side),
        device_(device),
        wide_streams_(wide_streams),
        session_(session),
        kernels_(session, device.id),
        none_(session.strings.Intern("N/A")) {}

  template <std::size_t kSize>
  void Add(const Record<kSize>& record, const Layout& at, std::string_view place) {
    const std::uint64_t start = record.U64(at.start), end = record.U64(at.end);
    const Clock& clock = side_.clock;
    const TimeNs start_ns = clock.DeviceNs(start), end_ns = clock.DeviceNs(end);
    if (start == 0 || end == 0 || !IsRange(start_ns, end_ns)) {
      return session_.issues.Count("kernel of the AI CPU left out, its times are invalid", place);
    }
    if (start_ns < side_.begin) return;
    const DeviceAddress address =
        AddressOf(record.U16(at.stream), record.U16(at.task), kAiCpuEntry, wide_streams_);
    const auto micros = [&](std::size_t from, std::size_t to) {
      return Between(record.U64(from), record.U64(to));
    };
    session_.ai_cpu.Append(
        {.start = start_ns,
         .dur = end_ns - start_ns,
         .name = kernels_.NameAt(address.stream, address.task, end_ns, none_),
         .compute = micros(at.compute, at.copy),
         .copy = micros(at.copy, at.copied),
         .dispatch = record.U32(at.dispatch),
         .total =
             TicksToNs(Int128{record.U64(at.done)} - record.U64(at.submitted), clock.device_hertz),
         .device = device_.id,
         .stream = address.stream,
         .task = address.task});
  }

  template <std::size_t kSize>
  void AddQueue(const Record<kSize>& record, const QueueLayout& at, std::string_view place) {
    constexpr std::size_t kAction = 16, kSource = 64;
    const TimeNs time = Between(0, record.U64(at.time)) + side_.clock.offset;  // from monotonic ns
    if (!IsTime(time)) {
      return session_.issues.Count("input data left out, its time is invalid", place);
    }
    const auto text = [&](std::size_t begin, std::size_t length) {
      const std::string_view bytes = record.Bytes().substr(begin, length);
      return session_.strings.Intern(bytes.substr(0, bytes.find('\0')));
    };
    session_.input_queue.Append({.time = time,
                                 .action = text(at.action, kAction),
                                 .source = text(at.source, kSource),
                                 .size = Between(0, record.U64(at.size)),
                                 .device = device_.id});
  }

 private:
  // 0 for an invalid value.
  static std::int64_t Between(std::uint64_t from, std::uint64_t to) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max() / 1000;
    return from <= to && to - from <= kMax ? static_cast<std::int64_t>(to - from) : 0;
  }

  const Side& side_;
  const Device& device_;
  const bool wide_streams_;
  Session& session_;
  const RunKernels kernels_;
  const StringId none_;
};

}  // namespace

void ReadAiCpu(const DataFiles& files, const Side& side, const Device& device, bool wide_streams,
               Session& session) {
  constexpr std::string_view kRecords = "aicpu.data";
  // Of early versions, in two spellings.
  const auto stems = [&](std::string_view kind) {
    return std::array{fmt::format("DATA_PREPROCESS.{}.{}", kind, device.id),
                      fmt::format("DATA_PREPROCESS.dev.{}.{}", kind, device.id)};
  };
  const auto kernels = stems("AICPU"), queues = stems("DP");
  const auto has = [&](const std::string& stem) { return files.Has(stem); };
  if (!files.Has(kRecords) && std::ranges::none_of(kernels, has) &&
      std::ranges::none_of(queues, has)) {
    return;
  }
  AiCpuReader reader(side, device, wide_streams, session);
  constexpr std::uint32_t kKernel = 0, kQueue = 1, kFlip = 11;
  ForEachDeviceRecord<kAdditionalSize>(
      files, kRecords, kHostMagic, session.issues, [&](const Record<kAdditionalSize>& record) {
        const std::uint32_t type = record.U32(4);
        if (type == kKernel) return reader.Add(record, kLayout, kRecords);
        if (type == kQueue) return reader.AddQueue(record, kQueueLayout, kRecords);
        if (type == kFlip) return;
        session.issues.Count("records of the AI CPU that cannot be read yet are left out",
                             fmt::format("type {}", type));
      });
  constexpr std::size_t kEarlySize = 128;
  constexpr std::uint16_t kEarlyKernel = 60, kEarlyQueue = 100;
  for (const std::string& stem : kernels) {
    ForEachDeviceRecord<kEarlySize>(files, stem, kHostMagic, session.issues,
                                    [&](const Record<kEarlySize>& record) {
                                      if (record.U16(2) == kEarlyKernel)
                                        reader.Add(record, kEarlyLayout, stem);
                                    });
  }
  for (const std::string& stem : queues) {
    ForEachDeviceRecord<kEarlySize>(files, stem, kHostMagic, session.issues,
                                    [&](const Record<kEarlySize>& record) {
                                      if (record.U16(2) == kEarlyQueue)
                                        reader.AddQueue(record, kEarlyQueueLayout, stem);
                                    });
  }
}

}  // namespace mpa::raw
