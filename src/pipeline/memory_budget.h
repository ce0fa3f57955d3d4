// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "mpa/capture/capture.h"

namespace mpa {

/// The memory that a rank takes at most while it is read and condensed: an estimate.
std::int64_t MemoryOf(const RankInput& input);

/// Lets ranks into memory as long as there is room; one is always let in.
class MemoryBudget {
 public:
  /// 0 or less: no limit.
  explicit MemoryBudget(std::int64_t bytes) : bytes_(bytes) {}

  /// The memory of a rank for as long as this lives; waits until there is room.
  class Share {
   public:
    Share(MemoryBudget& budget, const RankInput& rank);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    MemoryBudget& budget_;
    const std::int64_t bytes_;
  };

 private:
  const std::int64_t bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t taken_ = 0;
};

}  // namespace mpa
