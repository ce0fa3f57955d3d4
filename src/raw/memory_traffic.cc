// SPDX-License-Identifier: Apache-2.0
// Samples of the memories of a device and of the caches before them.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "mpa/base/stable_sort.h"
#include "round_decimal.h"
#include "stages.h"

namespace mpa::raw {
namespace {

constexpr std::string_view kSameTime = "sample left out, it has the time of the one before it";
constexpr std::string_view kNonsense = "sample left out, its values are invalid";

// Version 2 of the records has ns since the epoch. Not seen in real data.
bool HasWideRecords(const Device& device) { return device.record_version.starts_with("2"); }

TimeNs TimeOf(std::uint64_t stamp, bool wide, const Clock& clock) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 62;
  return wide ? static_cast<TimeNs>(std::min(stamp, kMax)) : clock.FromStartMicros(stamp);
}

// Limit for counts, so that they can be multiplied by the size of one count.
bool IsCount(std::uint64_t count) { return count < std::uint64_t{1} << 48; }

// Limit for the numbers of events, memories and caches.
bool IsNumber(std::uint32_t number) { return number < 256; }

// One count: what was read from or written to one memory since the sample before.
struct HbmSample {
  TimeNs time = 0;
  std::uint32_t event = 0;  // 0: read
  std::uint32_t hbm = 0;
  std::uint64_t count = 0;

  bool MakesSense() const {
    return IsTime(time) && IsCount(count) && IsNumber(event) && IsNumber(hbm);
  }
};

template <std::size_t kSize>
HbmSample DecodeHbm(const Record<kSize>& record, const Clock& clock) {
  constexpr bool kWide = kSize == 32;
  return {.time = TimeOf(record.U64(kWide ? 24 : 0), kWide, clock),
          .event = record.U32(kWide ? 8 : 16),
          .hbm = record.U32(kWide ? 12 : 20),
          .count = record.U64(kWide ? 16 : 8)};
}

template <std::size_t kSize>
std::vector<HbmSample> ReadHbmSamples(const DataFiles& files, const Clock& clock, Issues& issues) {
  constexpr std::string_view kStem = "hbm.data";
  std::vector<HbmSample> samples;
  samples.reserve(CountRecords(files, kStem, kSize));
  ForEachDeviceRecord<kSize>(files, kStem, kNoMagic, issues, [&](const Record<kSize>& record) {
    const HbmSample sample = DecodeHbm(record, clock);
    if (sample.MakesSense()) {
      samples.push_back(sample);
    } else {
      issues.Count(kNonsense, kStem);
    }
  });
  StableSort(samples, [](const HbmSample& a, const HbmSample& b) {
    return std::tie(a.time, a.event, a.hbm) < std::tie(b.time, b.event, b.hbm);
  });
  return samples;
}

void ReadHbm(const DataFiles& files, const Side& side, const Device& device, Session& session) {
  constexpr std::int64_t kBytesOfCount = 32;
  const std::vector<HbmSample> samples =
      HasWideRecords(device) ? ReadHbmSamples<32>(files, side.clock, session.issues)
                             : ReadHbmSamples<24>(files, side.clock, session.issues);
  std::map<std::pair<std::uint32_t, bool>, TimeNs> last;
  for (const HbmSample& sample : samples) {
    const bool write = sample.event != 0;
    const auto [before, first] = last.try_emplace({sample.hbm, write}, sample.time);
    const TimeNs duration = sample.time - std::exchange(before->second, sample.time);
    if (first) continue;  // the length of its interval is unknown
    if (duration == 0) {
      session.issues.Count(kSameTime, "hbm.data");
    } else if (sample.time >= side.begin) {
      const auto bytes = static_cast<std::int64_t>(sample.count) * kBytesOfCount;
      session.traffic.hbm.Append({.time = sample.time,
                                  .hbm = sample.hbm,
                                  .write = write,
                                  .rate = PerSecond(bytes, duration),
                                  .device = device.id});
    }
  }
}

// The counts of all controllers at a time, by write.
using DdrCounts = std::map<std::uint32_t, std::array<std::int64_t, 2>>;

DdrCounts ReadDdrCounts(const DataFiles& files, Issues& issues) {
  constexpr std::size_t kSize = 20;
  constexpr std::string_view kStem = "ddr.data";
  constexpr std::uint32_t kOfAllMasters = 0xFFFFFFFF;
  DdrCounts counts;
  ForEachDeviceRecord<kSize>(files, kStem, kNoMagic, issues, [&](const Record<kSize>& record) {
    if (!IsNumber(record.U32(8)) || !IsNumber(record.U32(12))) {
      issues.Count(kNonsense, kStem);
      return;
    }
    if (record.U32(16) != kOfAllMasters) return;  // counted in these once more
    counts[record.U32(0)][record.U32(8) == 0 ? 0 : 1] += record.U32(4);
  });
  return counts;
}

void ReadDdr(const DataFiles& files, const Side& side, const Device& device, Session& session) {
  // 256 or 128 bits.
  const std::int64_t bytes_of_count = device.generation == Generation::kHwts ? 32 : 16;
  std::uint32_t before = 0;  // the first sample counts from the start
  for (const auto& [micros, counts] : ReadDdrCounts(files, session.issues)) {
    const TimeNs duration = TimeNs{micros - std::exchange(before, micros)} * 1000;
    const TimeNs time = side.clock.FromStartMicros(micros);
    if (duration == 0 || time < side.begin) continue;
    session.traffic.ddr.Append({.time = time,
                                .read = PerSecond(counts[0] * bytes_of_count, duration),
                                .write = PerSecond(counts[1] * bytes_of_count, duration),
                                .device = device.id});
  }
}

constexpr std::size_t kLlcEvents = 8;

// Numbers of the events, by what is counted.
constexpr std::array<std::uint32_t, kLlcEvents> kLlcReads = {0x00, 0x01, 0x02, 0x13,
                                                             0x20, 0x22, 0x34, 0x36};
constexpr std::array<std::uint32_t, kLlcEvents> kLlcWrites = {0x00, 0x01, 0x03, 0x14,
                                                              0x21, 0x23, 0x35, 0x37};

// The counts of a cache since the sample before; events that it has, as bits.
struct LlcSample {
  std::array<std::int64_t, kLlcEvents> counts{};
  unsigned seen = 0;

