// SPDX-License-Identifier: Apache-2.0
#include "mpa/measure/memory_totals.h"

#include <algorithm>
#include <map>

#include "mpa/base/rows_by.h"

namespace mpa {
namespace {

// "PTA+GE": what two components have together.
bool IsSum(std::string_view component) { return component.find('+') != std::string_view::npos; }

std::int64_t MostOf(const RankTrace& trace, bool with_process, bool with_allocators) {
  const MemorySamples& samples = trace.memory_samples;
  std::int64_t most = -1;
  for (std::size_t row = 0; row < samples.Size(); ++row) {
    const bool is_process = trace.strings.View(samples.component[row]) == kProcessMemory;
    if (is_process ? with_process : with_allocators)
      most = std::max(most, samples.reserved_bytes[row]);
  }
  return most;
}

}  // namespace

// What CANN ("GE") reports at a release still holds what is released.
MemoryTotals::MemoryTotals(const RankTrace& trace, const std::set<std::string>* only) {
  const MemorySamples& samples = trace.memory_samples;
  std::map<StringId, Total> last;
  for (const std::size_t row : RowsBy(samples.time)) {
    const std::string_view component = trace.strings.View(samples.component[row]);
    if (component == kProcessMemory || IsSum(component)) continue;
    if (only != nullptr && !only->contains(std::string(component))) continue;
    allocators_.emplace(component);
    if (samples.time[row] <= 0) {  // when is not known: it counts on its own
      most_reserved_ = std::max(most_reserved_, samples.reserved_bytes[row]);
      continue;
    }
    const auto own = last.try_emplace(samples.component[row]).first;
    own->second.reserved = samples.reserved_bytes[row];
    own->second.allocated = component == "GE" ? -1 : samples.allocated_bytes[row];
    Total sum{.time = samples.time[row]};
    for (const auto& [id, total] : last) {
      if (total.allocated >= 0)
        sum.allocated = std::max<std::int64_t>(sum.allocated, 0) + total.allocated;
      if (total.reserved > 0)
        sum.reserved = std::max<std::int64_t>(sum.reserved, 0) + total.reserved;
    }
    most_reserved_ = std::max(most_reserved_, sum.reserved);
    if (!totals_.empty() && totals_.back().time == sum.time) totals_.pop_back();
    totals_.push_back(sum);
  }
}

std::int64_t MemoryTotals::ReservedAt(TimeNs time) const {
  const auto behind = std::ranges::upper_bound(totals_, time, {}, &Total::time);
  return behind == totals_.begin() ? -1 : (behind - 1)->reserved;
}

std::int64_t MemoryTotals::MostAllocated() const {
  std::int64_t most = -1;
  for (const Total& total : totals_) most = std::max(most, total.allocated);
  return most;
}

std::int64_t MostOfProcess(const RankTrace& trace) {
  return MostOf(trace, /*with_process=*/true, /*with_allocators=*/false);
}

std::int64_t LargestMemorySample(const RankTrace& trace) {
  return MostOf(trace, /*with_process=*/trace.source != "database", /*with_allocators=*/true);
}

}  // namespace mpa
