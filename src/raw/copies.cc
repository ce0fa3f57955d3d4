// SPDX-License-Identifier: Apache-2.0
// Sizes and directions of copies. A large copy is cut into several tasks.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "cann_stages.h"

namespace mpa::raw {
namespace {

constexpr std::int64_t kOtherDirection = 65535;

// The records of copies and the bytes that remain in each for further tasks.
class CopyRecords {
 public:
  CopyRecords(const HostCalls& calls, const HostSide& host, std::vector<CopyInfo> copies)
      : copies_(std::move(copies)) {
    std::sort(copies_.begin(), copies_.end(), [](const CopyInfo& a, const CopyInfo& b) {
      return std::tie(a.thread, a.time) < std::tie(b.thread, b.time);
    });
    left_.reserve(copies_.size());
    for (const CopyInfo& copy : copies_) left_.push_back(copy.bytes);
    of_calls_ = RecordsOfCalls(calls.Size(), CallsAroundRecords(calls, host.tree, copies_));
  }

  // The size and direction of the next task of the record with the time stamp of the task; writers
  // that stamp it later have it in the same call.
  Copies::Row Take(const HostTask& task, std::int32_t call) {
    Copies::Row row{.direction = kOtherDirection};
    const std::size_t record = Find(task, call);
    if (record == copies_.size() || left_[record] == 0) return row;
    const CopyInfo& copy = copies_[record];
    const std::uint64_t bytes =
        copy.bytes_per_task == 0 ? left_[record] : std::min(left_[record], copy.bytes_per_task);
    left_[record] -= bytes;
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    row.bytes = static_cast<std::int64_t>(std::min(bytes, kMost));
    constexpr std::uint16_t kLastDirection = 7;
    if (copy.direction <= kLastDirection) row.direction = copy.direction;
    return row;
  }

 private:
  std::size_t Find(const HostTask& task, std::int32_t call) const {
    const auto exact = std::lower_bound(
        copies_.begin(), copies_.end(), task, [](const CopyInfo& a, const HostTask& b) {
          return std::tie(a.thread, a.time) < std::tie(b.thread, b.time);
        });
    if (exact != copies_.end() && exact->thread == task.thread && exact->time == task.time) {
      return static_cast<std::size_t>(exact - copies_.begin());
    }
    const auto in_call = of_calls_.Of(call);
    const auto after = std::partition_point(in_call.begin(), in_call.end(), [&](std::uint32_t i) {
      return copies_[i].time < task.time;
    });
    return after == in_call.end() ? copies_.size() : *after;
  }

  std::vector<CopyInfo> copies_;
  std::vector<std::uint64_t> left_;
  RecordsOfCalls of_calls_;
};

}  // namespace

void FindCopies(const HostInput& input, const HostSide& host, const TaskOrigins& origins,
                Session& session) {
  CopyRecords records(session.calls, host, ReadCopyInfos(input));
  for (std::size_t row = 0; row < origins.host_task.size(); ++row) {
    if (session.strings.View(session.tasks.host_type[row]) != "MEMCPY_ASYNC") continue;
    const auto host_row = static_cast<std::size_t>(origins.host_task[row]);
    Copies::Row copy = records.Take(host.tasks[host_row], host.call_of_task[host_row]);
    copy.task = static_cast<std::int32_t>(row);
    session.copies.Append(copy);
  }
}

}  // namespace mpa::raw
