// SPDX-License-Identifier: Apache-2.0
// What the chip tells of itself: traffic by quality of service, channels between its dies,
// accelerators, and levels of bandwidth.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/stable_sort.h"
#include "stages.h"

namespace mpa::raw {
namespace {

constexpr std::string_view kQosStem = "qos.data", kSocStem = "stars_soc_profile.data";
constexpr std::size_t kSocSize = 64;

// Of the kinds of records in stars_soc_profile.data those that are read.
enum SocKind : std::uint16_t { kQosOfDie = 24, kSio = 25, kAccelerator = 26, kLevels = 28 };

class SocTraffic {
 public:
  SocTraffic(const DataFiles& files, const Side& side, const Device& device, Session& session)
      : files_(files), side_(side), device_(device), session_(session) {}

  void Read() {
    TrafficTables& traffic = session_.traffic;
    const std::size_t first_accelerator = traffic.accelerators.Size();
    const std::size_t first_level = traffic.levels.Size();
    ForEachDeviceRecord<kSocSize>(
        files_, kQosStem, kNoMagic, session_.issues, [&](const Record<kSocSize>& record) {
          AddQos(record, TimeOf(record, 16, kQosStem), 24, kQosValues, -1);
        });
    ForEachDeviceRecord<kSocSize>(files_, kSocStem, kDeviceMagic, session_.issues,
                                  [&](const Record<kSocSize>& record) { AddSoc(record); });
    AppendQos();
    AppendSio();
    SortFrom(first_accelerator, traffic.accelerators);
    SortFrom(first_level, traffic.levels);
  }

 private:
  static constexpr std::size_t kQosValues = 10;

  // -1: from before the collection, or nonsense, which is counted.
  TimeNs TimeOf(const Record<kSocSize>& record, std::size_t offset, std::string_view stem) {
    const TimeNs time = side_.clock.DeviceNs(record.U64(offset));
    if (!IsTime(time) || !side_.clock.IsPlausible(time)) {
      session_.issues.Count("sample left out, its values are invalid", stem);
      return -1;
    }
    return time;
  }
  bool IsOfCollection(TimeNs time) const { return time >= side_.begin; }

  void AddSoc(const Record<kSocSize>& record) {
    constexpr std::uint16_t kKindBits = 0x3F;
    const auto time = [&] { return TimeOf(record, 8, kSocStem); };
    switch (record.U16(0) & kKindBits) {
      case kQosOfDie:
        // The first two of the values are not used by chips that tell the die.
        AddQos(record, time(), 32, kQosValues - 2, record.U16(0) >> 10);
        break;
      case kSio:
        AddSio(record, time());
        break;
      case kAccelerator:
        AddAccelerator(record, time());
        break;
      case kLevels:
        AddLevels(record, time());
        break;
      default:  // what no analysis asks for
        break;
    }
  }

  void AddQos(const Record<kSocSize>& record, TimeNs time, std::size_t offset, std::size_t values,
              std::int64_t die) {
    if (time < 0 || !IsOfCollection(time)) return;
    const std::vector<std::string>& events = device_.qos_events;
    if (events.empty()) {
      session_.issues.Count(
          "bandwidths by quality of service left out, sample.json does not name them (qosEvents)",
          kQosStem);
      return;
    }
    constexpr std::int64_t kMegabyte = 1 << 20;
    for (std::size_t i = 0; i < std::min(events.size(), values); ++i) {
      qos_.push_back({.time = time,
                      .event = session_.strings.Intern(events[i]),
                      .die = die,
                      .rate = record.U32(offset + 4 * i) * kMegabyte,
                      .device = device_.id});
    }
  }

  void AppendQos() {
    StableSort(qos_, [](const auto& a, const auto& b) { return a.time < b.time; });
    for (const QosTraffic::Row& row : qos_) session_.traffic.qos.Append(row);
  }

  // Bytes since the sample before.
  struct SioSample {
    TimeNs time = 0;
    std::uint32_t die = 0;
    std::array<std::uint32_t, kSioKinds> bytes{};
  };

  void AddSio(const Record<kSocSize>& record, TimeNs time) {
    if (time < 0) return;
    const bool newer = device_.generation == Generation::kStarsV6;
    SioSample sample{.time = time,
                     .die = newer ? std::uint32_t{record.U8(1)} >> 2 : record.U16(18)};
    // Newer chips have a number between what is received and what is sent.
    const std::size_t received = newer ? 28 : 32;
    constexpr std::size_t kHalf = kSioKinds / 2;
    for (std::size_t i = 0; i < kSioKinds; ++i) {
      const std::size_t gap = newer && i >= kHalf ? 4 : 0;
      sample.bytes[i] = record.U32(received + 4 * i + gap);
    }
    sio_.push_back(sample);
  }

  std::string NameOf(std::uint32_t die) const {
    if (device_.generation == Generation::kStarsV6) {
      if (die == 0) return "D-DIE0";
      if (die == 2) return "U-DIE0";
      if (die == 3) return "U-DIE1";
    }
    return fmt::format("die {}", die);
  }

  void AppendSio() {
    StableSort(sio_, [](const SioSample& a, const SioSample& b) { return a.time < b.time; });
    std::map<std::uint32_t, TimeNs> last;
    for (const SioSample& sample : sio_) {
      const auto [before, first] = last.try_emplace(sample.die, sample.time);
      const TimeNs duration = sample.time - std::exchange(before->second, sample.time);
      if (first) continue;  // the length of its interval is unknown
      if (duration == 0) {
        session_.issues.Count("sample left out, it has the time of the one before it", kSocStem);
      } else if (IsOfCollection(sample.time)) {
        SioTraffic::Row row{.time = sample.time,
                            .name = session_.strings.Intern(NameOf(sample.die)),
                            .device = device_.id};
        for (std::size_t i = 0; i < kSioKinds; ++i)
          row.rates[i] = PerSecond(sample.bytes[i], duration);
        session_.traffic.sio.Append(row);
      }
    }
  }

  // Writes stand before reads.
  void AddAccelerator(const Record<kSocSize>& record, TimeNs time) {
    if (time < 0 || !IsOfCollection(time)) return;
    session_.traffic.accelerators.Append({.time = time,
                                          .accelerator = record.U16(18),
                                          .read = record.Count(40),
                                          .write = record.Count(32),
                                          .read_outstanding = record.Count(56),
                                          .write_outstanding = record.Count(48),
                                          .device = device_.id});
  }

  void AddLevels(const Record<kSocSize>& record, TimeNs time) {
    if (time < 0 || !IsOfCollection(time)) return;
    const std::uint16_t levels = record.U16(32);
    session_.traffic.levels.Append(
        {.time = time, .l2_buffer = levels >> 3 & 0xFF, .mata = levels & 7, .device = device_.id});
  }

  // The rows of this device, which are the last ones.
  template <typename Table>
  static void SortFrom(std::size_t first, Table& table) {
    std::vector<std::size_t> rows(table.Size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
    std::ranges::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(), {},
                             [&](std::size_t row) { return table.time[row]; });
    table.Reorder(rows);
  }

  const DataFiles& files_;
  const Side& side_;
  const Device& device_;
  Session& session_;
  std::vector<QosTraffic::Row> qos_;
  std::vector<SioSample> sio_;
};

}  // namespace

void ReadSocTraffic(const DataFiles& files, const Side& side, const Device& device,
                    Session& session) {
  SocTraffic(files, side, device, session).Read();
}

}  // namespace mpa::raw
