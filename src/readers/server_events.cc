// SPDX-License-Identifier: Apache-2.0
// From the events of a server to the rows of its tables.
#include "server_events.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"
#include "res_list.h"

namespace mpa::readers {
namespace {

bool IsAnyOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool IsBatch(ServerSpan kind) {
  return kind == ServerSpan::kSchedule || kind == ServerSpan::kExecute ||
         kind == ServerSpan::kRunner || kind == ServerSpan::kGuess;
}

// The types of batches that MindIE writes as numbers.
std::string_view TypeOfBatch(std::string_view text) {
  if (text == "0") return "Prefill";
  return text == "1" ? "Decode" : text;
}

// Events of the engine of vLLM add eight digits to the id that the request came with.
std::string_view WithoutSuffix(std::string_view id) {
  constexpr std::size_t kSuffix = 9;
  if (id.size() <= kSuffix || id[id.size() - kSuffix] != '-') return id;
  const std::string_view digits = id.substr(id.size() - kSuffix + 1);
  const bool is_suffix = digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_suffix ? id.substr(0, id.size() - kSuffix) : id;
}

}  // namespace

std::int32_t ServerLog::DpRankOf(const ServerEvent& event) const {
  const auto found = dp_ranks_.find(event.process);
  return found == dp_ranks_.end() ? -1 : found->second;
}

void ServerLog::TakeAttribute(const EventArg& attribute, ServerSpan kind, ServerEvent& event) {
  const auto& [key, value, escaped] = attribute;
  StringPool& strings = records_.trace.strings;
  if (key == "rid" || key == "res_list") {
    if (event.requests > 0) return;  // a trace may have both
    event.first_request = requests_.size();
    if (IsBatch(kind)) {
      for (const BatchedRequest& request : RequestsIn(value))
        requests_.push_back(
            {strings.Intern(request.id), SmallCount(request.tokens), request.is_prefill});
    } else {
      for (const std::string& id : IdsIn(value)) requests_.push_back({.id = strings.Intern(id)});
    }
    event.requests = requests_.size() - event.first_request;
  }
  if (key == "recvTokenSize=") event.prompt_tokens = CountIn(value);
  if (key == "replyTokenSize=") event.reply_tokens = CountIn(value);
  if (key == "hitCache") event.hit_rate = ShareIn(value);
  if (key == "QueueSize=") event.queue_size = CountIn(value);
  if (key == "status" || key == "scope#QueueName") event.queue = strings.Intern(ToLower(value));
  if (key == "batch_type" || key == "batchType")
    event.batch_type = strings.Intern(TypeOfBatch(value));
  if (key == "TotalBlocks=") event.total_blocks = CountIn(value);
  if (key == "FreeBlocksAfter=") event.free_blocks = CountIn(value);
  if ((key == "FreeBlocks=" || key == "deviceBlock=") && event.free_blocks < 0)
    event.free_blocks = CountIn(value);
  if (key == "UsagePercent=") {
    const double usage = io::ParseReal(value).value_or(-1);  // whatever its name says
    event.usage = ShareIn(usage > 1 ? std::to_string(usage / 100) : std::string(value));
  }
  if (key == "rank") event.rank = SmallCountIn(value);
  if (key == "seq_len" || key == "batch_seq_len") event.tokens = CountIn(value);
  if (key == "from") event.from = strings.Intern(value);
  if (key == "to") event.to = strings.Intern(value);
}

void ServerLog::Add(ServerEvent event, std::span<const EventArg> attributes) {
  if (event.name == StringId::kEmpty) {
    for (const EventArg& attribute : attributes) {
      if (attribute.key == "name") event.name = records_.trace.strings.Intern(attribute.value);
    }
  }
  const ServerSpan kind = KindOfSpan(NameOf(event));
  for (const EventArg& attribute : attributes) TakeAttribute(attribute, kind, event);
  events_.push_back(event);
}

void ServerLog::UnifyIds() {
  StringPool& strings = records_.trace.strings;
  // A process may know a request by a number of its own; numbers mean nothing elsewhere.
  std::map<std::pair<StringId, StringId>, StringId> own;  // by process
  std::unordered_map<StringId, StringId> links;
  std::unordered_set<std::string_view> original;
  for (const ServerEvent& event : events_) {
    if (event.from != StringId::kEmpty && event.to != StringId::kEmpty) {
      own[{event.process, event.to}] = event.from;
      if (!io::ParseInt(strings.View(event.to))) links[event.to] = event.from;
    }
    if (!IsAnyOf(NameOf(event), {"httpReq", "tokenize"})) continue;
    for (const ListedRequest& request : RequestsOf(event))
      original.insert(strings.View(request.id));
  }
  for (const ServerEvent& event : events_) {
    for (std::size_t i = 0; i < event.requests; ++i) {
      StringId& id = requests_[event.first_request + i].id;
      if (const auto found = own.find({event.process, id}); found != own.end())
        id = found->second;
      else if (const auto link = links.find(id); link != links.end())
        id = link->second;
      const std::string_view text = strings.View(id), shorter = WithoutSuffix(text);
      if (shorter.size() < text.size() && !original.contains(text) && original.contains(shorter))
        id = strings.Intern(shorter);
    }
  }
}

// What the events tell of a request. Times: -1 until they are known.
struct ServerLog::Life {
  ServerRequests::Row row;
  TimeNs end = -1, answered = -1, detokenized = -1;
  TimeNs enqueued = -1;  // while it waits
  std::int64_t outputs = 0;

