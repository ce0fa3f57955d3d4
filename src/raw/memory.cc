// SPDX-License-Identifier: Apache-2.0
// Memory of the devices: its samples, and the rows of operator_memory.csv and memory_record.csv.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

#include "allocation_names.h"
#include "mpa/raw/summaries.h"
#include "stages.h"
#include "time_order.h"

namespace mpa::raw {
namespace {

constexpr std::int64_t kNpu = 20;
constexpr std::int64_t kInner = 0;
constexpr std::int64_t kWorkspace = 1;
enum Action : std::int64_t { kMalloc = 0, kFree = 1, kBlockFree = 2 };

// The device of a capture with one device; what the allocator says is a number of the process.
std::int64_t DeviceOf(const Session& session, std::int64_t recorded) {
  return session.info.devices.size() == 1 ? session.info.devices[0].id : recorded;
}

std::int64_t Plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? a : sum;
}

void GiveBack(const AllocatorEvents& events, std::size_t row, AllocationLife& life) {
  const bool is_free = events.action[row] == kFree;
  (is_free ? life.released : life.active_released) = events.time[row];
  if (!is_free && life.released >= 0) return;  // the totals recorded at the free are used
  life.released_total = events.allocated[row];
  life.released_reserved = events.reserved[row];
  life.released_active = events.active[row];
}

// Of each allocation of the framework its begin, its free and the return of its block to the pool,
// which come in any order; the same kind once more belongs to the next life of the address.
void AddAllocatorLives(const Session& session, std::vector<AllocationLife>& lives) {
  const AllocatorEvents& events = session.allocations;
  AllocationNames names(session);
  std::unordered_map<std::uint64_t, std::size_t> open;
  for (std::size_t row = 0; row < events.Size(); ++row) {
    if (events.device_type[row] != kNpu || events.allocator[row] != kInner) continue;
    if (events.action[row] == kMalloc) {
      open[events.address[row]] = lives.size();
      lives.push_back({.name = names.Of(row),
                       .bytes = events.bytes[row],
                       .allocated = events.time[row],
                       .allocated_total = events.allocated[row],
                       .reserved_total = events.reserved[row],
                       .active_total = events.active[row],
                       .stream = events.stream[row],
                       .device = DeviceOf(session, events.device[row]),
                       .address = events.address[row]});
      continue;
    }
    if (events.action[row] != kFree && events.action[row] != kBlockFree) continue;
    const auto found = open.find(events.address[row]);
    if (found == open.end()) continue;
    AllocationLife& life = lives[found->second];
    const TimeNs known = events.action[row] == kFree ? life.released : life.active_released;
    if (known >= 0) {
      open.erase(found);
    } else {
      GiveBack(events, row, life);
    }
  }
}

struct OpAllocation {
  StringId name{};
  std::uint64_t address = 0;
  std::int64_t device = 0;

  bool operator==(const OpAllocation&) const = default;
};

struct OpAllocationHash {
  std::size_t operator()(const OpAllocation& key) const {
    constexpr std::size_t kMix = 0x9E3779B97F4A7C15;
    const std::size_t owner = Index(key.name) * 256 + static_cast<std::size_t>(key.device);
    return (key.address ^ owner * kMix) * kMix;
  }
};

// Operators of CANN: in the order in which they gave back, then those that did not.
void AddCannLives(const Session& session, std::vector<AllocationLife>& lives) {
  const OpMemory& events = session.op_memory;
  std::unordered_map<OpAllocation, std::size_t, OpAllocationHash> open;
  std::vector<AllocationLife> taken;
  for (std::size_t row = 0; row < events.Size(); ++row) {
    const OpAllocation key{events.name[row], events.address[row], events.device[row]};
    if (events.bytes[row] > 0) {
      const AllocationLife life{.name = events.name[row],
                                .cann = true,
                                .bytes = events.bytes[row],
                                .allocated = events.time[row],
                                .allocated_total = events.allocated[row],
                                .reserved_total = events.reserved[row],
                                .device = events.device[row]};
      // An allocation whose release is lost is replaced by the next one.
      const auto [found, is_new] = open.try_emplace(key, taken.size());
      if (is_new) {
        taken.push_back(life);
      } else {
        taken[found->second] = life;
      }
    } else if (const auto found = open.find(key); events.bytes[row] < 0 && found != open.end()) {
      AllocationLife& life = taken[found->second];
      life.released = events.time[row];
      life.released_total = events.allocated[row];
      life.released_reserved = events.reserved[row];
      lives.push_back(life);
      open.erase(found);
    }
  }
  for (const AllocationLife& life : taken) {
    if (life.released < 0) lives.push_back(life);
  }
}

// Merges the records of the two allocators; each record also contains the sum of both.
class RecordMerge {
 public:
  RecordMerge(const Session& session, std::vector<MemoryRecord>& records)
      : session_(session), records_(records) {}

