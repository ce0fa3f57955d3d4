// SPDX-License-Identifier: Apache-2.0
// Batches of a server, and what they tell of its requests.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/measure/server_spans.h"
#include "res_list.h"
#include "server_records.h"

namespace mpa::readers {
namespace {

// What the columns do not state follows from the requests of the batch, or from its type.
void Complete(std::span<const ListedRequest> requests, std::string_view type,
              ServerBatches::Row& batch) {
  const bool has_prefill = type.find("refill") != std::string_view::npos;
  const bool has_decode = type.find("ecode") != std::string_view::npos;
  if (batch.prefill_requests < 0 && batch.decode_requests < 0) {
    if (!requests.empty()) {
      batch.prefill_requests =
          static_cast<std::int32_t>(std::ranges::count(requests, true, &ListedRequest::is_prefill));
      batch.decode_requests = static_cast<std::int32_t>(requests.size()) - batch.prefill_requests;
    } else if (has_prefill != has_decode) {
      batch.prefill_requests = has_prefill ? batch.requests : 0;
      batch.decode_requests = has_decode ? batch.requests : 0;
    }
  }
  if (batch.requests < 0 && batch.prefill_requests >= 0)
    batch.requests = batch.prefill_requests + batch.decode_requests;
  if (batch.prefill_tokens >= 0 || requests.empty()) return;
  const bool has_tokens = std::ranges::all_of(
      requests, [](const ListedRequest& request) { return request.tokens >= 0; });
  if (!has_tokens) return;
  batch.prefill_tokens = batch.decode_tokens = 0;
  for (const ListedRequest& request : requests)
    (request.is_prefill ? batch.prefill_tokens : batch.decode_tokens) += request.tokens;
}

constexpr const char *kInvalidBatch = ToTranslate("batch left out, invalid start or duration"),
                     *kInvalidSpan = ToTranslate("span left out, invalid start or duration");

std::string ProcessOf(const ServerRows& rows, std::optional<std::size_t> host,
                      std::optional<std::size_t> process) {
  if (rows[host].empty()) return std::string(rows[process]);
  return fmt::format("{}:{}", rows[host], rows[process]);
}

}  // namespace

BatchAppender::BatchAppender(const ServerRecords& records)
    : trace_(records.trace), instance_(records.instance) {
  const mpa::ServerRequests& requests = trace_.server_requests;
  for (std::size_t i = 0; i < requests.Size(); ++i) {
    if (requests.instance[i] == instance_) by_id_.try_emplace(requests.id[i], i);
  }
}

void BatchAppender::Append(ServerBatches::Row batch, std::span<const ListedRequest> requests,
                           std::string_view type) {
  batch.instance = instance_;
  // The writer fills the cells of rows without blocks with 0.
  if (batch.total_blocks <= 0) batch.total_blocks = batch.free_blocks = -1;
  Complete(requests, type, batch);
  // Without tokens in its list the writer counts none: that is no number.
  const bool none = batch.prefill_tokens == 0 && batch.decode_tokens == 0;
  if (none) batch.prefill_tokens = batch.decode_tokens = -1;
  trace_.server_batches.Append(batch);
  const ServerSpan kind = KindOfSpan(trace_.strings.View(batch.name));
  for (const ListedRequest& request : requests) AddTo(request, batch, kind);
}

void BatchAppender::AddTo(const ListedRequest& request, const ServerBatches::Row& batch,
                          ServerSpan kind) {
  if (request.id == StringId::kEmpty) return;
  mpa::ServerRequests& requests = trace_.server_requests;
  const auto [found, is_new] = by_id_.try_emplace(request.id, requests.Size());
  if (is_new) requests.Append({.id = request.id, .instance = instance_});
  const std::size_t row = found->second;
  if (requests.dp_rank[row] < 0) requests.dp_rank[row] = batch.dp_rank;
  const auto earliest = [&](TimeNs& time) {
    time = time < 0 ? batch.start : std::min(time, batch.start);
  };
  if (kind == ServerSpan::kExecute || kind == ServerSpan::kRunner) {
    earliest(requests.run[row]);
    requests.ran[row] = std::max(requests.ran[row], batch.start + batch.dur);
  }
  if (kind != ServerSpan::kSchedule) return;
  earliest(requests.scheduled[row]);
  std::int32_t& preemptions = requests.preemptions[row];
  preemptions = std::max(preemptions, 0);
  if (!request.is_prefill) {
    decodes_.insert(row);
    return;
  }
  if (decodes_.erase(row) > 0) ++preemptions;
  if (request.tokens >= 0)
    requests.prefill_tokens[row] =
        std::max<std::int64_t>(requests.prefill_tokens[row], 0) + request.tokens;
}

void ReadServerBatches(ServerRows& rows, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  const auto name = rows.Find({"name"}), list = rows.Find({"res_list"}),
             type = rows.Find({"batch_type"}), process = rows.Find({"prof_id"}),
             size = rows.Find({"batch_size"}), dp_rank = rows.Find({"dp_rank"});
  const auto prefill = rows.Find({"prefill_batch_size"}), decode = rows.Find({"decode_batch_size"});
  const auto prefill_tokens = rows.Find({"prefill_scheduled_tokens"}),
             decode_tokens = rows.Find({"decode_scheduled_tokens"});
  const auto total = rows.Find({"total_blocks"}), free = rows.Find({"free_blocks"});
  const auto accepted = rows.Find({"accepted_ratio"});
  BatchAppender batches(records);
  std::vector<ListedRequest> listed;
  ForEachSpan(rows, records, kInvalidBatch, [&](TimeNs start, TimeNs dur) {
    listed.clear();
    for (const BatchedRequest& request : RequestsIn(rows[list]))
      listed.push_back(
          {trace.strings.Intern(request.id), SmallCount(request.tokens), request.is_prefill});
    batches.Append({.start = start,
                    .dur = dur,
                    .name = trace.strings.Intern(rows[name]),
                    .requests = SmallCountIn(rows[size]),
                    .prefill_requests = SmallCountIn(rows[prefill]),
                    .decode_requests = SmallCountIn(rows[decode]),
                    .prefill_tokens = CountIn(rows[prefill_tokens]),
                    .decode_tokens = CountIn(rows[decode_tokens]),
                    .free_blocks = CountIn(rows[free]),
                    .total_blocks = CountIn(rows[total]),
                    .accepted_ratio = ShareIn(rows[accepted]),
                    .dp_rank = SmallCountIn(rows[dp_rank]),
                    .process = trace.strings.Intern(rows[process])},
                   listed, rows[type]);
  });
}

void ReadServerForwards(ServerRows& rows, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  const auto name = rows.Find({"name"}), type = rows.Find({"batch_type"}),
             size = rows.Find({"batch_size"}), iteration = rows.Find({"forward_iter"}),
             dp_rank = rows.Find({"dp_rank"}), process = rows.Find({"prof_id"}),
             host = rows.Find({"hostname"});
  BatchAppender batches(records);
  ForEachSpan(rows, records, kInvalidBatch, [&](TimeNs start, TimeNs dur) {
    batches.Append({.start = start,
                    .dur = dur,
                    .name = trace.strings.Intern(rows[name]),
                    .requests = SmallCountIn(rows[size]),
                    .iteration = CountIn(rows[iteration]),
                    .dp_rank = SmallCountIn(rows[dp_rank]),
                    .process = trace.strings.Intern(ProcessOf(rows, host, process))},
                   {}, rows[type]);
  });
}

void ReadServerSpans(ServerRows& rows, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  const auto name = rows.Find({"span_name", "name"}), process = rows.Find({"pid"}),
             host = rows.Find({"hostname"});
  ForEachSpan(rows, records, kInvalidSpan, [&](TimeNs start, TimeNs dur) {
    trace.server_batches.Append({.start = start,
                                 .dur = dur,
                                 .name = trace.strings.Intern(rows[name]),
                                 .process = trace.strings.Intern(ProcessOf(rows, host, process)),
                                 .instance = records.instance});
  });
}

void ReadServerGuesses(ServerRows& rows, const ServerRecords& records) {
  RankTrace& trace = records.trace;
  const StringId guess = trace.strings.Intern("specDecoding");
  if (std::ranges::find(trace.server_batches.name, guess) != trace.server_batches.name.end())
    return;
  const auto guessed = rows.Find({"spec_tokens"}), accepted = rows.Find({"accepted_tokens"}),
             process = rows.Find({"prof_id"});
  // A row is of a request in a step.
  struct Step {
    TimeNs dur = 0;
    std::int32_t requests = 0;
    std::int64_t guessed = 0, accepted = 0;
  };
  std::map<std::pair<TimeNs, std::string>, Step> steps;
  ForEachSpan(rows, records, kInvalidSpan, [&](TimeNs start, TimeNs dur) {
    const std::int64_t tokens = CountIn(rows[guessed]), kept = CountIn(rows[accepted]);
    if (tokens < 0 || kept < 0) {
      trace.issues.Count(kInvalidSpan, rows.Place());
      return;
    }
    Step& step = steps[{start, std::string(rows[process])}];
    step.dur = std::max(step.dur, dur);
    ++step.requests;
    step.guessed += tokens;
    step.accepted += kept;
  });
  for (const auto& [key, step] : steps) {
    ServerBatches::Row batch{.start = key.first,
                             .dur = step.dur,
                             .name = guess,
                             .requests = step.requests,
                             .process = trace.strings.Intern(key.second),
                             .instance = records.instance};
    if (step.guessed > 0)
      batch.accepted_ratio =
          std::min(1.0, static_cast<double>(step.accepted) / static_cast<double>(step.guessed));
    trace.server_batches.Append(batch);
  }
}

}  // namespace mpa::readers