  void Take(std::string_view name, std::string_view queue, const ServerEvent& event) {
    const auto first = [](auto& value, auto other) { value = value < 0 ? other : value; };
    first(row.prompt_tokens, event.prompt_tokens);
    first(row.reply_tokens, event.reply_tokens);
    first(row.hit_rate, event.hit_rate);
    if (name == "httpReq") first(row.start, event.start);
    if (IsAnyOf(name, {"httpRes", "DecodeEnd", "sendResponse", "outputSync"})) end = event.End();
    if (name == "sendResponse") first(answered, event.End());
    if (IsAnyOf(name, {"detokenize", "decode"})) first(detokenized, event.End());
    if (name == "outputSync") ++outputs;
    if (!queue.empty() && queue != "waiting") return;
    if (name == "Enqueue") first(enqueued, event.start);
    if (name != "Dequeue" || enqueued < 0) return;
    row.queued = std::max<TimeNs>(row.queued, 0) + event.End() - enqueued;
    enqueued = -1;
  }

  ServerRequests::Row Made() const {
    ServerRequests::Row made = row;
    const TimeNs first = answered >= 0 ? answered : detokenized;
    const auto since_start = [&](TimeNs time) {
      return row.start >= 0 && IsDuration(time - row.start) ? time - row.start : -1;
    };
    if (end >= 0) made.dur = since_start(end);
    if (first >= 0) made.first_token = since_start(first);
    if (outputs > 0) made.reply_tokens = outputs;
    if (!IsDuration(made.queued)) made.queued = -1;  // too long to be true
    return made;
  }
};

void ServerLog::AddRequests() {
  const StringPool& strings = records_.trace.strings;
  std::vector<Life> lives;
  std::unordered_map<StringId, std::size_t> by_id;
  for (const ServerEvent& event : events_) {
    const std::string_view name = NameOf(event);
    if (IsBatch(KindOfSpan(name)) || name == "PullKVCache") continue;
    const bool tells = event.prompt_tokens >= 0 || event.reply_tokens >= 0 || event.hit_rate >= 0 ||
                       IsAnyOf(name, {"httpReq", "httpRes", "DecodeEnd", "sendResponse",
                                      "outputSync", "detokenize", "decode", "Enqueue", "Dequeue"});
    if (!tells) continue;
    for (const ListedRequest& request : RequestsOf(event)) {
      const auto [found, is_new] = by_id.try_emplace(request.id, lives.size());
      if (is_new) lives.push_back({.row = {.id = request.id, .instance = records_.instance}});
      lives[found->second].Take(name, strings.View(event.queue), event);
    }
  }
  for (const Life& life : lives) AppendRequest(life.Made(), place_, records_.trace);
}

void ServerLog::AddBatches() {
  // What the scheduler says of the cache is part of the batch that it puts together then.
  std::unordered_map<StringId, std::vector<const ServerEvent*>> states;
  for (const ServerEvent& event : events_) {
    if (NameOf(event) == "KVCacheStatus") states[event.process].push_back(&event);
  }
  std::unordered_map<StringId, std::int64_t> iterations;
  BatchAppender batches(records_);
  for (const ServerEvent& event : events_) {
    const ServerSpan kind = KindOfSpan(NameOf(event));
    const bool is_batch = IsBatch(kind);
    if (kind == ServerSpan::kOther || (!is_batch && event.dur <= 0)) continue;
    ServerBatches::Row row{.start = event.start,
                           .dur = event.dur,
                           .name = event.name,
                           .dp_rank = DpRankOf(event),
                           .process = event.process};
    if (kind == ServerSpan::kForward) {
      row.iteration = ++iterations[event.process];
      if (event.requests > 0) row.requests = static_cast<std::int32_t>(event.requests);
    }
    if (kind == ServerSpan::kSchedule) {
      const std::vector<const ServerEvent*>& known = states[event.process];
      const auto state = std::ranges::lower_bound(known, event.start, {}, &ServerEvent::start);
      if (state != known.end()) {
        row.free_blocks = (*state)->free_blocks;
        row.total_blocks = (*state)->total_blocks;
      }
    }
    batches.Append(row, is_batch ? RequestsOf(event) : std::span<const ListedRequest>(),
                   records_.trace.strings.View(event.batch_type));
  }
}

void ServerLog::AddStates() {
  RankTrace& trace = records_.trace;
  for (const ServerEvent& event : events_) {
    if (event.total_blocks >= 0 || event.free_blocks >= 0) {
      AppendCacheState({.time = event.start,
                        .action = event.name,
                        .free_blocks = event.free_blocks,
                        .total_blocks = event.total_blocks,
                        .usage = event.usage,
                        .dp_rank = DpRankOf(event),
                        .instance = records_.instance},
                       trace);
    }
    const std::string_view queue = trace.strings.View(event.queue);
    if (event.queue_size < 0 || !IsAnyOf(queue, {"waiting", "running", "swapped"})) continue;
    ServerLoad::Row row{.time = event.start, .node = event.process, .instance = records_.instance};
    (queue == "waiting"   ? row.waiting
     : queue == "running" ? row.running
                          : row.swapped) = event.queue_size;
    trace.server_load.Append(row);
  }
}

void ServerLog::AddTransfers() {
  RankTrace& trace = records_.trace;
  mpa::ServerRequests& requests = trace.server_requests;
  std::unordered_map<StringId, std::size_t> by_id;
  for (std::size_t i = 0; i < requests.Size(); ++i) {
    if (requests.instance[i] == records_.instance) by_id.try_emplace(requests.id[i], i);
  }
  const auto column = [&](std::string_view name) -> std::vector<TimeNs>* {
    if (name == "sendReqToD") return &requests.sent;
    if (name == "sendReqToDSucc") return &requests.taken;
    return name == "prefillRes" ? &requests.prefilled : nullptr;
  };
  for (const ServerEvent& event : events_) {
    const std::string_view name = NameOf(event);
    std::vector<TimeNs>* const times = column(name);
    for (const ListedRequest& request : RequestsOf(event)) {
      const auto found = by_id.find(request.id);
      if (times != nullptr && found != by_id.end()) (*times)[found->second] = event.start;
      if (name != "PullKVCache") continue;
      trace.server_transfers.Append({.start = event.start,
                                     .dur = event.dur,
                                     .id = request.id,
                                     .tokens = event.tokens,
                                     .rank = event.rank,
                                     .instance = records_.instance});
    }
  }
}

void ServerLog::Finish() {
  StableSort(events_, {}, &ServerEvent::start);
  UnifyIds();
  AddRequests();
  AddBatches();
  AddStates();
  AddTransfers();
}

}  // namespace mpa::readers
