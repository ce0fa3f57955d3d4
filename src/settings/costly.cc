// SPDX-License-Identifier: Apache-2.0
// What is known to cost time: variables as the environment references of torch_npu and CANN
// describe them, and what the profiler keeps of every call.
#include "mpa/settings/costly.h"

#include <algorithm>
#include <cstdint>

#include "mpa/base/text.h"

namespace mpa {
namespace {

bool IsOn(const std::string& value) { return value != "0" && value != "off"; }

constexpr std::string_view kWaits = "the host waits for the device at every launch";
constexpr std::string_view kStacks = "host times are inflated, most for small operators";
constexpr std::string_view kDetails =
    "every operator and allocation takes a little longer on the host";

constexpr CostlySetting kCostly[] = {
    {"ASCEND_LAUNCH_BLOCKING", IsOn, kWaits},
    {"CUDA_LAUNCH_BLOCKING", IsOn, kWaits},
    // 3 is "errors only", 4 nothing.
    {"ASCEND_GLOBAL_LOG_LEVEL",
     [](const std::string& value) { return value == "0" || value == "1" || value == "2"; },
     "the host writes a log of what it does"},
    {"TASK_QUEUE_ENABLE", [](const std::string& value) { return value == "0"; },
     "the thread that calls operators also launches them"},
    {"HCCL_DETERMINISTIC",
     [](const std::string& value) {
       return value == "true" || value == "TRUE" || value == "strict";
     },
     "a fixed order of the sums slows collectives"},
    // The default of 10000 is what the vendor advises to leave.
    {"ACLNN_CACHE_LIMIT",
     [](const std::string& value) {
       return WholeNumber<std::int64_t>(value).value_or(10'000) < 10'000;
     },
     "few prepared operators are cached for their next call"},
    {"PYTORCH_NPU_ALLOC_CONF",
     [](const std::string& value) {
       return value.find("expandable_segments:True") == std::string::npos;
     },
     "device memory segments cannot grow"},
    {"with_stack", IsOn, kStacks},
    {"with_modules", IsOn, kStacks},
    {"record_shapes", IsOn, kDetails},
    {"profile_memory", IsOn, kDetails},
    {"profiler_level", [](const std::string& value) { return value == "Level2"; },
     "more is recorded of every launch"},
};

std::string ValueOf(std::string_view name, const SettingValues& among) {
  const auto found = among.find(std::string(name));
  return found == among.end() ? "" : found->second;
}

}  // namespace

const CostlySetting* CostlySettingNamed(std::string_view name) {
  const auto* found = std::ranges::find(kCostly, name, &CostlySetting::name);
  return found == std::end(kCostly) ? nullptr : found;
}

bool HasNoEffect(std::string_view name, const SettingValues& among) {
  const std::string blocking = ValueOf("ASCEND_LAUNCH_BLOCKING", among);
  return name == "TASK_QUEUE_ENABLE" && !blocking.empty() && IsOn(blocking);
}

bool CostsTime(std::string_view name, const SettingValues& among) {
  const CostlySetting* setting = CostlySettingNamed(name);
  const std::string value = ValueOf(name, among);
  return setting != nullptr && !value.empty() && setting->is_poor(value) &&
         !HasNoEffect(name, among);
}

}  // namespace mpa
