// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mpa/base/time.h"
#include "mpa/model/string_pool.h"
#include "mpa/model/table.h"

/// What a server of language models recorded of its requests, as msServiceProfiler writes it. The
/// instance is the folder of the server's files among those of several; empty: there is one.
namespace mpa {

/// The requests. Times and durations are -1 where they are not recorded.
template <template <typename> class Of>
struct ServerRequestFields {
  Of<StringId> id{};
  Of<TimeNs> start = Initially{-1};
  Of<std::int64_t> prompt_tokens = Initially{-1}, reply_tokens = Initially{-1};
  Of<TimeNs> dur = Initially{-1};          ///< until the last token
  Of<TimeNs> queued = Initially{-1};       ///< waiting and pending, all in all
  Of<TimeNs> first_token = Initially{-1};  ///< from the start to the first token
  Of<double> hit_rate = Initially{-1.0};   ///< of its prompt in the prefix cache, 0 to 1
  /// Points in time: of the first batch that was put together with it, when that began to run, and
  /// when the last one had run.
  Of<TimeNs> scheduled = Initially{-1}, run = Initially{-1}, ran = Initially{-1};
  Of<std::int64_t> prefill_tokens = Initially{-1};  ///< that batches scheduled of its prompt
  Of<std::int32_t> preemptions = Initially{-1};     ///< how often its prompt was read anew
  /// Where prefill and decode are separate servers, points in time: sent to decode, taken there,
  /// prompt read.
  Of<TimeNs> sent = Initially{-1}, taken = Initially{-1}, prefilled = Initially{-1};
  Of<std::int32_t> dp_rank = Initially{-1};
  Of<StringId> instance{};
};
struct ServerRequests : Table<ServerRequestFields> {};

/// What the server did with batches, and spans of other work by their names: scheduling, execution,
/// the forward pass, sampling.
template <template <typename> class Of>
struct ServerBatchFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> name{};  ///< "BatchSchedule", "modelExec", "forward", "sample"
  Of<std::int32_t> requests = Initially{-1};
  Of<std::int32_t> prefill_requests = Initially{-1}, decode_requests = Initially{-1};
  Of<std::int64_t> prefill_tokens = Initially{-1}, decode_tokens = Initially{-1};  ///< scheduled
  Of<std::int64_t> free_blocks = Initially{-1}, total_blocks = Initially{-1};
  Of<double> accepted_ratio = Initially{-1.0};  ///< of tokens that were guessed ahead, 0 to 1
  Of<std::int64_t> iteration = Initially{-1};
  Of<std::int32_t> dp_rank = Initially{-1};
  Of<StringId> process{};  ///< of a card; empty: unknown
  Of<StringId> instance{};
};
struct ServerBatches : Table<ServerBatchFields> {};

/// Blocks of the cache of keys and values.
template <template <typename> class Of>
struct ServerCacheFields {
  Of<TimeNs> time{};
  Of<StringId> action{};  ///< "KVCacheStatus", "allocate", "Free"
  Of<std::int64_t> free_blocks = Initially{-1}, total_blocks = Initially{-1};
  Of<std::int64_t> allocated = Initially{-1}, freed = Initially{-1};
  Of<double> usage = Initially{-1.0};  ///< 0 to 1
  Of<std::int32_t> dp_rank = Initially{-1};
  Of<StringId> instance{};
};
struct ServerCache : Table<ServerCacheFields> {};

/// How many requests are in a state, of a process or of a node that others send requests to. -1:
/// not recorded at this time.
template <template <typename> class Of>
struct ServerLoadFields {
  Of<TimeNs> time{};
  Of<std::int64_t> waiting = Initially{-1}, running = Initially{-1}, swapped = Initially{-1};
  Of<std::int64_t> added = Initially{-1}, ended = Initially{-1};  ///< since the row before
  Of<StringId> node{};   ///< process, or address of the node
  Of<StringId> phase{};  ///< of a node: "prefill", "decode"
  Of<StringId> instance{};
};
struct ServerLoad : Table<ServerLoadFields> {};

/// Transfers of keys and values from prefill to decode.
template <template <typename> class Of>
struct ServerTransferFields {
  Of<TimeNs> start{}, dur{};
  Of<StringId> id{};  ///< of the request
  Of<std::int64_t> tokens = Initially{-1};
  Of<std::int32_t> rank = Initially{-1};
  Of<StringId> instance{};
};
struct ServerTransfers : Table<ServerTransferFields> {};

}  // namespace mpa
