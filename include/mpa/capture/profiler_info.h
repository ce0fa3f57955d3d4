// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mpa {

/// The profiler's schedule, in steps.
struct ProfilerSchedule {
  std::int64_t wait = 0, warmup = 0, active = 0, repeat = 0, skip_first = 0;
};

/// How a capture was collected, from profiler_info.json or profiler_info_<rank>.json. A member is
/// empty where the file does not say.
struct ProfilerInfo {
  std::filesystem::path path;
  std::optional<std::int64_t> rank;
  std::string rank_problem;             ///< that the document states another rank than its name
  std::string level;                    ///< "Level0", "Level1", "Level2", "Level_none"
  std::string aic_metrics;              ///< "ACL_AICORE_PIPE_UTILIZATION", ...
  std::vector<std::string> activities;  ///< "ProfilerActivity.CPU", "ProfilerActivity.NPU"
  std::optional<ProfilerSchedule> schedule;
  bool record_shapes = false, profile_memory = false, with_stack = false, with_modules = false;
  bool mstx = false;
  bool records_garbage = false;  ///< collections that Python makes, from a length on
  bool has_end = false;          ///< the profiler was stopped properly
  std::string torch_npu_version, cann_version;

  bool HasActivity(const std::string& name) const;
  /// Level0 without the CPU activity: device times only.
  bool Minimal() const { return level == "Level0" && !HasActivity("ProfilerActivity.CPU"); }
};

/// Reads the document; members of unexpected type count as absent. The number in the file's name
/// is the rank; without one, `rank_id` of the document is. Throws Error (kInput, kCorrupt).
ProfilerInfo ReadProfilerInfo(const std::filesystem::path& path);

/// The same from profiler_config.json, the request of dynamic profiling. It contains the settings,
/// but no rank, no versions and no end.
ProfilerInfo ReadProfilerConfig(const std::filesystem::path& path);

/// The number in profiler_info_<number>.json, ascend_pytorch_profiler_<number>.db and the like.
std::optional<std::int64_t> NumberInName(const std::filesystem::path& path);

}  // namespace mpa