  bool IsWhole() const { return seen == (1u << kLlcEvents) - 1; }
  std::int64_t Bytes() const { return (counts[0] + counts[1]) * 4096; }
  double HitRate() const {
    const std::int64_t all = counts[4] + counts[6];
    const std::int64_t hits = counts[2] + counts[3] + counts[5] + counts[7];
    return all == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(all);
  }
};

using LlcSamples = std::map<std::pair<std::uint32_t, TimeNs>, LlcSample>;  // by cache and time

LlcSamples ReadLlcSamples(const DataFiles& files, const Clock& clock, bool wide,
                          const std::array<std::uint32_t, kLlcEvents>& events, Issues& issues) {
  constexpr std::size_t kSize = 24;
  constexpr std::string_view kStem = "llc.data";
  LlcSamples samples;
  ForEachDeviceRecord<kSize>(files, kStem, kNoMagic, issues, [&](const Record<kSize>& record) {
    const std::uint64_t count = wide ? record.U32(4) : record.U64(8);
    const std::uint32_t event = record.U32(wide ? 8 : 16);
    const TimeNs time = TimeOf(record.U64(wide ? 16 : 0), wide, clock);
    const std::uint32_t llc = record.U32(wide ? 12 : 20);
    const auto found = std::ranges::find(events, event);
    if (found == events.end() || !IsTime(time) || !IsCount(count) || !IsNumber(llc)) {
      issues.Count(kNonsense, kStem);
      return;
    }
    LlcSample& sample = samples[{llc, time}];
    const auto place = static_cast<std::size_t>(found - events.begin());
    sample.counts[place] = static_cast<std::int64_t>(count);
    sample.seen |= 1u << place;
  });
  return samples;
}

void ReadLlc(const DataFiles& files, const Side& side, const Device& device, Session& session) {
  constexpr std::string_view kStem = "llc.data";
  if (CountRecords(files, kStem, 1) == 0) return;
  const bool write = device.llc_mode == "write";
  if (!write && device.llc_mode != "read") {
    session.issues.Count("samples left out, llc_profiling of sample.json is neither read nor write",
                         kStem);
    return;
  }
  const LlcSamples samples = ReadLlcSamples(files, side.clock, HasWideRecords(device),
                                            write ? kLlcWrites : kLlcReads, session.issues);
  std::map<std::uint32_t, TimeNs> last;
  for (const auto& [key, sample] : samples) {
    const auto [llc, time] = key;
    const auto [before, first] = last.try_emplace(llc, time);
    const TimeNs duration = time - std::exchange(before->second, time);
    if (!sample.IsWhole()) {
      session.issues.Count("sample left out, some of its counters are missing", kStem);
    } else if (time >= side.begin) {
      session.traffic.llc.Append({.time = time,
                                  .llc = llc,
                                  .write = write,
                                  .hit_rate = sample.HitRate(),
                                  .rate = first ? -1 : PerSecond(sample.Bytes(), duration),
                                  .device = device.id});
    }
  }
}

}  // namespace

void ReadMemoryTraffic(const DataFiles& files, const Side& side, const Device& device,
                       Session& session) {
  ReadHbm(files, side, device, session);
  ReadDdr(files, side, device, session);
  ReadLlc(files, side, device, session);
}

// The requests of tasks to the L2 cache.

