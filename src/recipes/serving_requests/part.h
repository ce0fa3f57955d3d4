// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/server_spans.h"
#include "mpa/model/rank_trace.h"
#include "mpa/recipe/recipe.h"

namespace mpa::recipes::serving_requests {

/// A request with what its transfer tells. Unknown: -1.
struct Request {
  std::string id{};
  TimeNs start = -1;
  std::int64_t prompt_tokens = -1, reply_tokens = -1;
  TimeNs dur = -1, queued = -1, first_token = -1;
  double hit_rate = -1;
  TimeNs scheduled = -1, ran = -1;
  std::int64_t prefill_tokens = -1;
  std::int32_t preemptions = -1;
  TimeNs prefilled = -1;
  TimeNs transfer_start = -1, transfer_dur = -1;
  std::int64_t transfer_tokens = -1;
  std::int32_t transfer_rank = -1, dp_rank = -1;

  /// To the first token, without the queue; -1: unknown.
  TimeNs FirstTokenBehindQueue() const {
    return first_token < 0 ? -1 : first_token - std::clamp<TimeNs>(queued, 0, first_token);
  }
};

/// A batch, or another span.
struct Span {
  static constexpr bool kInColumns = true;
  TimeNs start = 0, dur = 0;
  ServerSpan kind{};
  std::int32_t requests = -1, prefill_requests = -1, decode_requests = -1;
  std::int64_t prefill_tokens = -1, decode_tokens = -1;
  std::int64_t free_blocks = -1, total_blocks = -1;
  std::int32_t dp_rank = -1, process = -1;  ///< a position in ServerPart::names

  TimeNs End() const { return start + dur; }
};

struct CacheState {
  static constexpr bool kInColumns = true;
  TimeNs time = 0;
  std::int64_t free_blocks = -1, total_blocks = -1;
  std::int32_t dp_rank = -1;
};

struct LoadState {
  static constexpr bool kInColumns = true;
  TimeNs time = 0;
  std::int64_t waiting = -1, running = -1, swapped = -1;
};

/// What one instance of a server recorded, or when the device of a capture beside was busy.
struct ServerPart {
  std::string name{};  ///< of its folder
  bool is_server = false;
  std::vector<Request> requests{};
  std::vector<Span> spans{};  ///< by start
  std::vector<CacheState> cache{};
  std::vector<LoadState> load{};
  std::vector<std::string> names{};
  Intervals busy{};  ///< when a device had work
};

ServerPart MapServer(const RankTrace& trace, const RecipeArguments& arguments);
/// Throws Error (kCorrupt) for a part that MapServer() does not make.
void CheckServer(const ServerPart& part);

}  // namespace mpa::recipes::serving_requests
