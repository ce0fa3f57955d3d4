// SPDX-License-Identifier: Apache-2.0
#include "mpa/diagnosis/replay/what_if.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "mpa/base/stable_sort.h"

namespace mpa {
namespace {

using Removals = StepReplays::Removals;

// How many candidates are tried in pairs, by the time they take alone: a bound of the work, since
// six make fifteen replays.
constexpr std::size_t kPaired = 6;

TimeNs Taken(const Removal& removal) {
  TimeNs sum = 0;
  for (const auto& node : removal.durations) sum += node.less;
  for (const auto& edge : removal.waits) sum += edge.less;
  return sum;
}

}  // namespace

WaterfallSearch::WaterfallSearch(StepReplays& replays, std::vector<const WhatIf*> candidates,
                                 TimeNs least, TimeNs least_of_two)
    : replays_(replays),
      candidates_(std::move(candidates)),
      least_(least),
      least_of_two_(least_of_two) {
  for (const WhatIf* candidate : candidates_) taken_.push_back(Taken(candidate->expect));
}

Waterfall WaterfallSearch::Run() {
  made_.clear();
  result_ = {};
  now_ = result_.step = replays_.Recorded();
  std::vector<Candidates> each;
  for (std::size_t candidate = 0; candidate < candidates_.size(); ++candidate)
    each.push_back({candidate});
  result_.alone = GainsOf(each);
  for (const bool opportunities : {false, true}) {
    while (TakeBest(opportunities) || TakePair(opportunities)) {
    }
  }
  result_.step_after_fixes = now_;
  return std::move(result_);
}

const Removal& WaterfallSearch::RemovalOf(std::size_t candidate) const {
  return candidate < candidates_.size() ? candidates_[candidate]->expect
                                        : candidates_[candidate - candidates_.size()]->bound;
}

// How long a step is with each of several sets of candidates fixed beyond what is made.
std::vector<TimeNs> WaterfallSearch::TimesWith(const std::vector<Candidates>& sets) {
  std::vector<Candidates> keys;
  std::vector<Removals> unknown;
  std::vector<std::size_t> of_unknown;  // the sets
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Candidates& key = keys.emplace_back(sets[i]);
    key.insert(key.end(), made_.begin(), made_.end());
    std::ranges::sort(key);
    if (times_.contains(key)) continue;
    of_unknown.push_back(i);
    Removals& removals = unknown.emplace_back();
    for (const std::size_t candidate : sets[i]) removals.push_back(&RemovalOf(candidate));
  }
  Removals made;
  for (const std::size_t candidate : made_) made.push_back(&RemovalOf(candidate));
  const std::vector<TimeNs> replayed = replays_.Times(made, unknown);
  for (std::size_t i = 0; i < replayed.size(); ++i) times_[keys[of_unknown[i]]] = replayed[i];
  std::vector<TimeNs> times;
  for (const Candidates& key : keys) times.push_back(times_.at(key));
  return times;
}

std::vector<TimeNs> WaterfallSearch::GainsOf(const std::vector<Candidates>& sets) {
  std::vector<TimeNs> gains = TimesWith(sets);
  for (TimeNs& gain : gains) gain = now_ - gain;
  return gains;
}

WaterfallSearch::Candidates WaterfallSearch::OpenCandidates(bool opportunities) const {
  Candidates open;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i]->opportunity == opportunities && std::ranges::find(made_, i) == made_.end())
      open.push_back(i);
  }
  return open;
}

bool WaterfallSearch::TakeBest(bool opportunities) {
  const Candidates open = OpenCandidates(opportunities);
  std::vector<Candidates> each;
  for (const std::size_t candidate : open) each.push_back({candidate});
  const std::vector<TimeNs> gains = GainsOf(each);
  std::optional<std::size_t> best;
  TimeNs most = least_ - 1;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (gains[i] <= most) continue;
    most = gains[i];
    best = open[i];
  }
  if (best.has_value()) Take(*best, false);
  return best.has_value();
}

// Of the candidates that take most time, the two that win most together.
bool WaterfallSearch::TakePair(bool opportunities) {
  Candidates largest = OpenCandidates(opportunities);
  std::erase_if(largest, [&](std::size_t candidate) { return taken_[candidate] <= 0; });
  StableSort(largest, std::greater{}, [&](std::size_t a) { return taken_[a]; });
  largest.resize(std::min(largest.size(), kPaired));
  std::vector<Candidates> pairs;
  for (std::size_t a = 0; a < largest.size(); ++a) {
    for (std::size_t b = a + 1; b < largest.size(); ++b) pairs.push_back({largest[a], largest[b]});
  }
  const std::vector<TimeNs> gains = GainsOf(pairs);
  TimeNs most = least_of_two_ - 1;
  const Candidates* best = nullptr;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (gains[i] <= most) continue;
    most = gains[i];
    best = &pairs[i];
  }
  if (best == nullptr) return false;
  Take((*best)[0], true);
  Take((*best)[1], false);
  return true;
}

void WaterfallSearch::Take(std::size_t candidate, bool pays_only_with_next) {
  std::vector<Candidates> sets = {{candidate}};
  if (Taken(candidates_[candidate]->bound) > 0) sets.push_back({candidates_.size() + candidate});
  const std::vector<TimeNs> times = TimesWith(sets);
  const TimeNs then = times.front(), most = now_ - times.back();
  result_.gains.push_back(
      {candidate, now_ - then, std::max(most, now_ - then), pays_only_with_next});
  now_ = then;
  made_.push_back(candidate);
}

}  // namespace mpa
