// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/model/issues.h"
#include "mpa/raw/session.h"
#include "slices.h"

namespace mpa::raw {

/// The device wrapped the task ids of a stream.
struct DeviceFlip {
  std::uint32_t stream = 0;
  std::uint64_t count = 0;  ///< device counter
  std::uint32_t task = 0;   ///< id of the flip task itself
};

/// A mark that a stream passed.
struct DeviceMark {
  std::uint64_t count = 0;  ///< device counter
  std::uint64_t index = 0, model = 0;
  std::uint32_t stream = 0, task = 0;
  std::uint32_t tag = 0;
};
inline constexpr std::uint32_t kModelBegin = 0, kModelEnd = 1, kUserMark = 11, kUserRange = 12;

/// The contents of ts_track.data of a device.
struct TaskTrack {
  std::vector<DeviceFlip> flips;  ///< in order of stream and time
  std::vector<DeviceMark> marks;  ///< in order of time
};

TaskTrack ReadTaskTrack(const DataFiles& files, Generation generation, Issues& issues);

}  // namespace mpa::raw
