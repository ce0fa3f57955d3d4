// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpa/model/queue_index.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// When and on which thread the program set a mark or range.
struct MstxPlace {
  TimeNs start = 0, end = 0;
  std::int32_t track = -1;
};

/// Finds the places of mstx events. Refers to the trace. Needs mstx events and queued work.
class MstxPlaces {
 public:
  explicit MstxPlaces(const RankTrace& trace) : trace_(trace), queue_(trace.queued_work) {}

  /// An event on a stream is recorded when the task queue gets to it; its place on the host is
  /// where it was queued.
  MstxPlace Of(std::size_t row) const;

 private:
  const RankTrace& trace_;
  QueueIndex queue_;
};

}  // namespace mpa
