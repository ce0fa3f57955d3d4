// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mpa/diagnosis/timeline_plan.h"
#include "mpa/measure/intervals.h"
#include "mpa/pipeline/cluster.h"

namespace mpa {

/// Slices that a trace holds at most, unless the user wants more or fewer: viewers open it well.
inline constexpr std::size_t kUsualSlices = 1'000'000;

/// Which part of a job is written, and where to.
struct TimelineExport {
  ClusterRequest ranks;
  std::optional<std::int32_t> step{};
  std::optional<Interval> window{};  ///< on the clock of the job; with `step` it has no effect
  bool python = false;
  std::size_t most = kUsualSlices;
  std::filesystem::path path;  ///< ends in .json or .json.gz
};

struct ExportedTimeline {
  std::vector<std::string> lines;  ///< for the screen
  std::vector<std::string> notes;  ///< of reading the ranks
  bool partial = false;            ///< ranks or parts of them had to be left out
};

/// Reads the ranks and writes the trace, whole or not at all. Throws Error (kInput) when nothing
/// lies in that part, and Error (kOutput).
ExportedTimeline ExportTimeline(const TimelinePlan& plan, const TimelineExport& wanted);

}  // namespace mpa
