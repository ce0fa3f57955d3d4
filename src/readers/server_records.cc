// SPDX-License-Identifier: Apache-2.0
// Requests, blocks of the cache, states and transfers of a server.
#include "server_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "mpa/base/language.h"

namespace mpa::readers {
namespace {

std::string_view IdOf(const ServerRows& rows, std::optional<std::size_t> column) {
  const std::string_view id = rows[column];
  // Numbers become real where a column has cells without one.
  return id.ends_with(".0") ? id.substr(0, id.size() - 2) : id;
}

TimeNs OrUnknown(std::optional<TimeNs> time) { return time.value_or(-1); }

}  // namespace

void AppendRequest(const ServerRequests::Row& request, const std::string& place, RankTrace& trace) {
  if (request.dur >= 0 && request.first_token > request.dur)
    trace.issues.Count("request left out, its first token is later than its end", place);
  else
    trace.server_requests.Append(request);
}

void AppendCacheState(ServerCache::Row state, RankTrace& trace) {
  if (state.total_blocks == 0) state.total_blocks = state.free_blocks = -1;
  // Releases of 2025 leave out the sum.
  if (state.total_blocks < 0 && state.free_blocks >= 0 && state.usage >= 0 && state.usage < 1)
    state.total_blocks =
        static_cast<std::int64_t>(static_cast<double>(state.free_blocks) / (1 - state.usage) + 0.5);
  if (state.usage < 0 && state.total_blocks > 0 && state.free_blocks >= 0)
    state.usage = 1 - static_cast<double>(std::min(state.free_blocks, state.total_blocks)) /
                          static_cast<double>(state.total_blocks);
  trace.server_cache.Append(state);
}

void ReadServerRequests(ServerRows& rows, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  const auto id = rows.Find({"http_rid", "rid"});
  const TimeColumn start(rows, {"start_time", "start_time_httpReq"}, {"start_datetime"},
                         records.zone);
  const auto prompt = rows.Find({"recv_token_size"}), reply = rows.Find({"reply_token_size"});
  const DurationColumn dur(rows, {"execution_time"}), queued(rows, {"queue_wait_time"});
  const DurationColumn first(rows, {"first_token_latency"});
  const auto hits = rows.Find({"cache_hit_rate"});
  const auto dp_rank = rows.Find({"dp_rank"});
  while (rows.Next(trace.issues)) {
    if (rows[id].empty()) {
      trace.issues.Count("request left out, it has no id", rows.Place());
      continue;
    }
    AppendRequest({.id = trace.strings.Intern(IdOf(rows, id)),
                   .start = OrUnknown(start.Read(rows)),
                   .prompt_tokens = CountIn(rows[prompt]),
                   .reply_tokens = CountIn(rows[reply]),
                   .dur = dur.Read(rows),
                   .queued = queued.Read(rows),
                   .first_token = first.Read(rows),
                   .hit_rate = ShareIn(rows[hits]),
                   .dp_rank = SmallCountIn(rows[dp_rank]),
                   .instance = records.instance},
                  rows.Place(), trace);
  }
}

void ReadServerHandovers(ServerRows& rows, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  ServerRequests& requests = trace.server_requests;
  std::unordered_map<StringId, std::size_t> by_id;
  for (std::size_t i = 0; i < requests.Size(); ++i) {
    if (requests.instance[i] == records.instance) by_id.try_emplace(requests.id[i], i);
  }
  const auto id = rows.Find({"rid"});
  const auto column = [&](std::string_view name) {
    return TimeColumn(rows, {name}, {}, records.zone);
  };
  const TimeColumn start = column("http_req_time"), sent = column("send_request_time"),
                   taken = column("send_request_succ_time"), prefilled = column("prefill_res_time"),
                   end = column("request_end_time");
  while (rows.Next(trace.issues)) {
    if (rows[id].empty()) {
      trace.issues.Count("request left out, it has no id", rows.Place());
      continue;
    }
    const StringId request = trace.strings.Intern(IdOf(rows, id));
    const auto [found, is_new] = by_id.try_emplace(request, requests.Size());
    if (is_new) {
      ServerRequests::Row row{
          .id = request, .start = OrUnknown(start.Read(rows)), .instance = records.instance};
      const auto ended = end.Read(rows);
      if (ended && row.start >= 0 && IsDuration(*ended - row.start)) row.dur = *ended - row.start;
      requests.Append(row);
    }
    requests.sent[found->second] = OrUnknown(sent.Read(rows));
    requests.taken[found->second] = OrUnknown(taken.Read(rows));
    requests.prefilled[found->second] = OrUnknown(prefilled.Read(rows));
  }
}

void ReadServerCache(ServerRows& rows, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  const TimeColumn time(rows, {"start_time"}, {"start_datetime"}, records.zone);
  const auto action = rows.Find({"name"});
  const auto total = rows.Find({"total_blocks"});
  const auto free = rows.Find({"free_blocks", "device_kvcache_left"});
  const auto allocated = rows.Find({"blocks_allocated"}), freed = rows.Find({"blocks_freed"});
  const auto usage = rows.Find({"kvcache_usage_rate", "usage_percent"});
  const auto dp_rank = rows.Find({"dp_rank"});
  while (rows.Next(trace.issues)) {
    const auto at = time.Read(rows);
    if (!at) {
      trace.issues.Count("state of the cache left out, invalid time", rows.Place());
      continue;
    }
    AppendCacheState({.time = *at,
                      .action = trace.strings.Intern(rows[action]),
                      .free_blocks = CountIn(rows[free]),
                      .total_blocks = CountIn(rows[total]),
                      .allocated = CountIn(rows[allocated]),
                      .freed = CountIn(rows[freed]),
                      .usage = ShareIn(rows[usage]),
                      .dp_rank = SmallCountIn(rows[dp_rank]),
                      .instance = records.instance},
                     trace);
  }
}

void ReadServerStatus(ServerRows& rows, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  const TimeColumn time(rows, {"timestamp"}, {"start_datetime"}, records.zone);
  const auto host = rows.Find({"hostuid"}), pid = rows.Find({"pid"});
  const auto waiting = rows.Find({"waiting", "WAITING"}),
             running = rows.Find({"running", "RUNNING"}),
             swapped = rows.Find({"swapped", "SWAPPED"});
  // The database has the state and the number of its requests in each row.
  const auto state = rows.Find({"status"}), size = rows.Find({"QueueSize="});
  while (rows.Next(trace.issues)) {
    const auto at = time.Read(rows);
    if (!at) {
      trace.issues.Count("state of requests left out, invalid time", rows.Place());
      continue;
    }
    ServerLoad::Row row{.time = *at,
                        .waiting = CountIn(rows[waiting]),
                        .running = CountIn(rows[running]),
                        .swapped = CountIn(rows[swapped]),
                        .instance = records.instance};
    if (rows[state] == "WAITING") row.waiting = CountIn(rows[size]);
    if (rows[state] == "RUNNING") row.running = CountIn(rows[size]);
    if (rows[state] == "SWAPPED") row.swapped = CountIn(rows[size]);
    if (!rows[pid].empty())
      row.node =
          trace.strings.Intern(rows[host].empty() ? std::string(rows[pid])
                                                  : fmt::format("{}:{}", rows[host], rows[pid]));
    trace.server_load.Append(row);
  }
}

void ReadServerNodes(ServerRows& rows, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  const TimeColumn time(rows, {"time"}, {"time"}, records.zone);
  const auto address = rows.Find({"address"}), phase = rows.Find({"node_type"});
  const auto added = rows.Find({"add_count"}), ended = rows.Find({"end_count"}),
             running = rows.Find({"running_count"});
  while (rows.Next(trace.issues)) {
    const auto at = time.Read(rows);
    if (!at) {
      trace.issues.Count("state of requests left out, invalid time", rows.Place());
      continue;
    }
    trace.server_load.Append({.time = *at,
                              .running = CountIn(rows[running]),
                              .added = CountIn(rows[added]),
                              .ended = CountIn(rows[ended]),
                              .node = trace.strings.Intern(rows[address]),
                              .phase = trace.strings.Intern(rows[phase]),
                              .instance = records.instance});
  }
}

void ReadServerTransfers(ServerRows& rows, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  const auto id = rows.Find({"rid"}), tokens = rows.Find({"seq_len", "batch_seq_len"}),
             rank = rows.Find({"rank"});
  constexpr const char* kInvalid = ToTranslate("transfer left out, invalid start or duration");
  ForEachSpan(rows, records, kInvalid, [&](TimeNs start, TimeNs dur) {
    trace.server_transfers.Append({.start = start,
                                   .dur = dur,
                                   .id = trace.strings.Intern(IdOf(rows, id)),
                                   .tokens = CountIn(rows[tokens]),
                                   .rank = SmallCountIn(rows[rank]),
                                   .instance = records.instance});
  });
}

}  // namespace mpa::readers
