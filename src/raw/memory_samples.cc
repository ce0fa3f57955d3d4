// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "cann_stages.h"

namespace mpa::raw {
namespace {

/// Bytes as a signed number; the largest one if the record has a larger number.
std::int64_t ByteCount(std::uint64_t bytes) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return bytes > std::uint64_t{kMost} ? kMost : static_cast<std::int64_t>(bytes);
}

void ReadDeviceMemory(const DataFiles& files, const Side& side, const Device& device,
                      Session& session) {
  constexpr std::size_t kSize = 32;
  ForEachDeviceRecord<kSize>(
      files, "npu_mem.data", kNoMagic, session.issues, [&](const Record<kSize>& record) {
        // Version 2 of the records has the time in 64 bits at offset 8, where version 1 has zeros.
        // Not seen in real data.
        const std::uint64_t wide_time = record.U64(8);
        const std::uint64_t time = wide_time != 0 ? wide_time : record.U32(0);
        session.device_memory.Append({.time = side.clock.FromStartMicros(time),
                                      .whole_device = record.U32(4) != 0,
                                      .ddr = ByteCount(record.U64(16)),
                                      .hbm = ByteCount(record.U64(24)),
                                      .device = device.id});
      });
}

void ReadModuleMemory(const DataFiles& files, const Side& side, const Device& device,
                      Session& session) {
  constexpr std::size_t kSize = 24;
  // The tables of HWTS chips start with the first sample, those of others with the collection.
  const bool from_begin = device.generation != Generation::kHwts;
  ForEachDeviceRecord<kSize>(
      files, "npu_module_mem.data", kNoMagic, session.issues, [&](const Record<kSize>& record) {
        const TimeNs time = side.clock.HostNs(record.U64(8));
        if (!side.clock.IsPlausible(time)) {
          session.issues.Count("memory sample left out, its time makes no sense",
                               "npu_module_mem.data");
          return;
        }
        if (from_begin && time < side.begin) return;
        const std::int64_t reserved = record.I64(16);
        session.module_memory.Append({.time = time,
                                      .module = record.U32(0),
                                      .reserved = reserved < 0 ? -1 : reserved,
                                      .device = device.id});
      });
}

}  // namespace

void ReadMemorySamples(const DataFiles& files, const Side& side, const Device& device,
                       Session& session) {
  ReadDeviceMemory(files, side, device, session);
  ReadModuleMemory(files, side, device, session);
}

void ReadOpMemory(const HostInput& input, TimeNs begin, Session& session) {
  OpMemory& memory = session.op_memory;
  ForEachJudgedRecord<kAdditionalSize>(
      input, "additional.task_memory_info",
      [&](const Record<kAdditionalSize>& record, const Slice&) {
        const HostRecordHead head = HeadOf(record);
        const TimeNs time = input.clock.HostNs(head.time);
        if (!input.clock.IsPlausible(time)) {
          input.issues.Count("allocation left out, its time makes no sense", "task_memory_info");
          return;
        }
        if (time < begin) return;
        memory.Append({.time = time,
                       .name = input.dictionary.Text(record.U64(40)),
                       .address = record.U64(24),
                       .bytes = record.I64(32),
                       .allocated = ByteCount(record.U64(48)),
                       .reserved = ByteCount(record.U64(56)),
                       .thread = head.thread,
                       .device = record.U32(64),
                       .device_type = record.U32(68)});
      });
  if (std::is_sorted(memory.time.begin(), memory.time.end())) return;
  std::vector<std::size_t> order(memory.Size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return memory.time[a] < memory.time[b]; });
  memory.Reorder(order);
}

}  // namespace mpa::raw
