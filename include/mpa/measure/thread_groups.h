// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/model/rank_trace.h"

namespace mpa {

/// Threads (tracks) in groups. Threads that work for one another are of one group: one runs the
/// backward pass of what the other ran forward, and the other waits for it. Others are groups of
/// their own.
class ThreadGroups {
 public:
  static constexpr std::int32_t kAnyThread = -1;

  explicit ThreadGroups(const RankTrace& trace);

  /// The group of a thread; kAnyThread for -1.
  std::int32_t Of(std::int32_t track) const {
    return track < 0 ? kAnyThread : groups_[static_cast<std::size_t>(track)];
  }
  /// The group whose operators a range or mark on this thread is about. A thread without operators
  /// says nothing of whose they are.
  std::int32_t OfMark(std::int32_t track) const;

 private:
  std::vector<std::int32_t> groups_;  // by track
  std::vector<bool> runs_ops_;        // by group
};

}  // namespace mpa
