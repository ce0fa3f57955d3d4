// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "mpa/model/rank_trace.h"

namespace mpa::export_summary {

/// A CSV file that the profiler writes for text captures.
struct SummaryFile {
  std::string text;       ///< empty: there is nothing to write
  std::int64_t rows = 0;  ///< below the header
};

/// kernel_details.csv: kernels and collectives in order of device and start.
SummaryFile KernelDetails(const RankTrace& trace);

/// api_statistic.csv: durations of the calls of CANN on the host, by name and level.
SummaryFile ApiStatistic(const RankTrace& trace);

/// A file of a text capture, as it is; without text if the capture lacks it.
SummaryFile FileOfCapture(const RankTrace& trace, const char* name);

}  // namespace mpa::export_summary
