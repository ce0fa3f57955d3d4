// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/settings/settings.h"

namespace mpa {

/// A setting with another value on the other side.
struct SettingDifference {
  SettingKind kind{};
  std::string name;
  /// No value: the side does not record this setting, but others of its kind.
  std::optional<std::string> base, comparison;
  bool base_costs = false, comparison_costs = false;  ///< the value is known to cost time
  std::string_view costs{};                           ///< what such a value does; empty: unknown

  friend bool operator==(const SettingDifference&, const SettingDifference&) = default;
};

/// The settings of two runs side by side.
struct ComparedSettings {
  /// What costs time in the comparison, what cost time in the base, then by kind and name.
  std::vector<SettingDifference> differing;
  /// Kinds that only one side records: nothing is said of what differs in them.
  std::vector<SettingKind> only_in_base, only_in_comparison;
  std::size_t compared = 0;  ///< how many settings both sides record

  friend bool operator==(const ComparedSettings&, const ComparedSettings&) = default;
};

/// What differs between the runs. Values that differ by nature are left out (DiffersByNature). A
/// variable or metadata that one side alone has is a difference if that side sets it. A switch or
/// version that one side alone states is not a difference: older profilers do not record all of
/// them.
ComparedSettings CompareSettings(const RecordedSettings& base, const RecordedSettings& comparison);

/// "settings that differ: A 0 -> 1 (costs time: the host waits ...), B 2 -> 3; 4 more: see check",
/// in one line of about 400 characters at most. Long values begin shortly before the place in which
/// they differ. Empty: none is known to differ.
std::string SettingsLine(const ComparedSettings& compared);

}  // namespace mpa
