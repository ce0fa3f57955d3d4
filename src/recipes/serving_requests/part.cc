// SPDX-License-Identifier: Apache-2.0
// What is kept of the records of a server, and of a device beside it.
#include "part.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/stable_sort.h"

namespace mpa::recipes::serving_requests {
namespace {

// Texts of the trace as positions in ServerPart::names.
class Names {
 public:
  Names(const RankTrace& trace, std::vector<std::string>& names) : trace_(trace), names_(names) {}
  std::int32_t operator[](StringId id) {
    if (id == StringId::kEmpty) return -1;
    const auto [found, is_new] =
        positions_.try_emplace(id, static_cast<std::int32_t>(names_.size()));
    if (is_new) names_.emplace_back(trace_.strings.View(id));
    return found->second;
  }

 private:
  const RankTrace& trace_;
  std::vector<std::string>& names_;
  std::unordered_map<StringId, std::int32_t> positions_;
};

void KeepRequests(const RankTrace& trace, ServerPart& part) {
  const ServerRequests& requests = trace.server_requests;
  const ServerTransfers& transfers = trace.server_transfers;
  std::unordered_map<StringId, std::size_t> of_request;  // the first of each
  for (std::size_t i = 0; i < transfers.Size(); ++i) of_request.try_emplace(transfers.id[i], i);
  for (std::size_t i = 0; i < requests.Size(); ++i) {
    Request request{.id = std::string(trace.strings.View(requests.id[i])),
                    .start = requests.start[i],
                    .prompt_tokens = requests.prompt_tokens[i],
                    .reply_tokens = requests.reply_tokens[i],
                    .dur = requests.dur[i],
                    .queued = requests.queued[i],
                    .first_token = requests.first_token[i],
                    .hit_rate = requests.hit_rate[i],
                    .scheduled = requests.scheduled[i],
                    .ran = requests.ran[i],
                    .prefill_tokens = requests.prefill_tokens[i],
                    .preemptions = requests.preemptions[i],
                    .prefilled = requests.prefilled[i],
                    .dp_rank = requests.dp_rank[i]};
    if (const auto found = of_request.find(requests.id[i]); found != of_request.end()) {
      const std::size_t row = found->second;
      request.transfer_start = transfers.start[row];
      request.transfer_dur = transfers.dur[row];
      request.transfer_tokens = transfers.tokens[row];
      request.transfer_rank = transfers.rank[row];
    }
    part.requests.push_back(std::move(request));
  }
}

void KeepSpans(const RankTrace& trace, Names& names, ServerPart& part) {
  const ServerBatches& batches = trace.server_batches;
  for (std::size_t i = 0; i < batches.Size(); ++i) {
    const ServerSpan kind = KindOfSpan(trace.strings.View(batches.name[i]));
    if (kind == ServerSpan::kOther) continue;
    part.spans.push_back({.start = batches.start[i],
                          .dur = batches.dur[i],
                          .kind = kind,
                          .requests = batches.requests[i],
                          .prefill_requests = batches.prefill_requests[i],
                          .decode_requests = batches.decode_requests[i],
                          .prefill_tokens = batches.prefill_tokens[i],
                          .decode_tokens = batches.decode_tokens[i],
                          .free_blocks = batches.free_blocks[i],
                          .total_blocks = batches.total_blocks[i],
                          .dp_rank = batches.dp_rank[i],
                          .process = names[batches.process[i]]});
  }
  StableSort(part.spans, {}, &Span::start);
}

void KeepStates(const RankTrace& trace, ServerPart& part) {
  const ServerCache& cache = trace.server_cache;
  for (std::size_t i = 0; i < cache.Size(); ++i) {
    part.cache.push_back(
        {cache.time[i], cache.free_blocks[i], cache.total_blocks[i], cache.dp_rank[i]});
  }
  const ServerLoad& load = trace.server_load;
  for (std::size_t i = 0; i < load.Size(); ++i) {
    part.load.push_back({load.time[i], load.waiting[i], load.running[i], load.swapped[i]});
  }
  StableSort(part.cache, {}, &CacheState::time);
  StableSort(part.load, {}, &LoadState::time);
}

}  // namespace

ServerPart MapServer(const RankTrace& trace, const RecipeArguments&) {
  ServerPart part{.name = trace.capture, .is_server = trace.source == "server"};
  if (part.is_server) {
    Names names(trace, part.names);
    KeepRequests(trace, part);
    KeepSpans(trace, names, part);
    KeepStates(trace, part);
  } else {
    part.busy = Union(Covered(trace.kernels), Covered(trace.communications));
  }
  return part;
}

void CheckServer(const ServerPart& part) {
  const auto fail_unless = [](bool holds) {
    if (!holds) Fail(ErrorKind::kCorrupt, "the records of a server have impossible times");
  };
  const auto is_length = [](TimeNs time) { return time == -1 || IsDuration(time); };
  for (const Request& one : part.requests) {
    for (const TimeNs time : {one.start, one.scheduled, one.ran, one.prefilled, one.transfer_start})
      fail_unless(IsTime(time));
    for (const TimeNs time : {one.dur, one.queued, one.first_token, one.transfer_dur})
      fail_unless(is_length(time));
    fail_unless(one.dur < 0 || one.first_token <= one.dur);
    fail_unless(one.hit_rate <= 1);
  }
  const auto names = static_cast<std::int32_t>(part.names.size());
  for (const Span& span : part.spans)
    fail_unless(IsTime(span.start) && IsDuration(span.dur) && span.process < names);
  for (const LoadState& state : part.load) fail_unless(IsTime(state.time));
  for (const CacheState& state : part.cache) fail_unless(IsTime(state.time));
  for (const Interval& busy : part.busy)
    fail_unless(IsTime(busy.begin) && IsDuration(busy.end - busy.begin));
}

}  // namespace mpa::recipes::serving_requests
