// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "mpa/settings/settings.h"

namespace mpa {

/// A setting with values that are known to cost time: a variable, or a switch of the profiler.
struct CostlySetting {
  std::string_view name;
  bool (*is_poor)(const std::string& value);  ///< never asked about an empty value
  std::string_view costs;                     ///< what a poor value does
};

/// Null: none of its values is known to cost time by itself.
const CostlySetting* CostlySettingNamed(std::string_view name);

/// True if the setting has no effect beside the others: the second stage of the queue
/// (TASK_QUEUE_ENABLE) does not exist while every launch waits (ASCEND_LAUNCH_BLOCKING).
bool HasNoEffect(std::string_view name, const SettingValues& among);

/// True if the value that the setting has among these is known to cost time.
bool CostsTime(std::string_view name, const SettingValues& among);

}  // namespace mpa
