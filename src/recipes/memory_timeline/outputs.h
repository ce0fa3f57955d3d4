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

/// Pictures of the ranks over time and of their peaks, bounded for any number of ranks.
void AddDrawings(const Ranks& ranks, Report& report);

/// The files that export_memory_timeline of torch_npu writes: "<stem>.json" has the times in us and
/// the bytes of each category from each time on, "<stem>.raw.json" all events; with ".gz" behind
/// the name where they are packed.
std::vector<TextDocument> DocumentsOf(const std::string& stem, const RankMemory& part);

}  // namespace mpa::memory_timeline