  void Run() {
    const std::vector<std::size_t> cann_rows = CannRowsByTime();
    const AllocatorEvents& events = session_.allocations;
    auto cann = cann_rows.begin();
    const auto add_cann_before = [&](TimeNs time) {
      for (; cann != cann_rows.end() && session_.op_memory.time[*cann] < time; ++cann) {
        Add(CannRecord(*cann), last_cann_, last_framework_);
      }
    };
    for (std::size_t row = 0; row < events.Size(); ++row) {
      if (events.device_type[row] != kNpu) continue;
      add_cann_before(events.time[row]);
      const MemoryRecord record = FrameworkRecord(row);
      if (events.component[row] == kWorkspace) {
        records_.push_back(record);
      } else {
        Add(record, last_framework_, last_cann_);
      }
    }
    add_cann_before(std::numeric_limits<TimeNs>::max());
  }

 private:
  using LastByDevice = std::unordered_map<std::int64_t, MemoryRecord>;

  std::vector<std::size_t> CannRowsByTime() const {
    std::vector<RowTime> rows;
    for (std::size_t row = 0; row < session_.op_memory.Size(); ++row) {
      rows.push_back({session_.op_memory.time[row], 0, row});
    }
    return InOrder(std::move(rows));
  }

  MemoryRecord FrameworkRecord(std::size_t row) const {
    const AllocatorEvents& events = session_.allocations;
    return {.component = events.component[row] == kWorkspace ? "WORKSPACE" : "PTA",
            .time = events.time[row],
            .allocated = events.allocated[row],
            .reserved = events.reserved[row],
            .active = events.active[row],
            .stream = events.stream[row],
            .has_stream = true,
            .device = DeviceOf(session_, events.device[row])};
  }

  MemoryRecord CannRecord(std::size_t row) const {
    const OpMemory& events = session_.op_memory;
    return {.component = "GE",
            .time = events.time[row],
            .allocated = events.allocated[row],
            .reserved = events.reserved[row],
            .device = events.device[row]};
  }

  void Add(const MemoryRecord& record, LastByDevice& own, const LastByDevice& other) {
    records_.push_back(record);
    MemoryRecord sum = record;
    sum.component = "PTA+GE";
    sum.active = std::max<std::int64_t>(sum.active, 0);
    if (const auto last = other.find(record.device); last != other.end()) {
      sum.allocated = Plus(sum.allocated, last->second.allocated);
      sum.reserved = Plus(sum.reserved, last->second.reserved);
      sum.active = Plus(sum.active, std::max<std::int64_t>(last->second.active, 0));
      if (sum.stream == 0) {
        sum.stream = last->second.stream;
        sum.has_stream = last->second.has_stream;
      }
    }
    records_.push_back(sum);
    own[record.device] = record;
  }

  const Session& session_;
  std::vector<MemoryRecord>& records_;
  LastByDevice last_framework_, last_cann_;
};

}  // namespace

std::vector<AllocationLife> AllocationLives(const Session& session) {
  std::vector<AllocationLife> lives;
  AddAllocatorLives(session, lives);
  AddCannLives(session, lives);
  return lives;
}

std::vector<MemoryRecord> MemoryRecords(const Session& session) {
  std::vector<MemoryRecord> records;
  const DeviceMemory& samples = session.device_memory;
  for (std::size_t row = 0; row < samples.Size(); ++row) {
    if (samples.whole_device[row]) continue;
    records.push_back({.component = "APP",
                       .time = samples.time[row],
                       .reserved = Plus(samples.ddr[row], samples.hbm[row]),
                       .device = samples.device[row]});
  }
  RecordMerge(session, records).Run();
  return records;
}

// The samples, as they are recorded.

namespace {

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
                                      .ddr = record.Count(16),
                                      .hbm = record.Count(24),
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
          session.issues.Count("memory sample left out, its time is invalid",
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
          input.issues.Count("allocation left out, its time is invalid", "task_memory_info");
          return;
        }
        if (time < begin) return;
        memory.Append({.time = time,
                       .name = input.dictionary.Text(record.U64(40)),
                       .address = record.U64(24),
                       .bytes = record.I64(32),
                       .allocated = record.Count(48),
                       .reserved = record.Count(56),
                       .thread = head.thread,
                       .device = record.U32(64),
                       .device_type = record.U32(68)});
      });
  if (!std::ranges::is_sorted(memory.time)) memory.Reorder(RowsBy(memory.time));
}

}  // namespace mpa::raw
