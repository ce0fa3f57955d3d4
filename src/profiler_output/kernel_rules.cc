// SPDX-License-Identifier: Apache-2.0
#include "kernel_rules.h"

#include <algorithm>

#include "mpa/base/text.h"

namespace mpa::profiler_output {

bool HasMixedCores(const raw::Session& session) {
  const auto& devices = session.info.devices;
  return devices.empty() || std::any_of(devices.begin(), devices.end(), [](const auto& device) {
           return device.generation != raw::Generation::kHwts;
         });
}

bool IsListedKernel(const raw::Session& session, std::size_t kernel) {
  const std::string_view core = session.strings.View(session.kernels.core[kernel]);
  if (core == "COMMUNICATION") {
    return session.strings.View(session.kernels.name[kernel]).ends_with("AivKernel");
  }
  return !IsOneOf(core, {"WRITE_BACK", "INVALID", "HCCL_AI_CPU"});
}

std::string_view TaskType(const raw::Session& session, std::size_t task) {
  const raw::Tasks& tasks = session.tasks;
  if (tasks.kind[task] == raw::TaskKind::kKernel) {
    const StringId core = session.kernels.core[static_cast<std::size_t>(tasks.detail[task])];
    if (session.strings.View(core) != kNone) return session.strings.View(core);
  }
  const std::string_view host = session.strings.View(tasks.host_type[task]);
  return IsOneOf(host, {"", "UNKNOWN", "FFTS_PLUS"}) ? session.strings.View(tasks.device_type[task])
                                                     : host;
}

}  // namespace mpa::profiler_output
