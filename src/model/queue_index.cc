// SPDX-License-Identifier: Apache-2.0
#include "mpa/model/queue_index.h"

#include <algorithm>
#include <string_view>

namespace mpa {

QueueIndex::QueueIndex(const QueuedWork& work) : work_(work) {
  for (std::size_t i = 0; i < work.Size(); ++i) rows_of_track_[work.track[i]].push_back(i);
  for (auto& [track, rows] : rows_of_track_) {
    std::ranges::stable_sort(
        rows, [&](std::size_t a, std::size_t b) { return work.start[a] < work.start[b]; });
  }
}

std::optional<std::size_t> QueueIndex::Find(std::int32_t track, TimeNs time) const {
  const auto found = rows_of_track_.find(track);
  if (found == rows_of_track_.end()) return std::nullopt;
  const std::vector<std::size_t>& rows = found->second;
  const auto after = std::partition_point(
      rows.begin(), rows.end(), [&](std::size_t row) { return work_.start[row] <= time; });
  if (after == rows.begin()) return std::nullopt;
  const std::size_t row = *std::prev(after);
  if (time > work_.start[row] + work_.dur[row]) return std::nullopt;
  return row;
}

std::optional<std::size_t> QueueIndex::FindAnywhere(TimeNs time) const {
  std::optional<std::size_t> best;
  for (const auto& [track, rows] : rows_of_track_) {
    const auto row = Find(track, time);
    if (row && (!best || work_.start[*row] > work_.start[*best])) best = row;
  }
  return best;
}

QueuedAllocations::QueuedAllocations(const RankTrace& trace)
    : trace_(trace), queue_(trace.queued_work), is_op_name_(trace.strings.Size(), false) {
  for (const StringId name : trace.host_ops.name) is_op_name_[Index(name)] = true;
}

bool QueuedAllocations::IsOfRuntime(std::size_t allocation) const {
  const StringId name = trace_.allocations.name[allocation];
  const std::string_view text = trace_.strings.View(name);
  // Exporters that drop the prefix leave the names of kernels: "trans_TransData_0".
  return text.find("cann::") != std::string_view::npos ||
         (name != StringId::kEmpty && !is_op_name_[Index(name)] &&
          text.find("::") == std::string_view::npos);
}

bool QueuedAllocations::IsQueued(std::size_t allocation) const {
  return IsOfRuntime(allocation) && Work(allocation).has_value();
}

std::optional<std::size_t> QueuedAllocations::Work(std::size_t allocation) const {
  return queue_.FindAnywhere(trace_.allocations.allocated[allocation]);
}

}  // namespace mpa
