// SPDX-License-Identifier: Apache-2.0
// Work that is divided unevenly between data parallel ranks, or between instances.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "findings.h"
#include "mpa/base/language.h"
#include "mpa/base/time.h"
#include "mpa/report/amount.h"

namespace mpa::recipes::serving_requests {
namespace {

// What one of several got to do.
struct Share {
  std::string name{};
  const Group* group = nullptr;  // may be null: no request says it
  double tokens = 0, requests = 0;
  TimeNs step = 0;
  std::vector<double> by_window{};
};

constexpr std::size_t kWindows = 8;
constexpr double kUneven = 1.3, kEffect = 1.3, kSteady = 0.7;

std::size_t WindowOf(TimeNs time, const Interval& whole) {
  if (whole.end <= whole.begin) return 0;
  const double part = Ratio(time - whole.begin, whole.end - whole.begin);
  return static_cast<std::size_t>(
      std::clamp(part * kWindows, 0.0, static_cast<double>(kWindows - 1)));
}

double MeanOf(const std::vector<Share>& shares, double Share::*value) {
  double sum = 0;
  for (const Share& share : shares) sum += share.*value;
  return sum / static_cast<double>(shares.size());
}

// True if it is the largest in most of the windows: chance is not.
bool IsSteady(const std::vector<Share>& shares, const Share& hot) {
  std::size_t first = 0, any = 0;
  for (std::size_t window = 0; window < kWindows; ++window) {
    double most = 0;
    for (const Share& share : shares) most = std::max(most, share.by_window[window]);
    if (most <= 0) continue;
    ++any;
    if (hot.by_window[window] >= most) ++first;
  }
  return any > 0 && Ratio(first, any) >= kSteady;
}

// The p90 of the group against that of the worst of the others.
double WorseBy(const std::vector<Share>& shares, const Share& hot, RequestTime time) {
  if (hot.group == nullptr) return 0;
  TimeNs others = 0;
  for (const Share& share : shares) {
    if (&share != &hot && share.group != nullptr)
      others = std::max(others, share.group->At(time, 90));
  }
  const TimeNs own = hot.group->At(time, 90);
  return own > 0 && others > 0 ? Ratio(own, others) : 0;
}

struct Words {
  Cause cause{};
  std::string title{}, mend_requests{}, mend_tokens{};
};

void Judge(const Scene& scene, const std::vector<Share>& shares, const std::string& where,
           const Words& words, std::vector<Finding>& found) {
  const Share& hot = *std::ranges::max_element(shares, {}, &Share::tokens);
  const double tokens = MeanOf(shares, &Share::tokens);
  const double requests = MeanOf(shares, &Share::requests);
  if (tokens <= 0 || hot.tokens < kUneven * tokens || !IsSteady(shares, hot)) return;
  const double queue = WorseBy(shares, hot, RequestTime::kQueue);
  const double first = WorseBy(shares, hot, RequestTime::kFirstToken);
  const double whole = WorseBy(shares, hot, RequestTime::kEndToEnd);
  TimeNs others = 0;
  for (const Share& share : shares) {
    if (&share != &hot) others = std::max(others, share.step);
  }
  const double step = hot.step > 0 && others > 0 ? Ratio(hot.step, others) : 0;
  if (std::max({queue, first, whole, step}) < kEffect) return;
  const bool more_requests = requests > 0 && hot.requests >= kUneven * requests;
  std::string evidence =
      Say("{} has {:.1f} times the tokens of the mean and {:.1f} times the requests", hot.name,
          hot.tokens / tokens, requests > 0 ? hot.requests / requests : 1.0);
  if (first >= kEffect && hot.group != nullptr)
    evidence += Say("; its time to first token is {} (p90), {:.1f} times that of the next",
                    TimeText(hot.group->At(RequestTime::kFirstToken, 90)), first);
  else if (whole >= kEffect && hot.group != nullptr)
    evidence += Say("; its requests take {} (p90), {:.1f} times those of the next",
                    TimeText(hot.group->At(RequestTime::kEndToEnd, 90)), whole);
  else if (step >= kEffect)
    evidence += Say("; its batches run for {} (median), {:.1f} times those of the next",
                    TimeText(hot.step), step);
  const TimeNs of_hot = hot.group != nullptr ? hot.group->Sum(RequestTime::kEndToEnd) : 0;
  found.push_back(
      {.cause = words.cause,
       .where = where,
       .share = hot.group == nullptr ? -1
                                     : (1 - tokens / hot.tokens) *
                                           Ratio(of_hot, scene.All().Sum(RequestTime::kEndToEnd)),
       .title = words.title,
       .evidence = std::move(evidence),
       .mend = more_requests ? words.mend_requests : words.mend_tokens,
       .refuted_by = Say("it is another one in other times, or none is slower for it")});
}

const Group* GroupOf(const Scene& scene, int instance, int dp_rank) {
  for (const Group& group : scene.groups) {
    if (group.instance == instance && group.dp_rank == dp_rank) return &group;
  }
  return nullptr;
}

std::int64_t TokensOf(const Span& span) {
  return std::max<std::int64_t>(span.prefill_tokens, 0) +
         std::max<std::int64_t>(span.decode_tokens, 0);
}

void FindUnevenRanks(const Scene& scene, std::size_t instance, std::vector<Finding>& found) {
  std::vector<const Lane*> lanes;
  Interval whole{INT64_MAX, INT64_MIN};
  for (const Lane& lane : scene.lanes) {
    if (lane.instance != instance || lane.steps.size() < kLeastSteps) continue;
    lanes.push_back(&lane);
    whole = {std::min(whole.begin, lane.steps.front()->start),
             std::max(whole.end, lane.steps.back()->End())};
  }
  if (lanes.size() < 2) return;
  std::vector<Share> shares;
  for (const Lane* lane : lanes) {
    Share share{.name = Say("dp {}", lane->dp_rank),
                .group = GroupOf(scene, static_cast<int>(instance), lane->dp_rank),
                .step = MedianStep(*lane),
                .by_window = std::vector<double>(kWindows)};
    if (share.group != nullptr) share.requests = static_cast<double>(share.group->Count());
    // What was scheduled, or else what ran.
    for (const Span* span : lane->schedules.empty() ? lane->steps : lane->schedules) {
      const auto tokens = static_cast<double>(TokensOf(*span));
      share.tokens += tokens;
      share.by_window[WindowOf(span->start, whole)] += tokens;
    }
    shares.push_back(std::move(share));
  }
  Judge(scene, shares, WhereText(scene.servers[instance]->name, -1, scene.HasInstances()),
        {.cause = Cause::kRanksUneven,
         .title = Say("work is divided unevenly between data parallel ranks"),
         .mend_requests = Say("divide requests between the ranks by how much each has to do"),
         .mend_tokens = Say("divide requests by their tokens, not by their number, and apart from"
                            " long ones")},
        found);
}

void FindUnevenInstances(const Scene& scene, std::vector<Finding>& found) {
  if (!scene.HasInstances()) return;
  const Interval whole = scene.All().window;
  std::vector<Share> shares;
  for (std::size_t i = 0; i < scene.servers.size(); ++i) {
    Share share{.name = WhereText(scene.servers[i]->name, -1, true),
                .group = GroupOf(scene, static_cast<int>(i), -1),
                .by_window = std::vector<double>(kWindows)};
    if (share.group == nullptr || share.group->Count() < kLeastRequests) continue;
    share.requests = static_cast<double>(share.group->Count());
    for (const Request* request : share.group->requests) {
      const auto tokens = static_cast<double>(std::max<std::int64_t>(request->prompt_tokens, 0) +
                                              std::max<std::int64_t>(request->reply_tokens, 0));
      share.tokens += tokens;
      if (request->start >= 0) share.by_window[WindowOf(request->start, whole)] += tokens;
    }
    shares.push_back(std::move(share));
  }
  if (shares.size() < 2) return;
  Judge(scene, shares, "",
        {.cause = Cause::kInstancesUneven,
         .title = Say("work is divided unevenly between instances"),
         .mend_requests = Say("look at the weights, the health and the connections that the load"
                              " balancer goes by"),
         .mend_tokens = Say("divide requests between instances by their tokens, not by their"
                            " number")},
        found);
}

}  // namespace

void FindLoadCauses(const Scene& scene, std::vector<Finding>& found) {
  for (std::size_t i = 0; i < scene.servers.size(); ++i) FindUnevenRanks(scene, i, found);
  FindUnevenInstances(scene, found);
}

}  // namespace mpa::recipes::serving_requests
