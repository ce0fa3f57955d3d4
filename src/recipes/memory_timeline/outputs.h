// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/report/report.h"
#include "part.h"

namespace mpa::memory_timeline {

/// The sheets MemoryRanks, MemoryPeak, MemoryByStep, MemoryGrowth and MemoryOverTime.
void AddSheets(const Ranks& ranks, Report& report);

/// The peak, what held it, growth and fragmentation.
void AddLines(const Ranks& ranks, Detail detail, Report& report);

/// The files that export_memory_timeline of torch_npu writes: "<stem>.json" has the times in us and
/// the bytes of each category from each time on, "<stem>.raw.json" all events, "<stem>.html" a
/// picture.
std::vector<TextDocument> DocumentsOf(const std::string& stem, const RankMemory& part);

}  // namespace mpa::memory_timeline
