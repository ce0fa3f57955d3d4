// SPDX-License-Identifier: Apache-2.0
// The logs of the task scheduler: wraps of task ids and marks, then starts and ends.
#include "device_tasks.h"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>

#include "mpa/raw/labels.h"

namespace mpa::raw {
namespace {

constexpr std::size_t kTrackSize = 40;

DeviceMark ReadMark(const Record<kTrackSize>& record, Generation generation) {
  DeviceMark mark{.count = record.U64(8), .index = record.U64(16), .model = record.U64(24)};
  if (generation == Generation::kStarsV6) {  // not seen in real data
    mark.tag = record.U16(32);
    mark.stream = record.U16(34);
    mark.task = record.U32(36);
  } else {
    constexpr std::uint32_t kStreamBits = 0x7FF;
    mark.stream = record.U16(32) & kStreamBits;
    mark.task = record.U16(34);
    mark.tag = record.U16(36);
  }
  return mark;
}

}  // namespace

TaskTrack ReadTaskTrack(const DataFiles& files, Generation generation, Issues& issues) {
  constexpr std::uint8_t kMarkRecord = 10, kFlipRecord = 14;
  TaskTrack track;
  ForEachDeviceRecord<kTrackSize>(
      files, "ts_track.data", kNoMagic, issues, [&](const Record<kTrackSize>& record) {
        if (record.U8(1) == kMarkRecord) {
          track.marks.push_back(ReadMark(record, generation));
        } else if (record.U8(1) == kFlipRecord) {
          track.flips.push_back(
              {.stream = record.U16(16), .count = record.U64(8), .task = record.U16(22)});
        }
      });
  std::ranges::stable_sort(track.flips, [](const DeviceFlip& a, const DeviceFlip& b) {
    return std::tie(a.stream, a.count) < std::tie(b.stream, b.count);
  });
  std::ranges::stable_sort(track.marks, {}, &DeviceMark::count);
  return track;
}

// The task log of the device: starts and ends become tasks.

namespace {

// A start or an end. The key puts those of one task next to each other.
struct Event {
  std::uint64_t key = 0;
  std::uint64_t count = 0;
  std::uint8_t type = 0;
  bool end = false;
};

constexpr unsigned kContextBits = 17, kTaskBits = 16;  // contexts have 16 bits; all bits set: none
constexpr std::uint64_t kNoContextBits = (1u << kContextBits) - 1;

// A stream of 16 bits with tasks of 16 bits, or stream 0 with tasks of 32 bits.
std::uint64_t Key(std::uint32_t stream, std::uint32_t task, std::uint64_t context) {
  return std::uint64_t{stream} << (kContextBits + kTaskBits) | std::uint64_t{task} << kContextBits |
         context;
}

DeviceTask TaskOf(const Event& start, const Event& end, Generation generation) {
  DeviceTask task{.start = start.count, .end = end.count, .type = start.type};
  const std::uint64_t context = start.key & kNoContextBits;
  if (context != kNoContextBits) task.context = static_cast<std::uint32_t>(context);
  const std::uint64_t rest = start.key >> kContextBits;
  if (generation == Generation::kStarsV6) {
    task.task = static_cast<std::uint32_t>(rest);
  } else {
    task.task = static_cast<std::uint32_t>(rest & 0xFFFF);
    task.stream = static_cast<std::uint32_t>(rest >> kTaskBits);
  }
  return task;
}

std::vector<Event> ReadStars(const DataFiles& files, bool wide_streams, Issues& issues) {
  constexpr std::size_t kSize = 64;
  constexpr unsigned kTaskStart = 0b000000, kTaskEnd = 0b000001, kContextStart = 0b100010,
                     kContextEnd = 0b100011;
  std::vector<Event> events;
  events.reserve(CountRecords(files, "stars_soc.data", kSize));
  ForEachDeviceRecord<kSize>(
      files, "stars_soc.data", kDeviceMagic, issues, [&](const Record<kSize>& record) {
        const unsigned function = record.U16(0) & 0x3F;
        const auto type = static_cast<std::uint8_t>(record.U16(0) >> 10);
        const bool is_context = function == kContextStart || function == kContextEnd;
        if (!is_context && function != kTaskStart && function != kTaskEnd) return;
        const DeviceAddress at = AddressOf(record.U16(4), record.U16(6), type, wide_streams);
        const std::uint64_t context = is_context ? record.U16(18) : kNoContextBits;
        events.push_back({.key = Key(at.stream, at.task, context),
                          .count = record.U64(8),
                          .type = is_context ? record.U8(16) : type,
                          .end = function == kTaskEnd || function == kContextEnd});
      });
  return events;
}

// Not seen in real data.
std::vector<Event> ReadStarsV6(const DataFiles& files, Issues& issues) {
  constexpr std::size_t kSize = 32;
  std::vector<Event> events;
  events.reserve(CountRecords(files, "stars_soc.data", kSize));
  ForEachDeviceRecord<kSize>(
      files, "stars_soc.data", kDeviceMagic, issues, [&](const Record<kSize>& record) {
        const unsigned function = record.U16(0) & 0x3F;
        if (function > 1) return;
        events.push_back({.key = Key(0, record.U32(4), kNoContextBits),
                          .count = record.U64(8),
                          .type = static_cast<std::uint8_t>(record.U16(0) >> 10),
                          .end = function == 1});
      });
  return events;
}

void ReadHwts(const DataFiles& files, std::string_view stem, Issues& issues,
              std::vector<Event>& events) {
  constexpr std::size_t kSize = 64;
  constexpr std::uint32_t kStreams = 2048;
  events.reserve(events.size() + CountRecords(files, stem, kSize));
  ForEachDeviceRecord<kSize>(files, stem, kDeviceMagic, issues, [&](const Record<kSize>& record) {
    const unsigned tag = record.U8(0) & 7;
    if (tag > 1) return;
    events.push_back({.key = Key(record.U32(16) % kStreams, record.U16(6), kNoContextBits),
                      .count = record.U64(8),
                      .type = record.U8(1),
                      .end = tag == 1});
  });
}

// The positions of starts or ends in a group.
std::vector<std::size_t> Positions(std::span<const Event> group, bool ends) {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i].end == ends) positions.push_back(i);
  }
  return positions;
}

