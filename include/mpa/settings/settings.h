// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How a run was set up, as its captures record it.
namespace mpa {

enum class SettingKind : std::uint8_t {
  kEnvironment,  ///< variables of the environment
  kProfiler,     ///< what the profiler was asked to record
  kVersion,      ///< of software: torch_npu_version, cann_version, cuda_runtime_version
  kMetadata,     ///< what the program said of itself: add_metadata(), add_metadata_json()
};
inline constexpr SettingKind kSettingKinds[] = {SettingKind::kEnvironment, SettingKind::kProfiler,
                                                SettingKind::kVersion, SettingKind::kMetadata};
/// "environment", "profiler", "version", "metadata": stable words for programs.
std::string_view NameOf(SettingKind kind);

/// Values by name. An empty value is recorded, but not set.
using SettingValues = std::map<std::string, std::string>;
/// A kind that is not there is not recorded: nothing is known of it.
using RecordedSettings = std::map<SettingKind, SettingValues>;

/// Settings of one kind that are kept; no usual capture has more.
inline constexpr std::size_t kMaxSettings = 500;

/// Adds a setting, or replaces its value, as it is kept everywhere: secrets (by the name or the
/// form of the value) are hidden, and long values shortened, with a mark that tells two of them
/// apart. False: there are kMaxSettings of the kind already.
bool AddSetting(SettingKind kind, const std::string& name, std::string value,
                RecordedSettings& settings);

/// True for what is another value in every run: paths, times, hosts, processes, addresses and ids.
bool DiffersByNature(std::string_view name, std::string_view value);

/// One list of the settings of several captures. Where they differ, the value is "0, 1"; of more
/// than three values, "0, 1, 2 and 5 more". "not set" stands for empty ones among them.
RecordedSettings JoinSettings(const std::vector<const RecordedSettings*>& captures);

/// All settings in one map, as "environment:ASCEND_LAUNCH_BLOCKING" -> "1", and back; "metadata:"
/// says that the kind is recorded, with nothing in it. Other names are left out on the way back.
SettingValues FlatSettings(const RecordedSettings& settings);
RecordedSettings SettingsFromFlat(const SettingValues& flat);

}  // namespace mpa
