// SPDX-License-Identifier: Apache-2.0
#include "kernel_rules.h"

#include <algorithm>

namespace mpa::profiler_output {

bool HasMixedCores(const raw::Session& session) {
  const auto& devices = session.info.devices;
  return devices.empty() || std::any_of(devices.begin(), devices.end(), [](const auto& device) {
           return device.generation != raw::Generation::kHwts;
         });
}

}  // namespace mpa::profiler_output