// Pairs the starts and ends of one task: in order when none is missing, else each start with the
// end before the next start.
template <typename Emit>
void PairGroup(std::span<const Event> group, Emit emit) {
  if (group.size() == 2 && !group[0].end && group[1].end) return emit(group[0], group[1]);
  const std::vector<std::size_t> starts = Positions(group, false), ends = Positions(group, true);
  if (starts.size() == ends.size()) {
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (group[ends[i]].count >= group[starts[i]].count) emit(group[starts[i]], group[ends[i]]);
    }
    return;
  }
  for (std::size_t s = 0, e = 0; s < starts.size() && e < ends.size();) {
    const Event &start = group[starts[s]], &end = group[ends[e]];
    if (end.count < start.count) {
      ++e;
    } else if (s + 1 < starts.size() && end.count >= group[starts[s + 1]].count) {
      ++s;
    } else {
      emit(start, end);
      ++s;
      ++e;
    }
  }
}

// When the first task of a stream began that has one; a task that ended before began before the
// log.
std::uint64_t FirstStart(std::span<const Event> stream) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const Event& event : stream) {
    if (!event.end) first = std::min(first, event.count);
  }
  return first;
}

// The remaining half of a task whose other half is lost.
void CountHalves(std::span<const Event> group, std::uint64_t first_start, std::size_t pairs,
                 Issues& issues) {
  std::size_t starts = 0, ends = 0;
  for (const Event& event : group) {
    if (!event.end) ++starts;
    if (event.end && event.count >= first_start) ++ends;
  }
  for (; starts > pairs; --starts) {
    issues.Count("device task left out, its end was not recorded", "task log");
  }
  for (; ends > pairs; --ends) {
    issues.Count("device task left out, its start was not recorded", "task log");
  }
}

std::uint64_t StreamOf(const Event& event) { return event.key >> (kContextBits + kTaskBits); }

std::vector<DeviceTask> PairEvents(std::vector<Event> events, Generation generation,
                                   Issues& issues) {
  std::ranges::sort(events, [](const Event& a, const Event& b) {
    return std::tie(a.key, a.count, a.end, a.type) < std::tie(b.key, b.count, b.end, b.type);
  });
  std::vector<DeviceTask> tasks;
  tasks.reserve(events.size() / 2);
  const std::span<const Event> all(events);
  std::size_t stream_end = 0;
  std::uint64_t first_start = 0;
  for (std::size_t begin = 0; begin < events.size();) {
    if (begin == stream_end) {
      while (stream_end < events.size() &&
             StreamOf(events[stream_end]) == StreamOf(events[begin])) {
        ++stream_end;
      }
      first_start = FirstStart(all.subspan(begin, stream_end - begin));
    }
    std::size_t end = begin;
    while (end < events.size() && events[end].key == events[begin].key) ++end;
    const std::span<const Event> group = all.subspan(begin, end - begin);
    const std::size_t before = tasks.size();
    PairGroup(group, [&](const Event& start, const Event& stop) {
      tasks.push_back(TaskOf(start, stop, generation));
    });
    const std::size_t pairs = tasks.size() - before;
    if (2 * pairs != group.size()) CountHalves(group, first_start, pairs, issues);
    begin = end;
  }
  return tasks;
}

// Numbers the tasks of one stream by the flips before them. A flip task that did not get id 0 was
// overtaken: what was recorded before it with a lower id comes after it.
void CountBatchesOfStream(std::span<const DeviceFlip> flips, std::span<DeviceTask> tasks) {
  const auto order =
      RowsBy<std::uint32_t>(tasks.size(), [&](std::uint32_t task) { return tasks[task].start; });
  std::uint16_t batch = 0;
  std::size_t next = 0;
  for (const DeviceFlip& flip : flips) {
    const std::size_t settled = next;
    while (next < order.size() && tasks[order[next]].start <= flip.count) {
      tasks[order[next++]].batch = batch;
    }
    ++batch;
    constexpr std::uint32_t kStreamDestroyed = 0xFFFF;
    if (flip.task == 0 || flip.task == kStreamDestroyed) continue;
    for (std::size_t i = next; i > settled && tasks[order[i - 1]].task <= flip.task; --i) {
      tasks[order[i - 1]].batch = batch;
    }
  }
  for (; next < order.size(); ++next) tasks[order[next]].batch = batch;
}

