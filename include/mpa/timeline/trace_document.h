// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/timeline/rank_slices.h"

namespace mpa {

/// A moment on a rank that a finding points to.
struct TraceMark {
  RankId rank{};
  TimeNs time = 0;   ///< on the clock of the job
  std::string name;  ///< "1 rank.late/r5"
  std::vector<std::pair<std::string, std::string>> details;
};

/// A Chrome trace, which Perfetto and chrome://tracing open: a process for each rank.
struct TraceDocument {
  std::vector<RankSlices> ranks;
  std::vector<TraceMark> marks;
  /// Of "otherData", besides the moment where the times begin.
  std::vector<std::pair<std::string, std::string>> facts;
  TimeNs first_step = 0;  ///< begin of the first step of the job, on its clock
};

/// What was written.
struct TraceCounts {
  std::size_t slices = 0, arrows = 0, marks = 0;
  TimeNs begin = 0, end = 0;  ///< of all slices, on the clock of the job
};

/// Writes the trace, packed with gzip if the name ends in ".gz". Times begin at 0 with the first
/// slice or mark. Throws Error (kOutput).
TraceCounts WriteTrace(const TraceDocument& document, const std::filesystem::path& path,
                       bool packed);

}  // namespace mpa
