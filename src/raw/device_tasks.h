// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

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

/// The context of a task outside of FFTS+ groups, in 32 bits.
inline constexpr std::uint32_t kWholeTask = 0xFFFFFFFF;

/// A task that ran on the device. Of a V6 chip the stream is 0: the host knows it.
struct DeviceTask {
  std::uint64_t start = 0, end = 0;  ///< device counter
  std::uint32_t stream = 0, task = 0;
  std::uint32_t context = kWholeTask;
  std::uint16_t batch = 0;  ///< how often the stream's task ids had wrapped
  std::uint8_t type = 0;    ///< of the queue entry; of a context its own kind of numbers
};

/// What one device recorded.
struct DeviceLog {
  std::vector<DeviceTask> tasks;
  std::vector<DeviceMark> marks;
  bool has_flips = false;  ///< it recorded the wraps of task ids
};

/// Where a task ran.
struct DeviceAddress {
  std::uint32_t stream = 0, task = 0;
};

/// The meaning of the ids in a STARS record: the scheduler keeps its own bits in them, or swaps
/// them. `type`: of the queue entry. The flagged forms are not seen in real data.
DeviceAddress AddressOf(std::uint16_t stream, std::uint16_t task, std::uint8_t type,
                        bool wide_streams);

/// The tasks of a device from stars_soc.data or hwts.data, in order of stream, task, context and
/// start. `wide_streams`: ids of streams use 15 bits. Starts without an end are counted.
std::vector<DeviceTask> ReadDeviceTasks(const DataFiles& files, Generation generation,
                                        bool wide_streams, Issues& issues);

/// Sets the batches of tasks by the flips that the device recorded.
void CountDeviceBatches(const std::vector<DeviceFlip>& flips, std::vector<DeviceTask>& tasks);

/// "AI_CORE", "SDMA_SQE", "MIX_AIC"; "UNKNOWN" for a number without a name.
std::string_view DeviceTypeName(Generation generation, const DeviceTask& task);

}  // namespace mpa::raw