namespace {

constexpr std::string_view kL2Stem = "l2_cache.data";
constexpr std::size_t kL2RecordSize = 72, kCounters = 8;

// Event numbers; a value counted by two events is their sum.
struct CacheEvents {
  std::vector<std::uint32_t> requests, hits, victims;
};

std::optional<CacheEvents> EventsOf(std::int64_t platform) {
  switch (platform) {
    case 1:
      return CacheEvents{{0x59}, {0x5B}, {0x5C}};
    case 2:
    case 3:
    case 4:
      return CacheEvents{{0x78, 0x79}, {0x6A}, {0x71}};
    case 5:
    case 7:
    case 8:
    case 11:
      return CacheEvents{{0xFB, 0xFC}, {0x90, 0x91}, {0x9C}};
    default:
      return std::nullopt;
  }
}

// Which counters of a record make up a sum.
using Places = std::vector<std::size_t>;

std::optional<Places> PlacesOf(const std::vector<std::uint32_t>& events,
                               const std::vector<std::uint32_t>& recorded) {
  Places places;
  for (const std::uint32_t event : events) {
    const auto found = std::ranges::find(recorded, event);
    const auto place = static_cast<std::size_t>(found - recorded.begin());
    if (found == recorded.end() || place >= kCounters) return std::nullopt;
    places.push_back(place);
  }
  return places;
}

double SumOf(const Record<kL2RecordSize>& record, const Places& places) {
  double sum = 0;
  for (const std::size_t place : places) sum += static_cast<double>(record.U64(8 + 8 * place));
  return sum;
}

using Address = std::pair<std::int64_t, std::int64_t>;  // stream, task

// The kernels of each address in order of start.
std::map<Address, std::vector<std::size_t>> KernelsByAddress(const Session& session,
                                                             std::int64_t device) {
  const Tasks& tasks = session.tasks;
  std::map<Address, std::vector<std::size_t>> kernels;
  for (std::size_t i = 0; i < session.kernels.Size(); ++i) {
    const auto task = static_cast<std::size_t>(session.kernels.task[i]);
    if (tasks.device[task] == device)
      kernels[{tasks.stream[task], tasks.task_id[task]}].push_back(i);
  }
  for (auto& [address, rows] : kernels) {
    StableSort(rows, [&](std::size_t a, std::size_t b) {
      return tasks.start[session.kernels.task[a]] < tasks.start[session.kernels.task[b]];
    });
  }
  return kernels;
}

// Records have no times: those of an address belong to its kernels in order. If there are too many,
// the first ones belong to kernels from before the collection.
void NameTasks(std::size_t first_row, const Device& device, Session& session) {
  L2CacheUse& use = session.l2_cache;
  std::map<Address, std::vector<std::size_t>> rows;
  for (std::size_t i = first_row; i < use.Size(); ++i) {
    rows[{use.stream[i], use.task[i]}].push_back(i);
  }
  const auto kernels = KernelsByAddress(session, device.id);
  for (const auto& [address, of_address] : rows) {
    const auto found = kernels.find(address);
    if (found == kernels.end()) continue;
    const std::size_t count = std::min(of_address.size(), found->second.size());
    for (std::size_t i = 0; i < count; ++i) {
      use.name[of_address[of_address.size() - count + i]] = session.kernels.name[found->second[i]];
    }
  }
}

}  // namespace

void ReadL2Cache(const DataFiles& files, const Device& device, Session& session) {
  if (CountRecords(files, kL2Stem, 1) == 0) return;
  const auto events = EventsOf(device.platform);
  const auto places = [&](const std::vector<std::uint32_t>& wanted) {
    return PlacesOf(wanted, device.l2_events);
  };
  const auto requests = events ? places(events->requests) : std::nullopt;
  const auto hits = events ? places(events->hits) : std::nullopt;
  const auto victims = events ? places(events->victims) : std::nullopt;
  if (!requests || !hits || !victims) {
    session.issues.Count(
        "counters of the L2 cache left out, the events of the chip are not among those in"
        " sample.json (l2CacheTaskProfilingEvents)",
        kL2Stem);
    return;
  }
  L2CacheUse& use = session.l2_cache;
  const std::size_t first_row = use.Size();
  ForEachDeviceRecord<kL2RecordSize>(
      files, kL2Stem, kNoMagic, session.issues, [&](const Record<kL2RecordSize>& record) {
        const double all = SumOf(record, *requests);
        const auto share = [&](const Places& some) {
          return all == 0 ? 0 : RoundDecimal(SumOf(record, some) / all, 6);
        };
        use.Append({.stream = record.U16(2),
                    .task = record.U16(4),
                    .hit_rate = share(*hits),
                    .victim_rate = share(*victims),
                    .device = device.id});
      });
  NameTasks(first_row, device, session);
}

}  // namespace mpa::raw
