// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/measure/device_work.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// An operator with what it launched itself: compute kernels, then collectives, then kernels that
/// arrange collectives, each in order of start. Copies are left out.
struct OpWork {
  std::uint32_t op = 0;  ///< row of the host operators
  std::vector<DeviceWork> kernels;
};

struct AllOpWork {
  std::vector<OpWork> ops;             ///< those that launched something, in the order of `kernels`
  std::vector<DeviceWork> without_op;  ///< no operator is known to have launched them
};

/// The work of FindDeviceWork() by operator.
AllOpWork FindOpWork(const RankTrace& trace);

/// The kernel's name; of a collective its type ("hcom_allReduce_"), for its name occurs once.
std::string KernelNameOf(const RankTrace& trace, const DeviceWork& work);

}  // namespace mpa
