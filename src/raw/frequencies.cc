// SPDX-License-Identifier: Apache-2.0
#include "frequencies.h"

#include <algorithm>
#include <vector>

namespace mpa::raw {
namespace {

constexpr std::size_t kFrequencyRecordSize = 888;
constexpr std::uint32_t kSamplesOfRecord = 55;

struct Sample {
  std::uint64_t count = 0;  // device counter
  std::uint32_t mhz = 0;
};

/// In order of time.
std::vector<Sample> ReadSamples(const DataFiles& files, const Clock& clock, Issues& issues) {
  constexpr std::string_view kStem = "lpmFreqConv.data";
  std::vector<Sample> samples;
  ForEachDeviceRecord<kFrequencyRecordSize>(
      files, kStem, kNoMagic, issues, [&](const Record<kFrequencyRecordSize>& record) {
        const std::uint32_t count = std::min(record.U32(0), kSamplesOfRecord);
        for (std::uint32_t i = 0; i < count; ++i) {
          const std::size_t at = 8 + std::size_t{i} * 16;
          const Sample sample{.count = record.U64(at), .mhz = record.U32(at + 8)};
          if (!clock.IsPlausible(clock.DeviceNs(sample.count))) {
            issues.Count("core frequency left out, its time makes no sense", kStem);
          } else if (sample.mhz == 0) {
            issues.Count("core frequency left out, it is zero", kStem);
          } else {
            samples.push_back(sample);
          }
        }
      });
  std::stable_sort(samples.begin(), samples.end(),
                   [](const Sample& a, const Sample& b) { return a.count < b.count; });
  return samples;
}

/// The chips that can change the clock: without records theirs holds the nominal value.
bool ChangesClock(std::int64_t platform) { return platform == 5 || platform == 7; }

}  // namespace

void ReadFrequencies(const DataFiles& files, const Side& side, const Device& device,
                     Session& session) {
  const std::vector<Sample> samples = ReadSamples(files, side.clock, session.issues);
  if (samples.empty() && !ChangesClock(device.platform)) return;
  std::int64_t before = device.cube_mhz;
  std::size_t first = 0;
  for (; first < samples.size() && side.clock.DeviceNs(samples[first].count) < side.begin;
       ++first) {
    before = samples[first].mhz;
  }
  session.frequencies.Append({.time = side.begin, .mhz = before, .device = device.id});
  for (std::size_t i = first; i < samples.size(); ++i) {
    session.frequencies.Append({.time = side.clock.DeviceNs(samples[i].count),
                                .mhz = samples[i].mhz,
                                .device = device.id});
  }
}

}  // namespace mpa::raw
