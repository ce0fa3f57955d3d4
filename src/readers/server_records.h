// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "mpa/measure/server_spans.h"
#include "mpa/model/rank_trace.h"
#include "server_rows.h"

/// The tables of msServiceProfiler, one function each. `zone` is what their dates are ahead of UTC.
namespace mpa::readers {

/// Where the rows of a table go, and what they have in common.
struct ServerRecords {
  RankTrace& trace;
  TimeNs zone = 0;
  StringId instance{};
};

/// Calls take(start, duration) for each row of a table of spans. Those without one of the two are
/// counted as `left_out`.
template <typename Take>
void ForEachSpan(ServerRows& rows, const ServerRecords& records, const char* left_out, Take take) {
  const TimeColumn start(rows, {"start_time"}, {"start_datetime"}, records.zone);
  const DurationColumn dur(rows, {"during_time"});
  while (rows.Next(records.trace.issues)) {
    const auto at = start.Read(rows);
    const TimeNs length = dur.Read(rows);
    if (at && length >= 0) {
      take(*at, length);
    } else {
      records.trace.issues.Count(left_out, rows.Place());
    }
  }
}

/// A request in a batch.
struct ListedRequest {
  StringId id{};
  std::int32_t tokens = -1;  ///< that are computed for it; -1: not stated
  bool is_prefill = false;
};

/// Appends batches, and adds to the requests of the trace what batches tell of them. Requests that
/// only batches name get rows of their own.
class BatchAppender {
 public:
  explicit BatchAppender(const ServerRecords& records);
  /// `requests` in it and its `type` tell what the row leaves open.
  void Append(ServerBatches::Row batch, std::span<const ListedRequest> requests,
              std::string_view type);

 private:
  void AddTo(const ListedRequest& request, const ServerBatches::Row& batch, ServerSpan kind);

  RankTrace& trace_;
  StringId instance_;
  std::unordered_map<StringId, std::size_t> by_id_;  // rows of requests
  std::unordered_set<std::size_t> decodes_;          // rows of those whose prompt was read
};

/// Appends a request, or counts it as impossible.
void AppendRequest(const ServerRequests::Row& request, const std::string& place, RankTrace& trace);
/// Appends a state of the cache; what it leaves open follows from the rest.
void AppendCacheState(ServerCache::Row state, RankTrace& trace);

void ReadServerRequests(ServerRows& rows, const ServerRecords& records);
/// What servers that prefill told those that decode: adds to the requests.
void ReadServerHandovers(ServerRows& rows, const ServerRecords& records);
/// Also adds to the requests what batches tell of them.
void ReadServerBatches(ServerRows& rows, const ServerRecords& records);
void ReadServerForwards(ServerRows& rows, const ServerRecords& records);
void ReadServerSpans(ServerRows& rows, const ServerRecords& records);
/// Tokens that were guessed ahead, if the batches do not have them.
void ReadServerGuesses(ServerRows& rows, const ServerRecords& records);
void ReadServerCache(ServerRows& rows, const ServerRecords& records);
void ReadServerStatus(ServerRows& rows, const ServerRecords& records);
void ReadServerNodes(ServerRows& rows, const ServerRecords& records);
void ReadServerTransfers(ServerRows& rows, const ServerRecords& records);

}  // namespace mpa::readers
