// SPDX-License-Identifier: Apache-2.0
// Requests that wait: for blocks of the cache, or for nothing that shows.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "findings.h"
#include "mpa/base/language.h"
#include "mpa/base/time.h"
#include "mpa/measure/quantiles.h"
#include "overview.h"

namespace mpa::recipes::serving_requests {
namespace {

// Blocks that are free, over time.
struct BlockState {
  TimeNs time = 0;
  std::int64_t free = 0, total = 0;
};
using StatesOfRanks = std::map<int, std::vector<BlockState>>;

// Each data parallel rank has a cache of its own. The table of the cache does not say whose a state
// is, batches do.
StatesOfRanks FreeBlocksOf(const ServerPart& server) {
  StatesOfRanks of_batches, of_cache;
  for (const Span& span : server.spans) {
    if (span.free_blocks >= 0 && span.total_blocks > 0)
      of_batches[span.dp_rank].push_back({span.start, span.free_blocks, span.total_blocks});
  }
  for (const CacheState& state : server.cache) {
    if (state.free_blocks >= 0 && state.total_blocks > 0)
      of_cache[state.dp_rank].push_back({state.time, state.free_blocks, state.total_blocks});
  }
  return of_cache.empty() || of_batches.size() > 1 ? of_batches : of_cache;
}

constexpr double kShort = 0.05;  // of all blocks that are free

struct Shortage {
  TimeNs known = 0, short_time = 0;  // a state holds until the next one
  std::int64_t total = 0;            // of a rank

  double Share() const { return Ratio(short_time, known); }
};

Shortage ShortageOf(const StatesOfRanks& states_of_ranks) {
  Shortage shortage;
  for (const auto& [rank, states] : states_of_ranks) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      const BlockState& state = states[i];
      shortage.total = std::max(shortage.total, state.total);
      if (i + 1 == states.size()) break;
      const TimeNs time = states[i + 1].time - state.time;
      shortage.known += time;
      if (Ratio(state.free, state.total) <= kShort) shortage.short_time += time;
    }
  }
  return shortage;
}

std::int64_t MostSwapped(const ServerPart& server) {
  std::int64_t most = 0;
  for (const LoadState& state : server.load) most = std::max(most, state.swapped);
  return most;
}

void FindShortage(const Scene& scene, std::size_t instance, std::vector<Finding>& found) {
  const ServerPart& server = *scene.servers[instance];
  const Shortage shortage = ShortageOf(FreeBlocksOf(server));
  constexpr double kLeast = 0.1;  // of the time
  if (shortage.Share() < kLeast) return;
  const Group& group = *GroupOf(scene, instance);
  const std::int64_t preempted = group.Preemptions(), swapped = MostSwapped(server);
  if (!RequestsWait(scene, group) && preempted <= 0 && swapped == 0) return;
  std::string evidence =
      Say("at most {} of {} blocks are free for {} of the time",
          static_cast<std::int64_t>(kShort * static_cast<double>(shortage.total)), shortage.total,
          ShareText(shortage.Share()));
  if (const TimeNs queue = group.At(RequestTime::kQueue, 90); queue >= 0)
    evidence += Say("; a tenth of the requests waits for {} or longer", TimeText(queue));
  if (preempted > 0) evidence += Say("; {} prompts were read again", preempted);
  if (swapped > 0) evidence += Say("; up to {} requests were swapped out", swapped);
  found.push_back(
      {.cause = Cause::kBlocksShort,
       .where = WhereText(server.name, -1, scene.HasInstances()),
       .share = group.QueueShare() *
                Ratio(group.Sum(RequestTime::kEndToEnd), scene.All().Sum(RequestTime::kEndToEnd)),
       .title = Say("blocks of the KV cache run short"),
       .evidence = std::move(evidence),
       .mend = Say("give the KV cache more memory, or let fewer requests in (max_num_seqs, length"
                   " limits, another instance)"),
       .refuted_by = Say("blocks are free, or nothing waits and nothing is read again")});
}

