// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpa/measure/accounting.h"

namespace mpa {

/// Something that occupies the device: a kernel, a copy that is no part of a collective, or an
/// operation of communication.
struct DeviceItem {
  TimeNs begin = 0, end = 0;
  Leaf leaf{};  ///< of an operation kUnsplit
  Leaf own{};   ///< by the work's own name: a conversion launched by a convolution is a conversion
  PieceTable table{};
  std::int32_t row = -1;
  std::int64_t stream = -1, connection = -1, link = -1, model = -1;
};

/// In order of begin.
std::vector<DeviceItem> FindDeviceItems(const RankTrace& trace);

HostClock HostClockOf(const RankTrace& trace, std::span<const DeviceItem> items);

}  // namespace mpa
