// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpa/capture/capture.h"
#include "server_records.h"
#include "trace_events.h"

namespace mpa::readers {

/// Something that happened in a server, or lasted, as msServiceProfiler records it. Unknown: -1.
struct ServerEvent {
  TimeNs start = 0, dur = 0;
  StringId name{}, process{};
  StringId queue{}, batch_type{};
  StringId from{}, to{};  ///< of a link: two names of a request
  std::int64_t prompt_tokens = -1, reply_tokens = -1, queue_size = -1, tokens = -1;
  std::int64_t total_blocks = -1, free_blocks = -1;
  double hit_rate = -1, usage = -1;
  std::int32_t rank = -1;
  std::size_t first_request = 0, requests = 0;  ///< in the log

  TimeNs End() const { return start + dur; }
};

/// The events of all processes of a server, of which Finish() makes the rows that its parser would
/// write into tables: requests, batches, the cache, states and transfers.
class ServerLog {
 public:
  /// `place` is named where an event makes no sense.
  ServerLog(ServerRecords records, std::string place)
      : records_(records), place_(std::move(place)) {}

  /// Adds an event: its times, its name and what else is stated of it. Without a name that of the
  /// attributes counts.
  void Add(ServerEvent event, std::span<const EventArg> attributes);
  void SetDpRank(StringId process, std::int32_t dp_rank) { dp_ranks_[process] = dp_rank; }
  bool IsEmpty() const { return events_.empty(); }
  void Finish();

 private:
  struct Life;

  std::span<const ListedRequest> RequestsOf(const ServerEvent& event) const {
    return std::span(requests_).subspan(event.first_request, event.requests);
  }
  std::string_view NameOf(const ServerEvent& event) const {
    return records_.trace.strings.View(event.name);
  }
  std::int32_t DpRankOf(const ServerEvent& event) const;
  void TakeAttribute(const EventArg& attribute, ServerSpan kind, ServerEvent& event);
  /// Gives a request one id, whatever its processes call it.
  void UnifyIds();
  void AddRequests();
  void AddBatches();
  void AddStates();
  void AddTransfers();

  ServerRecords records_;
  std::string place_;
  std::vector<ServerEvent> events_;
  std::vector<ListedRequest> requests_;
  std::unordered_map<StringId, std::int32_t> dp_ranks_;  // of processes
};

/// The members of a JSON object, as the args of events of traces have them: texts, numbers and
/// arrays. What is not in this form ends them.
void ReadMembers(std::string_view object, std::vector<EventArg>& members);

/// ms_service_*.db, one of each process of a server. Throws Error where none can be read.
void ReadServerDatabases(const CaptureFile& files, const ServerRecords& records);
/// chrome_tracing.json, which the parser of msServiceProfiler makes of them.
void ReadServerTrace(const CaptureFile& file, const ServerRecords& records);

}  // namespace mpa::readers
