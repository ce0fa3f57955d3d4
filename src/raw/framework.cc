// SPDX-License-Identifier: Apache-2.0
// FRAMEWORK: the files of torch_npu.
#include <algorithm>

#include "record.h"
#include "stages.h"
#include "time_order.h"
#include "tlv.h"

namespace mpa::raw {
namespace {

namespace fs = std::filesystem;

void ReadCollections(const fs::path& file, const FrameworkClock& clock, Session& part) {
  constexpr std::size_t kSize = 24;
  Collections& collections = part.collections;
  ForEachFixedRecord<kSize>(file, part.issues, [&](const Record<kSize>& record) {
    const TimeNs start = clock.Ns(record.I64(8));
    const TimeNs end = clock.Ns(record.I64(16));
    if (!IsRange(start, end) || !clock.IsPlausible(start)) {
      return part.issues.Count("record left out, it is damaged", "torch.gc_record");
    }
    collections.Append({.start = start, .end = end, .process = record.I64(0)});
  });
  collections.Reorder(RangesInOrder(collections.start, collections.end));
}

void ReadAllocations(const fs::path& file, const FrameworkClock& clock, Session& part) {
  constexpr std::uint16_t kRecordType = 3;
  constexpr std::size_t kSize = 77;
  const TlvFile records(file, part.issues);
  AllocatorEvents& events = part.allocations;
  events.Reserve(records.Size());
  std::vector<RowTime> rows;
  rows.reserve(records.Size());
  for (const TlvFile::Run& run : records.runs()) {
    ForEachTlv(run.bytes, [&](std::uint16_t type, std::string_view value) {
      if (type != kRecordType || value.size() < kSize) return records.CountBad(1, part.issues);
      const Record<kSize> record(value.data());
      const TimeNs time = clock.Ns(record.I64(8));
      if (time < 0 || !clock.IsPlausible(time)) return records.CountBad(1, part.issues);
      rows.push_back({time, 0, events.Size()});
      events.Append({.time = time,
                     .address = record.U64(0),
                     .bytes = record.I64(16),
                     .allocated = record.I64(24),
                     .reserved = record.I64(32),
                     .active = record.I64(40),
                     .stream = record.U64(48),
                     .device_type = static_cast<std::int8_t>(record.U8(56)),
                     .device = static_cast<std::int8_t>(record.U8(57)),
                     .component = record.U8(58),
                     .action = record.U8(59),
                     .allocator = record.U8(60),
                     .process = record.I64(69),
                     .thread = record.I64(61)});
    });
  }
  events.Reorder(InOrder(std::move(rows)));
}

}  // namespace

void ReadFramework(const fs::path& directory, const FrameworkClock& clock, Parts wanted,
                   Session& part) {
  const auto read = [&](std::string_view name, auto reader) {
    if (fs::exists(directory / name)) reader(directory / name);
  };
  if (Overlap(wanted, Parts::kFramework)) {
    read("torch.op_range", [&](const fs::path& file) { ReadOperators(file, clock, wanted, part); });
    FindSteps(part.ops, part.strings, part.steps);
    FindBackwardPairs(part.ops, part.backward);
    read("torch.op_mark", [&](const fs::path& file) { ReadTaskQueue(file, clock, part); });
    FindEnqueuingOps(part.ops, part.queue);
    ReadPythonCalls(directory, clock, part);
    read("torch.gc_record", [&](const fs::path& file) { ReadCollections(file, clock, part); });
  }
  if (Overlap(wanted, Parts::kAllocations)) {
    read("torch.memory_usage", [&](const fs::path& file) { ReadAllocations(file, clock, part); });
  }
}

}  // namespace mpa::raw
