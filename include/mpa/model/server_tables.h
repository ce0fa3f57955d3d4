// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// What a server of language models recorded of its requests, as msServiceProfiler writes it.
namespace mpa {

/// The requests. Durations are -1 where they are not recorded.
template <template <typename> class Of>
struct ServerRequestFields {
  Of<StringId> id{};
  Of<TimeNs> start{};
  Of<std::int64_t> prompt_tokens = Initially{-1}, reply_tokens = Initially{-1};
  Of<TimeNs> dur = Initially{-1};          ///< until the last token
  Of<TimeNs> queued = Initially{-1};       ///< waiting before it was scheduled
  Of<TimeNs> first_token = Initially{-1};  ///< from the start to the first token
  Of<double> hit_rate = Initially{-1.0};   ///< of its prompt in the prefix cache, 0 to 1
  Of<std::int32_t> dp_rank = Initially{-1};
  Of<StringId> instance{};  ///< of the server; empty: there is one
};
struct ServerRequests : Table<ServerRequestFields> {};

/// What the server did with batches: scheduling, execution, sampling.
template <template <typename> class Of>
struct ServerBatchFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};  ///< "BatchSchedule", "modelExec"
  Of<std::int32_t> prefill_requests{}, decode_requests{};
  Of<std::int64_t> prefill_tokens = Initially{-1}, decode_tokens = Initially{-1};
  Of<std::int64_t> iteration = Initially{-1};
  Of<std::int32_t> dp_rank = Initially{-1};
  Of<StringId> instance{};
};
struct ServerBatches : Table<ServerBatchFields> {};

/// Blocks of the cache of keys and values.
template <template <typename> class Of>
struct ServerCacheFields {
  Of<TimeNs> time{};
  Of<StringId> action{};  ///< "allocate", "free", ...
  Of<std::int64_t> free_blocks = Initially{-1}, total_blocks = Initially{-1};
  Of<double> usage = Initially{-1.0};  ///< 0 to 1
  Of<std::int32_t> dp_rank = Initially{-1};
  Of<StringId> instance{};
};
struct ServerCache : Table<ServerCacheFields> {};

/// Transfers of keys and values from prefill to decode.
template <template <typename> class Of>
struct ServerTransferFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> id{};  ///< of the request
  Of<std::int64_t> tokens = Initially{-1};
  Of<std::int32_t> rank = Initially{-1};
};
struct ServerTransfers : Table<ServerTransferFields> {};

}  // namespace mpa