void FindMissedPrefixes(const Scene& scene, std::vector<Finding>& found) {
  constexpr double kHit = 0.5, kMissed = 0.1, kLow = 0.2, kComputed = 0.7;
  constexpr std::int64_t kLongPrompt = 256;
  const Group& all = scene.All();
  std::vector<double> hit, missed;  // time to first token behind the queue, by token of the prompt
  std::vector<std::int64_t> prompts;
  std::vector<const Request*> slow_ones;
  std::int64_t computed = 0, of_computed = 0;
  for (const Request* request : all.requests) {
    if (request->hit_rate < 0 || request->prompt_tokens <= 0) continue;
    prompts.push_back(request->prompt_tokens);
    if (request->prefill_tokens >= 0) {
      computed += request->prefill_tokens;
      of_computed += request->prompt_tokens;
    }
    if (request->first_token < 0) continue;
    const double time = Ratio(request->FirstTokenBehindQueue(), request->prompt_tokens);
    if (request->hit_rate >= kHit) hit.push_back(time);
    if (request->hit_rate >= kMissed) continue;
    missed.push_back(time);
    slow_ones.push_back(request);
  }
  const double rate = all.HitRate();
  if (prompts.size() < kLeastRequests || rate < 0 || rate >= kLow) return;
  if (Median(prompts) < kLongPrompt) return;
  constexpr std::size_t kFew = 5;
  const bool differs = hit.size() >= kFew && missed.size() >= kFew;
  const double usual = differs ? Median(hit) : 0, slow = differs ? Median(missed) : 0;
  const bool costs = differs && slow >= 1.3 * usual;
  if (Ratio(computed, of_computed) < kComputed && !costs) return;
  double extra = 0;
  for (const Request* request : slow_ones)
    extra += std::max(0.0, static_cast<double>(request->FirstTokenBehindQueue()) -
                               usual * static_cast<double>(request->prompt_tokens));
  const TimeNs whole = all.Sum(RequestTime::kEndToEnd);
  const double share =
      costs ? std::min(1.0, extra / std::max(1.0, static_cast<double>(whole))) : -1;
  std::string evidence =
      Say("{:.1f} % of the tokens of prompts came from the prefix cache", 100 * rate);
  if (of_computed > 0)
    evidence += Say(", {} were computed", ShareText(Ratio(computed, of_computed)));
  if (costs)
    evidence +=
        Say("; {} requests that hit it take {:.1f} us for a token of the prompt, {} that"
            " miss it {:.1f} us",
            hit.size(), usual / 1e3, missed.size(), slow / 1e3);
  found.push_back(
      {.cause = Cause::kPrefixMissed,
       .share = share,
       .title = Say("the prefix cache is missed"),
       .evidence = std::move(evidence),
       .mend = Say("keep what prompts share at their beginning, send it to the same instance, and"
                   " keep blocks free for it"),
       .refuted_by = Say("prompts share no beginning: then there is nothing to hit")});
}

}  // namespace

void FindQueueCauses(const Scene& scene, std::vector<Finding>& found) {
  for (std::size_t i = 0; i < scene.servers.size(); ++i) FindShortage(scene, i, found);
  FindMissedPrefixes(scene, found);
}

void FindWaiting(const Scene& scene, std::vector<Finding>& found) {
  const Group& all = scene.All();
  if (!RequestsWait(scene, all)) return;
  // How large batches were while requests waited, against the largest of all.
  double sum = 0;
  std::int64_t steps = 0, largest = 0;
  double most_used = -1;
  for (const ServerPart* server : scene.servers) {
    const Intervals waiting = WaitingTimes(*server);
    most_used = std::max(most_used, BlocksOf(*server).most_used);
    for (const Lane& lane : scene.lanes) {
      if (scene.servers[lane.instance] != server) continue;
      for (const Span* step : lane.steps) {
        largest = std::max<std::int64_t>(largest, step->requests);
        if (step->requests < 0 || !Contains(waiting, step->start)) continue;
        sum += static_cast<double>(step->requests);
        ++steps;
      }
    }
  }
  const double mean = steps > 0 ? sum / static_cast<double>(steps) : -1;
  constexpr double kFull = 0.9, kRoom = 0.7;
  const bool is_full = mean >= kFull * static_cast<double>(largest);
  const bool has_room = most_used >= 0 && most_used < kRoom;
  std::string evidence = Say(
      "a tenth of the requests waits for {} or longer, of {} to the first"
      " token",
      TimeText(all.At(RequestTime::kQueue, 90)), TimeText(all.At(RequestTime::kFirstToken, 90)));
  if (mean >= 0)
    evidence += Say("; meanwhile batches have {:.1f} requests, the largest {}", mean, largest);
  if (most_used >= 0) evidence += Say("; at most {} of the KV cache is used", ShareText(most_used));
  Finding finding{
      .cause = Cause::kRequestsWait,
      .share = all.QueueShare(),
      .title = Say("requests wait though batches are not full"),
      .evidence = std::move(evidence),
      .mend =
          Say("look at how long batches are waited for and what lets requests in (max_wait_time,"
              " limits of prefill, priorities)"),
      .refuted_by = Say("batches are full or the KV cache is")};
  if (mean < 0) finding.title = Say("requests wait");
  if (is_full && mean >= 0 && has_room) {
    finding.title = Say("requests wait though the KV cache has room");
    finding.mend = Say("raise the limit of requests in a batch (maxBatchSize, max_num_seqs)");
  } else if (is_full && mean >= 0) {
    finding.title = Say("requests wait because batches are full");
    finding.mend = Say("add an instance, or send it fewer requests");
    finding.refuted_by = Say("larger batches occur while nothing waits");
  }
  found.push_back(std::move(finding));
}

}  // namespace mpa::recipes::serving_requests
