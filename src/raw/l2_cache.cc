// SPDX-License-Identifier: Apache-2.0
// The requests of tasks to the L2 cache.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "round_decimal.h"
#include "traffic_samples.h"

namespace mpa::raw {
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
    const auto found = std::find(recorded.begin(), recorded.end(), event);
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
    if (tasks.device[task] == device) kernels[{tasks.stream[task], tasks.task[task]}].push_back(i);
  }
  for (auto& [address, rows] : kernels) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
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
        "counters of the L2 cache left out, the events of the chip are not among those in "
        "sample.json (l2CacheTaskProfilingEvents)",
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
