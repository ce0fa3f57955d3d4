// SPDX-License-Identifier: Apache-2.0
// Data parallel ranks that wait for each other: one begins or ends its forward passes late.
#include <algorithm>
#include <map>
#include <utility>

#include "findings.h"
#include "mpa/base/language.h"
#include "mpa/measure/quantiles.h"

namespace mpa::recipes::serving_requests {
namespace {

// A forward pass of each rank, at the same time.
using Round = std::vector<const Span*>;

const std::vector<const Span*>& ForwardsOf(const Lane& lane) {
  return lane.forwards.empty() ? lane.steps : lane.forwards;
}

// Passes that all overlap; those without a partner on some rank are in no round.
std::vector<Round> RoundsOf(const std::vector<const Lane*>& lanes) {
  std::vector<Round> rounds;
  std::vector<std::size_t> next(lanes.size());
  while (true) {
    Round round;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const std::vector<const Span*>& forwards = ForwardsOf(*lanes[i]);
      if (next[i] == forwards.size()) return rounds;
      round.push_back(forwards[next[i]]);
    }
    const auto first = std::ranges::min_element(round, {}, &Span::End);
    const Span* const last = std::ranges::max(round, {}, &Span::start);
    if (last->start < (*first)->End()) {
      for (std::size_t& place : next) ++place;
      rounds.push_back(std::move(round));
    } else {
      ++next[static_cast<std::size_t>(first - round.begin())];
    }
  }
}

// How far a moment of the rounds, their begin or end, is apart on the ranks.
struct Lag {
  TimeNs sum = 0;                                        // of the last behind the middle one
  TimeNs spread = 0;                                     // of the last behind the first one
  std::map<std::size_t, std::vector<TimeNs>> of_last{};  // by the rank that is last

  template <typename Moment>
  Lag(const std::vector<Round>& rounds, Moment moment) {
    for (const Round& round : rounds) {
      std::vector<TimeNs> times;
      for (const Span* span : round) times.push_back(moment(*span));
      const auto last = static_cast<std::size_t>(std::ranges::max_element(times) - times.begin());
      std::ranges::sort(times);
      const TimeNs behind = times.back() - times[(times.size() - 1) / 2];
      of_last[last].push_back(behind);
      sum += behind;
      spread += times.back() - times.front();
    }
  }

  // The rank that most of the time goes to.
  std::size_t Latest() const {
    const auto sum_of = [](const auto& one) { return SumOf(one.second); };
    return std::ranges::max_element(of_last, {}, sum_of)->first;
  }
};

// True if the rank has no more requests than the others.
bool HasNoMoreToDo(const std::vector<Round>& rounds, std::size_t rank) {
  constexpr double kMore = 1.1;
  double own = 0, others = 0;
  for (const Round& round : rounds) {
    for (std::size_t i = 0; i < round.size(); ++i)
      (i == rank ? own : others) += std::max(round[i]->requests, 0);
  }
  return own * static_cast<double>(rounds.front().size() - 1) <= kMore * others;
}

void FindOutOfStep(const Scene& scene, std::size_t instance, std::vector<Finding>& found) {
  constexpr double kLost = 0.1, kTogether = 0.05, kPaired = 0.8, kMostly = 0.6;
  std::vector<const Lane*> lanes;
  std::size_t most = 0;
  TimeNs active = 0;
  for (const Lane& lane : scene.lanes) {
    if (lane.instance != instance || ForwardsOf(lane).size() < kLeastSteps) continue;
    lanes.push_back(&lane);
    most = std::max(most, ForwardsOf(lane).size());
    active = std::max(active, lane.times.active);
  }
  if (lanes.size() < 2) return;
  const std::vector<Round> rounds = RoundsOf(lanes);
  if (rounds.size() < kLeastSteps || Ratio(rounds.size(), most) < kPaired) return;
  TimeNs whole = 0;
  for (const Round& round : rounds)
    whole += std::ranges::max(round, {}, &Span::End)->End() -
             std::ranges::min(round, {}, &Span::start)->start;
  const Lag begins(rounds, [](const Span& span) { return span.start; });
  const Lag ends(rounds, [](const Span& span) { return span.End(); });
  // Ranks that depend on each other have one of the two together. Clocks that differ shift both.
  const bool late_begin =
      Ratio(begins.sum, whole) >= kLost && Ratio(ends.spread, whole) < kTogether;
  const bool late_end = Ratio(ends.sum, whole) >= kLost &&
                        Ratio(begins.spread, whole) < kTogether &&
                        HasNoMoreToDo(rounds, ends.Latest());
  if (!late_begin && !late_end) return;
  const Lag& lag = late_begin ? begins : ends;
  const std::size_t latest = lag.Latest();
  const std::vector<TimeNs>& times = lag.of_last.at(latest);
  const bool is_one = Ratio(SumOf(times), lag.sum) >= kMostly;
  const std::string rank = Say("dp {}", lanes[latest]->dp_rank);
  const std::string median = TimeText(Median(times)),
                    part = ShareText(Ratio(times.size(), rounds.size()));
  std::string evidence =
      late_begin
          ? Say("{} begins its forward pass {} behind the others (median) in {} of {} rounds;"
                " they wait for it in their collectives",
                rank, median, part, rounds.size())
          : Say("{} ends its forward pass {} behind the others (median) in {} of {} rounds,"
                " with no more requests; they wait for it before the next one",
                rank, median, part, rounds.size());
  if (!is_one) evidence += Say("; the ranks take turns");
  found.push_back(
      {.cause = Cause::kOutOfStep,
       .where = is_one ? scene.WhereOf(*lanes[latest])
                       : WhereText(scene.servers[instance]->name, -1, scene.HasInstances()),
       .share = ShareBehindQueue(scene, lag.sum, active),
       .title = Say("forward passes of data parallel ranks are out of step"),
       .evidence = std::move(evidence),
       .mend = Say("look at what that rank does between two forward passes: its scheduler and its"
                   " launches, and what else runs on its cores and its node"),
       .refuted_by = Say("begin and end are equally far apart, so clocks differ, or the rank has"
                         " more to compute")});
}

}  // namespace

void FindRankCauses(const Scene& scene, std::vector<Finding>& found) {
  for (std::size_t i = 0; i < scene.servers.size(); ++i) FindOutOfStep(scene, i, found);
}

}  // namespace mpa::recipes::serving_requests
