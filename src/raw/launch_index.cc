// SPDX-License-Identifier: Apache-2.0
#include "launch_index.h"

#include <algorithm>

namespace mpa::raw {

std::uint64_t TaskKey(std::uint64_t device, std::uint32_t stream, std::uint16_t batch,
                      std::uint32_t task, bool wide) {
  if (wide) return device << 52 | task;
  return device << 52 | std::uint64_t{stream & 0xFFFFFu} << 32 | std::uint64_t{batch} << 16 |
         (task & 0xFFFFu);
}

LaunchIndex::LaunchIndex(const std::vector<HostTask>& launches, bool wide)
    : launches_(launches), wide_(wide) {
  entries_.reserve(launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const HostTask& task = launches[i];
    entries_.push_back({TaskKey(task.device, task.stream, task.batch, task.task, wide),
                        static_cast<std::int32_t>(i)});
  }
  std::sort(entries_.begin(), entries_.end());
}

std::int32_t LaunchIndex::Find(std::uint64_t device, const DeviceTask& task, TimeNs start) const {
  const std::uint64_t key = TaskKey(device, task.stream, task.batch, task.task, wide_);
  auto found = std::lower_bound(entries_.begin(), entries_.end(), Entry{key, 0});
  if (found == entries_.end() || found->first != key) return -1;
  // Records of one key are in order of time.
  const auto last = std::partition_point(found + 1, entries_.end(), [&](const Entry& entry) {
    return entry.first == key && launches_[static_cast<std::size_t>(entry.second)].time <= start;
  });
  return (last - 1)->second;
}

TimeNs LaunchIndex::OnlyTime(std::uint64_t device, const DeviceTask& task) const {
  const std::uint64_t key = TaskKey(device, task.stream, task.batch, task.task, wide_);
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), Entry{key, 0});
  if (found == entries_.end() || found->first != key) return -1;
  const auto next = found + 1;
  if (next != entries_.end() && next->first == key) return -1;
  return launches_[static_cast<std::size_t>(found->second)].time;
}

}  // namespace mpa::raw
