// SPDX-License-Identifier: Apache-2.0
#include "counter_table.h"

#include <algorithm>

#include "device_tasks.h"
#include "mpa/base/text.h"
#include "round_decimal.h"

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

CounterTable::CounterTable(const Session& session, const Device& device)
    : session_(session),
      device_(device),
      apart_(device.generation != Generation::kHwts),
      cube_(device.cube_metrics, device.cube_events, device.platform),
      vector_(device.vector_metrics, device.vector_events, device.platform) {
  AddNames("aicore_time", apart_ ? "aic_" : "", cube_);
  if (apart_) AddNames("aiv_time", "aiv_", vector_);
  columns_.in_database.assign(columns_.names.size(), 1);
  vec_ratio_ = Find("vec_ratio");
  mac_ratio_ = Find(apart_ ? "aic_mac_ratio" : "mac_ratio");
  mte2_ratio_ = Find("mte2_ratio");
  if (vec_ratio_ && mac_ratio_ && mte2_ratio_) columns_.names.emplace_back("memory_bound");
  if (mac_ratio_) columns_.names.emplace_back("cube_utilization");
  columns_.in_database.resize(columns_.names.size());

  const CoreFrequencies& changes = session.frequencies;
  for (std::size_t i = 0; i < changes.Size(); ++i) {
    if (changes.device[i] == device.id) clock_.emplace_back(changes.time[i], changes.mhz[i]);
  }
}

void CounterTable::AddNames(std::string_view time, std::string_view prefix,
                            const CoreMetrics& metrics) {
  columns_.names.emplace_back(time);
  columns_.names.push_back(std::string(prefix) + "total_cycles");
  for (const std::string& name : metrics.Names()) {
    columns_.names.push_back(std::string(prefix) + name);
  }
}

std::optional<std::size_t> CounterTable::Find(std::string_view name) const {
  const auto found = std::find(columns_.names.begin(), columns_.names.end(), name);
  if (found == columns_.names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.names.begin());
}

// The nominal clock, if the chip does not record changes.
std::int64_t CounterTable::ClockAt(TimeNs time) const {
  const auto later =
      std::upper_bound(clock_.begin(), clock_.end(), time,
                       [](TimeNs wanted, const auto& change) { return wanted < change.first; });
  return later == clock_.begin() ? device_.cube_mhz : std::prev(later)->second;
}

void CounterTable::AddRow(const CountedKernel& kernel, std::vector<double>& values) const {
  const std::size_t first = values.size();
  const CounterRecord& record = *kernel.record;
  const CoreLoad own{.blocks = session_.kernels.blocks[kernel.row],
                     .cores = record.vector ? device_.vector_cores : device_.cube_cores,
                     .mhz = ClockAt(record.end),
                     .nominal_mhz = device_.cube_mhz};
  if (!apart_) {
    AddCore(cube_, record.values, own, values);
  } else {
    CoreLoad other = own;
    other.blocks = session_.kernels.mix_blocks[kernel.row];
    other.cores = record.vector ? device_.cube_cores : device_.vector_cores;
    AddCore(cube_, record.vector ? kernel.other_cores : record.values, record.vector ? other : own,
            values);
    AddCore(vector_, record.vector ? record.values : kernel.other_cores,
            record.vector ? own : other, values);
  }
  if (vec_ratio_ && mac_ratio_ && mte2_ratio_) values.push_back(MemoryBound(&values[first]));
  if (mac_ratio_) {
    const auto task = static_cast<std::size_t>(session_.kernels.task[kernel.row]);
    values.push_back(CubeUtilization(values[first + 1], session_.tasks.dur[task]));
  }
}

void CounterTable::AddCore(const CoreMetrics& metrics, const CounterValues& counted, CoreLoad load,
                           std::vector<double>& values) const {
  values.push_back(CoreMetrics::Time(counted, load));
  values.push_back(static_cast<double>(counted.cycles));
  const std::size_t first = values.size();
  values.resize(first + metrics.Size());
  metrics.Evaluate(counted, load, values.data() + first);
}

// Of the ratios as the table shows them.
double CounterTable::MemoryBound(const double* row) const {
  const auto shown = [&](std::size_t column) { return RoundDecimal(row[column], 3); };
  const double busy = std::max(shown(*vec_ratio_), shown(*mac_ratio_));
  return busy == 0 ? 0 : shown(*mte2_ratio_) / busy;
}

// In percent; `dur` in ns.
double CounterTable::CubeUtilization(double cycles, double dur) const {
  const double possible =
      static_cast<double>(device_.cube_mhz) * static_cast<double>(device_.cube_cores) * dur / 1000;
  return possible > 0 ? cycles / possible * 100 : 0;
}

}  // namespace mpa::raw
