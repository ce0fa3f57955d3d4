// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "pipeline/load_rank.h"

namespace mpa {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

std::int64_t MemoryOfFile(FileKind kind, const char* name, std::int64_t bytes) {
  RankInput input;
  input.files.push_back({kind, name, bytes});
  return MemoryOf(input);
}

TEST(MemoryBudget, LetsSixteenTracesOf500MegabytesIntoSixteenGigabytes) {
  // A run may take three quarters of the machine.
  EXPECT_LE(16 * MemoryOfFile(FileKind::kTraceView, "trace_view.json", 500 * kMegabyte),
            12'000 * kMegabyte);
}

// Measured peaks of whole runs: docs/performance.md and, of the gzipped trace, 75 MB for two of 8
// MB.
TEST(MemoryBudget, ReckonsWithNoLessThanWhatWasMeasured) {
  EXPECT_GE(MemoryOfFile(FileKind::kTraceView, "trace_view.json", 5990 * kMegabyte),
            2264 * kMegabyte);
  EXPECT_GE(MemoryOfFile(FileKind::kTraceView, "trace_view.json.gz", 16 * kMegabyte),
            75 * kMegabyte);
  EXPECT_GE(MemoryOfFile(FileKind::kProfilerDb, "ascend_pytorch_profiler_0.db", 713 * kMegabyte),
            474 * kMegabyte);
  EXPECT_GE(MemoryOfFile(FileKind::kRawCapture, "PROF_1", 401 * kMegabyte), 442 * kMegabyte);
}

}  // namespace
}  // namespace mpa
