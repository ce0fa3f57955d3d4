// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/operations.h"

namespace mpa {

/// Variables of one rank and the switches of its profiler ("profiler.stack"), as captures record
/// them.
using Settings = std::map<std::string, std::string>;

/// A variable of the environment that bears on the performance.
struct Variable {
  std::string_view name;
  bool must_agree = false;       ///< all ranks of a job should have the same value
  bool is_finding = false;       ///< its poor values are findings; others stand in the sheet alone
  std::string_view advice = {};  ///< what to set instead of a value that costs time
  std::string_view better = {};  ///< that value
  std::vector<const FindingType*> serves = {};  ///< findings that it adds to, the nearest first
};

/// In the order in which they are judged.
const std::vector<Variable>& Variables();
/// null: it is not known to bear on the performance.
const Variable* VariableNamed(std::string_view name);
/// What to do where ranks should agree.
inline constexpr std::string_view kAgree = "set the same value on all ranks";

/// Workspaces are then allocated beside what computes.
inline constexpr std::string_view kTaskQueueAdvice =
    "TASK_QUEUE_ENABLE=2 (raises peak device memory)";

/// Empty: not set, or not recorded.
std::string ValueIn(const Settings& settings, std::string_view name);
/// What ranks can have in common: the mode of CPU_AFFINITY_CONF, not the cores of each device
/// behind it.
std::string AgreedPart(std::string_view variable, const std::string& value);
/// True if the rank's value of the variable costs time, see mpa/settings/costly.h.
bool IsPoor(const Variable& variable, const Settings& settings);
/// What such a value does; empty: no value costs time by itself.
std::string_view CostsOf(const Variable& variable);
/// True if the rank has the value already, or would not heed it.
bool IsDone(std::string_view variable, std::string_view value, const Settings& settings);

/// What advice on these ranks has to fit; without what single findings know of their calls.
AdviceFacts FactsOf(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds);

/// Those of all ranks that bear on the performance, as Diagnosis::settings has them, and all that
/// are recorded, as FlatSettings() has them.
std::map<std::string, std::string> SettingsOf(const std::vector<DiagnosedRank>& ranks);

}  // namespace mpa
