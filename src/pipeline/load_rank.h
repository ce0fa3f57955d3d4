// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mpa/capture/capture.h"
#include "mpa/model/rank_trace.h"
#include "mpa/readers/reader.h"

namespace mpa {

struct LoadedRank {
  RankTrace trace;
  std::vector<std::string> notes;  ///< files that are missing, rows that were left out
  bool partial = false;            ///< something was there but broken
};

/// The number of the rank as its settings, the name of its database or its raw data say; -1:
/// unknown.
std::int64_t RankNumberOf(const RankInput& input);

/// Reads the wanted tables of a rank, ties device work to its launches and keeps only `step` if
/// one is given. A broken side file costs its table, not the rank; the trace or database itself
/// must be readable, or Error is thrown.
LoadedRank LoadRank(const RankInput& input, const ReadRequest& request,
                    std::optional<std::int32_t> step);

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
