// SPDX-License-Identifier: Apache-2.0
// Reads the counters of the cores, finds the kernel of each record and derives the metrics.
#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "device_tasks.h"
#include "metric_sets.h"
#include "mpa/base/stable_sort.h"
#include "round_decimal.h"
#include "stages.h"

namespace mpa::raw {
namespace {

/// The place of a task: the fields that a counter record and a task share.
struct TaskAddress {
  std::int64_t stream = 0, task = 0, context = kNoContext;
  auto operator<=>(const TaskAddress&) const = default;
};

/// The counters of a task on one kind of core, or of one block of it.
struct CounterRecord {
  TaskAddress address{};
  TimeNs end = -1;      ///< -1: not recorded
  bool vector = false;  ///< of a vector core; else of a cube core
  bool mixed = false;   ///< its task uses both kinds of cores
  bool block = false;   ///< of one block; else of the whole task
  CounterValues values;
};

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
      issues.Count("counters left out, their kind is unknown", kStem);
      return;
    }
    CounterRecord record{.end = side.clock.DeviceNs(bytes.U64(120)),
                         .values = ValuesAt(bytes, 32, 48)};
    if (!side.clock.IsPlausible(record.end)) {
      issues.Count("counters left out, their time is invalid", kStem);
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

/// The records of a device in their order, without those from before the collection.
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

/// A kernel and its counters.
struct CountedKernel {
  TaskAddress address;
  TimeNs start = 0, end = 0;
  std::size_t row = 0;                    ///< in Session.kernels
  const CounterRecord* record = nullptr;  ///< null: no counters
  /// Of a task on both kinds of cores: the sums of its blocks on the kind that `record` is not of.
  CounterValues other_cores;
  std::int64_t other_blocks = 0;
};

/// The columns of Counters for a device. Chips with separate cube and vector units have columns for
/// each of the two.
class CounterTable {
 public:
  /// `session.core_clocks` are complete.
  CounterTable(const Session& session, const Device& device);

  /// Names and where they are shown; without values.
  const Counters& columns() const { return columns_; }
  /// Appends the row of a kernel that has a record.
  void AddRow(const CountedKernel& kernel, std::vector<double>& values) const;

 private:
  void AddNames(std::string_view time, std::string_view prefix, const CoreMetrics& metrics);
  std::optional<std::size_t> Find(std::string_view name) const;
  std::int64_t ClockAt(TimeNs time) const;
  void AddCore(const CoreMetrics& metrics, const CounterValues& counted, CoreLoad load,
               std::vector<double>& values) const;
  double MemoryBound(const double* row) const;
  double CubeUtilization(double cycles, double dur) const;

  const Session& session_;
  const Device& device_;
  bool apart_;
  CoreMetrics cube_, vector_;
  Counters columns_;
  std::optional<std::size_t> vec_ratio_, mac_ratio_, mte2_ratio_;
  std::vector<std::pair<TimeNs, std::int64_t>> clock_;  // MHz from a time on
};

CounterTable::CounterTable(const Session& session, const Device& device)
    : session_(session),
      device_(device),
      apart_(device.generation != Generation::kHwts),
      cube_(device.cube_metrics, device.cube_events, device.platform),
      vector_(device.vector_metrics, device.vector_events, device.platform) {
  AddNames("aicore_time", apart_ ? "aic_" : "", cube_);
  if (apart_) AddNames("aiv_time", "aiv_", vector_);
  vec_ratio_ = Find("vec_ratio");
  mac_ratio_ = Find(apart_ ? "aic_mac_ratio" : "mac_ratio");
  mte2_ratio_ = Find("mte2_ratio");
  if (vec_ratio_ && mac_ratio_ && mte2_ratio_) columns_.names.emplace_back("memory_bound");
  if (mac_ratio_) columns_.names.emplace_back("cube_utilization");

  const CoreClocks& changes = session.core_clocks;
  for (std::size_t i = 0; i < changes.Size(); ++i) {
    if (changes.device[i] == device.id) clock_.emplace_back(changes.start[i], changes.mhz[i]);
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
  const auto found = std::ranges::find(columns_.names, name);
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
    values.push_back(CubeUtilization(values[first + 1], session_.tasks.Exact(task)));
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

constexpr std::string_view kPlace = "counters";

std::vector<CountedKernel> KernelsOf(const Session& session, std::int64_t device) {
  const Tasks& tasks = session.tasks;
  std::vector<CountedKernel> kernels;
  for (std::size_t i = 0; i < session.kernels.Size(); ++i) {
    const auto task = static_cast<std::size_t>(session.kernels.task[i]);
    if (tasks.device[task] != device) continue;
    CountedKernel& kernel = kernels.emplace_back();
    kernel.address = {tasks.stream[task], tasks.task_id[task], tasks.context[task]};
    kernel.start = tasks.start[task];
    kernel.end = tasks.end[task];
    kernel.row = i;
  }
  StableSort(kernels, [](const CountedKernel& a, const CountedKernel& b) {
    return std::tie(a.address, a.start, a.row) < std::tie(b.address, b.start, b.row);
  });
  return kernels;
}

using Records = std::vector<const CounterRecord*>;

// In order of address and end; of one end in the order of the file.
Records Sorted(const std::vector<CounterRecord>& records, bool blocks) {
  Records sorted;
  for (const CounterRecord& record : records) {
    if (record.block == blocks) sorted.push_back(&record);
  }
  StableSort(sorted, [](const CounterRecord* a, const CounterRecord* b) {
    return std::tie(a->address, a->end, a) < std::tie(b->address, b->end, b);
  });
  return sorted;
}

// Calls match(record, kernel) for each record that ends within a kernel of its address; when it
// returns true, the kernel takes no more records.
template <typename Match>
void MatchByTime(const Records& records, std::vector<CountedKernel>& kernels, Issues& issues,
                 Match match) {
  std::size_t next = 0;
  for (const CounterRecord* record : records) {
    while (next < kernels.size() &&
           (kernels[next].address < record->address ||
            (kernels[next].address == record->address && kernels[next].end < record->end))) {
      ++next;
    }
    const bool found = next < kernels.size() && kernels[next].address == record->address &&
                       kernels[next].start <= record->end;
    if (!found) {
      issues.Count("counters left out, they belong to no kernel", kPlace);
    } else if (match(*record, kernels[next])) {
      ++next;
    }
  }
}

// Records without times belong to the kernels of their address in order. If there are too many, the
// first ones belong to kernels that ended before the collection began.
void MatchByOrder(const Records& records, std::vector<CountedKernel>& kernels) {
  std::size_t next = 0;
  for (std::size_t first = 0; first < records.size();) {
    const TaskAddress& address = records[first]->address;
    std::size_t last = first;
    while (last < records.size() && records[last]->address == address) ++last;
    while (next < kernels.size() && kernels[next].address < address) ++next;
    std::size_t end = next;
    while (end < kernels.size() && kernels[end].address == address) ++end;
    if (last - first > end - next) first = last - (end - next);
    for (; first < last; ++first, ++next) kernels[next].record = records[first];
    next = end;
  }
}

void Add(const CounterValues& part, CounterValues& sum) {
  sum.cycles += part.cycles;
  for (std::size_t i = 0; i < sum.counts.size(); ++i) sum.counts[i] += part.counts[i];
}

void MatchStars(const std::vector<CounterRecord>& records, Session& session,
                std::vector<CountedKernel>& kernels) {
  MatchByTime(Sorted(records, false), kernels, session.issues,
              [](const CounterRecord& record, CountedKernel& kernel) {
                kernel.record = &record;
                return true;
              });
  MatchByTime(Sorted(records, true), kernels, session.issues,
              [&](const CounterRecord& block, CountedKernel& kernel) {
                const bool other_core = kernel.record != nullptr && kernel.record->mixed &&
                                        kernel.record->vector != block.vector;
                if (other_core && kernel.other_blocks < session.kernels.mix_blocks[kernel.row]) {
                  ++kernel.other_blocks;
                  Add(block.values, kernel.other_cores);
                }
                return false;
              });
}

}  // namespace

void ReadCounters(const DataFiles& files, const Side& side, const Device& device, bool wide_streams,
                  Session& session) {
  if (!side.task_based) return;
  const std::vector<CounterRecord> records =
      ReadCounterRecords(files, device.generation, side, wide_streams, session.issues);
  if (records.empty()) return;
  std::vector<CountedKernel> kernels = KernelsOf(session, device.id);
  if (device.generation == Generation::kHwts) {
    MatchByOrder(Sorted(records, false), kernels);
  } else {
    MatchStars(records, session, kernels);
  }

  const CounterTable table(session, device);
  Counters& counters = session.counters;
  if (counters.names.empty()) counters = table.columns();
  if (counters.names != table.columns().names) {
    session.issues.Count("counters of a device left out, they differ from those of the first one",
                         kPlace);
    return;
  }
  StableSort(kernels, {}, &CountedKernel::row);
  counters.values.reserve(counters.values.size() + kernels.size() * counters.names.size());
  for (const CountedKernel& kernel : kernels) {
    if (kernel.record == nullptr) continue;
    session.kernels.counters[kernel.row] = static_cast<std::int32_t>(counters.Size());
    table.AddRow(kernel, counters.values);
  }
}

}  // namespace mpa::raw