// SPDX-License-Identifier: Apache-2.0
#include "counter_records.h"

#include "device_tasks.h"

namespace mpa::raw {
namespace {

constexpr std::size_t kRecordSize = 128;
using Bytes = Record<kRecordSize>;

CounterValues ValuesAt(const Bytes& record, std::size_t cycles, std::size_t counts) {
  CounterValues values{.cycles = record.U64(cycles)};
  for (std::size_t i = 0; i < values.counts.size(); ++i) {
    values.counts[i] = record.U64(counts + 8 * i);
  }
  return values;
}

constexpr unsigned kFftsPlus = 4;

/// Sets the kind of core by the kind of the task. Both kinds of numbers are those of FFTS+.
void SetCore(unsigned ffts_type, unsigned subtype, CounterRecord& record) {
  constexpr unsigned kCubeOnly = 0, kMixedCube = 6, kMixedVector = 7;
  record.mixed = ffts_type == kFftsPlus && (subtype == kMixedCube || subtype == kMixedVector);
  const bool cube =
      ffts_type == kCubeOnly || (ffts_type == kFftsPlus && (subtype == 0 || subtype == kMixedCube));
  record.vector = !cube;
}

void ReadStars(const DataFiles& files, const Side& side, bool wide_streams, Issues& issues,
               std::vector<CounterRecord>& records) {
  constexpr std::string_view kStem = "ffts_profile.data";
  constexpr unsigned kContext = 0b101000, kBlock = 0b101001;
  records.reserve(CountRecords(files, kStem, kRecordSize));
  ForEachDeviceRecord<kRecordSize>(files, kStem, kDeviceMagic, issues, [&](const Bytes& bytes) {
    const unsigned function = bytes.U16(0) & 0x3F;
    if (function != kContext && function != kBlock) {
      issues.Count("counters left out, their kind is not known", kStem);
      return;
    }
    CounterRecord record{.end = side.clock.DeviceNs(bytes.U64(120)),
                         .values = ValuesAt(bytes, 32, 48)};
    if (!side.clock.IsPlausible(record.end)) {
      issues.Count("counters left out, their time makes no sense", kStem);
      return;
    }
    if (record.end < side.begin) return;
    const DeviceAddress at = AddressOf(bytes.U16(4), bytes.U16(6),
                                       static_cast<std::uint8_t>(bytes.U16(0) >> 10), wide_streams);
    record.address = {.stream = at.stream, .task = at.task, .context = bytes.U16(18)};
    record.block = function == kBlock;
    // Records of blocks are not seen in real data.
    const unsigned ffts_type = record.block ? bytes.U8(21) >> 5 : bytes.U16(20) >> 13;
    SetCore(ffts_type, bytes.U8(16), record);
    if (record.block) {
      record.vector = (bytes.U8(20) & 1) != 0;
    } else if (ffts_type != kFftsPlus) {
      record.address.context = kNoContext;
    }
    records.push_back(record);
  });
}

void ReadHwts(const DataFiles& files, std::string_view stem, bool vector, Issues& issues,
              std::vector<CounterRecord>& records) {
  constexpr std::uint32_t kStreams = 2048;
  records.reserve(records.size() + CountRecords(files, stem, kRecordSize));
  ForEachDeviceRecord<kRecordSize>(files, stem, kNoMagic, issues, [&](const Bytes& bytes) {
    records.push_back({.address = {.stream = bytes.U32(96) % kStreams, .task = bytes.U16(6)},
                       .vector = vector,
                       .values = ValuesAt(bytes, 16, 32)});
  });
}

}  // namespace

std::vector<CounterRecord> ReadCounterRecords(const DataFiles& files, Generation generation,
                                              const Side& side, bool wide_streams, Issues& issues) {
  std::vector<CounterRecord> records;
  if (generation == Generation::kStars) ReadStars(files, side, wide_streams, issues, records);
  if (generation == Generation::kHwts) {
    ReadHwts(files, "aicore.data", false, issues, records);
    ReadHwts(files, "aiVectorCore.data", true, issues, records);  // not seen in real data
  }
  return records;
}

}  // namespace mpa::raw
