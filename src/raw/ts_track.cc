// SPDX-License-Identifier: Apache-2.0
// The log of the task scheduler: wraps of task ids, marks.
#include "ts_track.h"

#include <algorithm>
#include <tuple>

namespace mpa::raw {
namespace {

constexpr std::size_t kTrackSize = 40;

DeviceMark ReadMark(const Record<kTrackSize>& record, Generation generation) {
  DeviceMark mark{.count = record.U64(8), .index = record.U64(16), .model = record.U64(24)};
  if (generation == Generation::kStarsV6) {  // not seen in real data
    mark.tag = record.U16(32);
    mark.stream = record.U16(34);
    mark.task = record.U32(36);
  } else {
    constexpr std::uint32_t kStreamBits = 0x7FF;
    mark.stream = record.U16(32) & kStreamBits;
    mark.task = record.U16(34);
    mark.tag = record.U16(36);
  }
  return mark;
}

}  // namespace

TaskTrack ReadTaskTrack(const DataFiles& files, Generation generation, Issues& issues) {
  constexpr std::uint8_t kMarkRecord = 10, kFlipRecord = 14;
  TaskTrack track;
  ForEachDeviceRecord<kTrackSize>(
      files, "ts_track.data", kNoMagic, issues, [&](const Record<kTrackSize>& record) {
        if (record.U8(1) == kMarkRecord) {
          track.marks.push_back(ReadMark(record, generation));
        } else if (record.U8(1) == kFlipRecord) {
          track.flips.push_back(
              {.stream = record.U16(16), .count = record.U64(8), .task = record.U16(22)});
        }
      });
  std::stable_sort(track.flips.begin(), track.flips.end(),
                   [](const DeviceFlip& a, const DeviceFlip& b) {
                     return std::tie(a.stream, a.count) < std::tie(b.stream, b.count);
                   });
  std::stable_sort(track.marks.begin(), track.marks.end(),
                   [](const DeviceMark& a, const DeviceMark& b) { return a.count < b.count; });
  return track;
}

}  // namespace mpa::raw