constexpr auto& kStarsTypes = kNumbered<
    "0: AI_CORE, AI_CPU, AIV_SQE, PLACE_HOLDER_SQE, EVENT_RECORD_SQE, EVENT_WAIT_SQE,"
    " NOTIFY_RECORD_SQE, NOTIFY_WAIT_SQE, WRITE_VALUE_SQE, VQ6_SQE, TOF_SQE, SDMA_SQE, VPC_SQE,"
    " JPEGE_SQE, JPEGD_SQE, DSA_SQE, ROCCE_SQE, PCIE_DMA_SQE, HOST_CPU_SQE, CDQM_SQE, C_CORE_SQE">;
constexpr auto& kStarsV6Types = kNumbered<
    "0: AI_CORE, AIV_SQE, FUSION, PLACE_HOLDER_SQE, AICPU_H, AICPU_D, NOTIFY_RECORD_SQE,"
    " NOTIFY_WAIT_SQE, WRITE_VALUE_SQE, UBDMA, ASYNCDMA, SDMA_SQE, VPC_SQE, JPEGE_SQE, JPEGD_SQE,"
    " CMO_SQE, CCU_SQE, 20: CONDITION_SQE, END_SQE">;
constexpr auto& kContextTypes = kNumbered<
    "0: AIC, AIV, 3: Notify Wait, Notify Record, Write Value, MIX_AIC, MIX_AIV, SDMA, Data Context,"
    " Invalidate Data Context, Writeback Data Context, AI_CPU, Load Context, 15: DSA">;

}  // namespace

DeviceAddress AddressOf(std::uint16_t stream, std::uint16_t task, std::uint8_t type, bool wide) {
  const auto mix = [](unsigned high, unsigned low) {
    return static_cast<std::uint32_t>(high | low);
  };
  constexpr std::uint32_t kStreams = 2048;
  if (wide) {
    constexpr std::uint8_t kPlaceHolder = 3, kEventRecord = 4;
    const bool plain = type == kPlaceHolder || type == kEventRecord || (stream & 0x8000) == 0;
    if (plain) return {stream & 0x7FFFu, task};
    return {task & 0x7FFFu, mix(task & 0x8000u, stream & 0x7FFFu)};
  }
  if ((stream & 0x1000) != 0) {
    return {stream % kStreams, mix(task & 0x1FFFu, stream & 0xE000u)};
  }
  if ((stream & 0x2000) != 0) {
    return {(task & 0x0FFFu) % kStreams, mix(stream & 0x0FFFu, task & 0xF000u)};
  }
  return {stream % kStreams, task};
}

std::vector<DeviceTask> ReadDeviceTasks(const DataFiles& files, Generation generation,
                                        bool wide_streams, Issues& issues) {
  std::vector<Event> events;
  if (generation == Generation::kStars) {
    events = ReadStars(files, wide_streams, issues);
  } else if (generation == Generation::kStarsV6) {
    events = ReadStarsV6(files, issues);
  } else if (generation == Generation::kHwts) {
    ReadHwts(files, "hwts.data", issues, events);
    ReadHwts(files, "hwts.aiv_data", issues, events);
    ReadHwts(files, "hwts.log.data", issues, events);  // the name until 2020
  }
  return PairEvents(std::move(events), generation, issues);
}

void CountDeviceBatches(const std::vector<DeviceFlip>& flips, std::vector<DeviceTask>& tasks) {
  // The tasks of a stream lie together, but in order of their ids.
  for (std::size_t begin = 0, flip = 0; begin < tasks.size() && flip < flips.size();) {
    const std::uint32_t stream = tasks[begin].stream;
    std::size_t end = begin;
    while (end < tasks.size() && tasks[end].stream == stream) ++end;
    while (flip < flips.size() && flips[flip].stream < stream) ++flip;
    std::size_t last_flip = flip;
    while (last_flip < flips.size() && flips[last_flip].stream == stream) ++last_flip;
    if (flip < last_flip) {
      CountBatchesOfStream(std::span(flips).subspan(flip, last_flip - flip),
                           std::span(tasks).subspan(begin, end - begin));
    }
    begin = end;
    flip = last_flip;
  }
}

std::string_view DeviceTypeName(Generation generation, const DeviceTask& task) {
  constexpr std::uint8_t kHwtsCopy = 9;
  std::span<const NamedNumber> names = kStarsTypes;
  if (task.context != kWholeTask) {
    names = kContextTypes;
  } else if (generation == Generation::kStarsV6) {
    names = kStarsV6Types;
  } else if (generation == Generation::kHwts && task.type == kHwtsCopy) {
    return "SDMA_SQE";
  }
  const std::string_view name = NameOf(names, task.type);
  return name.empty() ? "UNKNOWN" : name;
}

}  // namespace mpa::raw
