// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// The component of samples that are of the whole process: no allocator, but all of them and
/// whatever else the process took.
inline constexpr std::string_view kProcessMemory = "APP";

/// What the allocators of a rank reported, all together. Every command that says how much memory
/// was reserved takes it from here. Needs memory samples.
class MemoryTotals {
 public:
  /// `only`: of these allocators; null: of all.
  explicit MemoryTotals(const RankTrace& trace, const std::set<std::string>* only = nullptr);

  struct Total {
    TimeNs time = 0;
    /// Bytes: of the framework alone, and of CANN as well; -1: not recorded.
    std::int64_t allocated = -1, reserved = -1;
  };
  const std::vector<Total>& All() const { return totals_; }  ///< in order of time, one for each
  /// Their names, "PTA", "GE"; that of a trace of torch.profiler is empty.
  const std::set<std::string>& Allocators() const { return allocators_; }
  bool HasAllocated() const { return MostAllocated() >= 0; }
  /// -1 before the first total.
  std::int64_t ReservedAt(TimeNs time) const;
  /// -1: no allocator reported anything.
  std::int64_t MostReserved() const { return most_reserved_; }
  std::int64_t MostAllocated() const;

 private:
  std::vector<Total> totals_;
  std::set<std::string> allocators_;
  std::int64_t most_reserved_ = -1;
};

/// The most bytes of the device that the whole process took; -1: not recorded.
std::int64_t MostOfProcess(const RankTrace& trace);

/// What the Python tool calls the use of memory: the largest number of any row of
/// memory_record.csv, where the process has rows, or of MEMORY_RECORD, where it has none. -1: none.
std::int64_t LargestMemorySample(const RankTrace& trace);

}  // namespace mpa
