// SPDX-License-Identifier: Apache-2.0
// Work that is divided unevenly between data parallel ranks, or between instances.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "findings.h"
#include "mpa/base/language.h"
#include "mpa/base/time.h"

namespace mpa::recipes::serving_requests {
namespace {

constexpr std::size_t kWindows = 8;
constexpr double kUneven = 1.3, kEffect = 1.3, kSteady = 0.7;

// What one of several got to do, in parts of the whole time.
struct Share {
  std::string name{};
  const Group* group = nullptr;  // may be null: no request says it
  TimeNs step = -1;
  double tokens = 0, requests = 0;
  std::array<double, kWindows> by_window{};

  void Add(std::int64_t count, TimeNs time, const Interval& whole) {
    tokens += static_cast<double>(count);
    if (time < 0) return;
    const double part = Ratio(time - whole.begin, whole.end - whole.begin);
    const auto window = static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * kWindows);
    by_window[std::min(window, kWindows - 1)] += static_cast<double>(count);
  }
};

// True if it is the largest in most of the windows: chance is not.
bool IsSteady(const std::vector<Share>& shares, const Share& hot) {
  std::size_t first = 0, any = 0;
  for (std::size_t window = 0; window < kWindows; ++window) {
    double most = 0;
    for (const Share& share : shares) most = std::max(most, share.by_window[window]);
    if (most > 0) ++any;
    if (most > 0 && hot.by_window[window] >= most) ++first;
  }
  return Ratio(first, any) >= kSteady;
}

// A time of the one with most to do.
struct Effect {
  TimeNs time = -1;
  double by = 0;  // times that of the worst of the others
};
template <typename TimeOf>
Effect EffectOn(const std::vector<Share>& shares, const Share& hot, TimeOf time_of) {
  TimeNs others = 0;
  for (const Share& share : shares) {
    if (&share != &hot) others = std::max(others, time_of(share));
  }
  const TimeNs own = time_of(hot);
  return {own, Ratio(own, others)};
}

struct Words {
  Cause cause{};
  std::string where{}, title{}, mend_requests{}, mend_tokens{};
};

void Judge(const Scene& scene, const std::vector<Share>& shares, const Words& words,
           std::vector<Finding>& found) {
  if (shares.size() < 2) return;
  const Share& hot = *std::ranges::max_element(shares, {}, &Share::tokens);
  double tokens = 0, requests = 0;  // means
  for (const Share& share : shares) {
    tokens += share.tokens / static_cast<double>(shares.size());
    requests += share.requests / static_cast<double>(shares.size());
  }
  if (tokens <= 0 || hot.tokens < kUneven * tokens || !IsSteady(shares, hot)) return;
  const auto effect_on = [&](RequestTime time) {
    return EffectOn(shares, hot, [&](const Share& share) {
      return share.group == nullptr ? -1 : share.group->At(time, 90);
    });
  };
  const Effect first = effect_on(RequestTime::kFirstToken);
  const Effect whole = effect_on(RequestTime::kEndToEnd);
  const Effect step = EffectOn(shares, hot, [](const Share& share) { return share.step; });
  const double queue = effect_on(RequestTime::kQueue).by;
  if (std::max({queue, first.by, whole.by, step.by}) < kEffect) return;
  const double more_requests = requests > 0 ? hot.requests / requests : 1;
  std::string evidence =
      Say("{} has {:.1f} times the tokens of the mean and {:.1f} times the requests", hot.name,
          hot.tokens / tokens, more_requests);
  if (first.by >= kEffect)
    evidence += Say("; its time to first token is {} (p90), {:.1f} times that of the next",
                    TimeText(first.time), first.by);
  else if (whole.by >= kEffect)
    evidence += Say("; its requests take {} (p90), {:.1f} times those of the next",
                    TimeText(whole.time), whole.by);
  else if (step.by >= kEffect)
    evidence += Say("; its batches run for {} (median), {:.1f} times those of the next",
                    TimeText(step.time), step.by);
  const double of_all = hot.group == nullptr ? -1
                                             : Ratio(hot.group->Sum(RequestTime::kEndToEnd),
                                                     scene.All().Sum(RequestTime::kEndToEnd));
  found.push_back(
      {.cause = words.cause,
       .where = words.where,
       .share = of_all < 0 ? -1 : (1 - tokens / hot.tokens) * of_all,
       .title = words.title,
       .evidence = std::move(evidence),
       .mend = more_requests >= kUneven ? words.mend_requests : words.mend_tokens,
       .refuted_by = Say("it is another one in other times, or none is slower for it")});
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
  std::vector<Share> shares;
  for (const Lane* lane : lanes) {
    Share share{.name = Say("dp {}", lane->dp_rank),
                .group = GroupOf(scene, instance, lane->dp_rank),
                .step = lane->MedianStep()};
    if (share.group != nullptr) share.requests = static_cast<double>(share.group->requests.size());
    // What was scheduled, or else what ran.
    for (const Span* span : lane->schedules.empty() ? lane->steps : lane->schedules)
      share.Add(TokensOf(*span), span->start, whole);
    shares.push_back(std::move(share));
  }
  Judge(scene, shares,
        {.cause = Cause::kRanksUneven,
         .where = WhereText(scene.servers[instance]->name, -1, scene.HasInstances()),
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
    const Group* group = GroupOf(scene, i);
    if (group == nullptr || group->requests.size() < kLeastRequests) continue;
    Share share{.name = WhereText(scene.servers[i]->name, -1, true),
                .group = group,
                .requests = static_cast<double>(group->requests.size())};
    for (const Request* request : group->requests) {
      share.Add(std::max<std::int64_t>(request->prompt_tokens, 0) +
                    std::max<std::int64_t>(request->reply_tokens, 0),
                request->start, whole);
    }
    shares.push_back(std::move(share));
  }
  Judge(scene, shares,
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
