// SPDX-License-Identifier: Apache-2.0
// What single requests wait for beside the batches: transfers, and the work before and behind them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "findings.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/time.h"
#include "mpa/measure/quantiles.h"

namespace mpa::recipes::serving_requests {
namespace {

// What of a transfer the request waits for: the part behind its prefill.
TimeNs WaitOf(const Request& request) {
  if (request.prefilled < 0) return request.transfer_dur;
  const TimeNs end = request.transfer_start + request.transfer_dur;
  return std::max<TimeNs>(0, end - std::max(request.transfer_start, request.prefilled));
}

// The rank whose transfers take twice as long for a token as those of the others; -1: none.
int SlowRank(const std::map<int, std::vector<double>>& by_rank) {
  constexpr std::size_t kFew = 5;
  if (by_rank.size() < 2) return -1;
  for (const auto& [rank, times] : by_rank) {
    double others = 0;
    for (const auto& [other, of_other] : by_rank) {
      if (other != rank) others = std::max(others, Median(of_other));
    }
    if (times.size() >= kFew && others > 0 && Median(times) >= 2 * others) return rank;
  }
  return -1;
}

void FindTransfers(const Scene& scene, std::vector<Finding>& found) {
  std::vector<TimeNs> waits, lengths;
  std::vector<std::int64_t> tokens;
  std::vector<double> per_token;
  std::map<int, std::vector<double>> by_rank;
  TimeNs sum = 0;
  for (const Request* request : scene.All().requests) {
    if (request->transfer_dur < 0) continue;
    waits.push_back(WaitOf(*request));
    lengths.push_back(request->transfer_dur);
    sum += waits.back();
    if (request->transfer_tokens <= 0) continue;
    tokens.push_back(request->transfer_tokens);
    per_token.push_back(static_cast<double>(request->transfer_dur) /
                        static_cast<double>(request->transfer_tokens));
    if (request->transfer_rank >= 0) by_rank[request->transfer_rank].push_back(per_token.back());
  }
  if (waits.size() < kLeastRequests) return;
  const Group& all = scene.All();
  const double share = std::min(1.0, Ratio(sum, all.Sum(RequestTime::kEndToEnd)));
  const TimeNs first = all.At(RequestTime::kFirstToken, 50);
  constexpr double kOfWhole = 0.1, kOfFirst = 0.25;
  const bool is_long = first > 0 && Ratio(Median(waits), first) >= kOfFirst;
  if (share < kOfWhole && !is_long) return;
  std::string evidence = Say("a transfer takes {} (median), of which its request waits for {}",
                             TimeText(Median(lengths)), TimeText(Median(waits)));
  if (!per_token.empty())
    evidence += Say("; {:.1f} us for a token, {} tokens (medians)", Median(per_token) / 1e3,
                    Median(tokens));
  const int slow = SlowRank(by_rank);
  if (slow >= 0) evidence += Say("; on rank {} {:.1f} us", slow, Median(by_rank[slow]) / 1e3);
  found.push_back(
      {.cause = Cause::kTransferSlow,
       .where = slow >= 0 ? Say("rank {}", slow) : std::string(),
       .share = share,
       .title = Say("transfers of the KV cache from prefill to decode are slow"),
       .evidence = std::move(evidence),
       .mend = Say("look at the link and the way of the transfer (one-sided, without copies), and"
                   " send while the prompt is still read"),
       .refuted_by = Say("transfers end while the prompt is still read")});
}

void FindPrePost(const Scene& scene, std::vector<Finding>& found) {
  // What of a request lies before the first batch, but not in the queue.
  struct Preparation {
    std::int64_t prompt = 0;
    TimeNs time = 0;
  };
  std::vector<Preparation> preparations;
  TimeNs before = 0, behind = 0, first = 0, whole = 0;
  for (const Request* request : scene.All().requests) {
    const bool is_known = request->start >= 0 && request->dur >= 0 && request->first_token >= 0 &&
                          request->scheduled >= 0 && request->ran >= 0 && request->queued >= 0;
    if (!is_known) continue;
    const TimeNs time = std::clamp<TimeNs>(request->scheduled - request->start - request->queued, 0,
                                           request->first_token);
    preparations.push_back({request->prompt_tokens, time});
    before += time;
    behind += std::clamp<TimeNs>(request->start + request->dur - request->ran, 0, request->dur);
    first += request->first_token;
    whole += request->dur;
  }
  if (preparations.size() < kLeastRequests) return;
  constexpr double kOfFirst = 0.25, kOfWhole = 0.15;
  const double share = Ratio(before + behind, whole);
  if (Ratio(before, first) < kOfFirst && share < kOfWhole) return;
  const auto count = static_cast<TimeNs>(preparations.size());
  std::string evidence =
      Say("{} lie before the first batch of a request and {} behind its last one (means), without"
          " the queue: {} of the time to first token, {} of all",
          TimeText(before / count), TimeText(behind / count), ShareText(Ratio(before, first)),
          ShareText(share));
  StableSort(preparations, {}, &Preparation::prompt);
  const std::size_t third = preparations.size() / 3;
  const auto mean_from = [&](std::size_t from) {
    TimeNs sum = 0;
    for (std::size_t i = from; i < from + third; ++i) sum += preparations[i].time;
    return sum / static_cast<TimeNs>(third);
  };
  const TimeNs of_short = mean_from(0), of_long = mean_from(preparations.size() - third);
  constexpr double kGrows = 1.5;
  if (of_short > 0 && Ratio(of_long, of_short) >= kGrows)
    evidence += Say("; {} for the third with the shortest prompts, {} for the longest",
                    TimeText(of_short), TimeText(of_long));
  found.push_back(
      {.cause = Cause::kPrePostSlow,
       .share = share,
       .title = Say("requests are prepared slowly, or their replies"),
       .evidence = std::move(evidence),
       .mend = Say("tokenise in processes of their own, keep tokens of what prompts share, and take"
                   " detokenising out of the loop that schedules"),
       .refuted_by = Say("the time lies in a batch or in the queue")});
}

}  // namespace

void FindRequestCauses(const Scene& scene, std::vector<Finding>& found) {
  FindTransfers(scene, found);
  FindPrePost(scene, found);
}

}  // namespace mpa::recipes::serving_requests
