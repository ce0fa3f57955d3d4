// SPDX-License-Identifier: Apache-2.0
// One run out of the summaries of its ranks.
#include <algorithm>
#include <cassert>
#include <utility>

#include "mpa/gate/summarise.h"
#include "mpa/measure/quantiles.h"

namespace mpa::gate {
namespace {

std::int64_t Reduce(std::vector<std::int64_t> values, RankStat stat) {
  if (stat == RankStat::kMedian) return Median(std::move(values));
  std::sort(values.begin(), values.end());
  return values[stat == RankStat::kWorst ? values.size() - 1 : NearestRank(values.size(), 95)];
}

// The rank whose median of the first of the metrics that it has is what `stat` asks for.
std::size_t Deciding(const std::vector<RankSummary>& ranks, RankStat stat,
                     std::initializer_list<MetricKind> kinds) {
  std::vector<std::pair<std::int64_t, std::size_t>> by_time;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Samples& samples = ranks[i].samples;
    auto found = samples.end();
    for (const MetricKind kind : kinds) {
      if (found == samples.end()) found = samples.find({kind, ""});
    }
    by_time.emplace_back(found == samples.end() ? 0 : Median(found->second), i);
  }
  std::sort(by_time.begin(), by_time.end());
  switch (stat) {
    case RankStat::kWorst:
      return by_time.back().second;
    case RankStat::kP95:
      return by_time[NearestRank(by_time.size(), 95)].second;
    case RankStat::kMedian:
      break;
  }
  return by_time[NearestRank(by_time.size(), 50)].second;
}

// Where the steps that all ranks have stand in each of them.
std::vector<std::vector<std::size_t>> PlacesOfCommonSteps(const std::vector<RankSummary>& ranks,
                                                          std::vector<std::int32_t>& common) {
  std::map<std::int32_t, std::vector<std::size_t>> places;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (std::size_t at = 0; at < ranks[rank].steps.size(); ++at) {
      auto& of_step = places[ranks[rank].steps[at]];
      if (of_step.size() == rank) of_step.push_back(at);  // all ranks before have it
    }
  }
  std::vector<std::vector<std::size_t>> of_common;
  for (auto& [step, of_step] : places) {
    if (of_step.size() != ranks.size()) continue;
    common.push_back(step);
    of_common.push_back(std::move(of_step));
  }
  return of_common;
}

}  // namespace

RunSummary ReduceRanks(std::vector<RankSummary> ranks, RankStat stat) {
  assert(!ranks.empty());
  RunSummary run;
  auto places = PlacesOfCommonSteps(ranks, run.steps);
  for (const auto& [metric, first] : ranks.front().samples) {
    const bool everywhere =
        std::all_of(ranks.begin(), ranks.end(), [&, wanted = metric](const RankSummary& rank) {
          const auto found = rank.samples.find(wanted);
          return found != rank.samples.end() && !found->second.empty();
        });
    if (!everywhere) continue;
    const bool per_step = IsPerStep(metric.kind) && !ranks.front().steps.empty();
    std::vector<std::int64_t>& reduced = run.samples[metric];
    for (std::size_t i = 0; i < (per_step ? places.size() : first.size()); ++i) {
      std::vector<std::int64_t> values;
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const auto& samples = ranks[rank].samples.at(metric);
        values.push_back(samples[per_step ? places[i][rank] : std::min(i, samples.size() - 1)]);
      }
      reduced.push_back(Reduce(std::move(values), stat));
    }
  }
  for (const RankSummary& rank : ranks) {
    for (const auto& [shape, count] : rank.shapes) run.shapes[shape] += count;
  }
  const std::size_t longest = Deciding(ranks, stat, {MetricKind::kE2e});
  TimesByName capture = ranks[longest].breakdown.capture;
  run.breakdown =
      std::move(ranks[Deciding(ranks, stat, {MetricKind::kStepTime, MetricKind::kE2e})].breakdown);
  run.breakdown.capture = std::move(capture);
  return run;
}

}  // namespace mpa::gate
