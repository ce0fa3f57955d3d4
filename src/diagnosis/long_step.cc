// SPDX-License-Identifier: Apache-2.0
// A single step that takes much longer than the others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "diagnose.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/measure/quantiles.h"
#include "mpa/measure/serving_steps.h"

namespace mpa {
namespace {

constexpr Threshold kLongRatio{"ratio", 2, 1, 1000,
                               "the step takes at least this many times the median of the others"};

constexpr MetricInfo kSlowerThanSteps{"slower_than_steps", "ratio",
                                      "{} times the length of the others"};

// What a rank does in a step beyond the median of its other steps, by class.
struct StepExcess {
  RankIndex rank{};
  std::size_t step = 0;
  double ratio = 0;  // of the lengths of the step and the others
  std::array<TimeNs, kTimeCategories> by_category{};
  std::array<TimeNs, kTimeCategories> all{};  // the whole time of the class in the step
  TimeNs Sum() const {
    TimeNs sum = 0;
    for (const TimeNs time : by_category) sum += time;
    return sum;
  }
};

// The median of all values but the one at `place`; the values are in ascending order. 0 for fewer
// than two others.
TimeNs MedianOfOthers(const std::vector<TimeNs>& sorted, std::size_t place) {
  const auto other = [&](std::size_t i) { return sorted[i < place ? i : i + 1]; };
  const std::size_t count = sorted.size() - 1;
  if (count < 2) return 0;
  if (count % 2 == 1) return other(count / 2);
  return Median(std::vector{other(count / 2 - 1), other(count / 2)});
}

// Of each step which others it is compared with: all, or of a server those that do the same.
std::vector<PhaseAndSize> KindsOfSteps(const std::vector<StepPart>& steps, std::size_t first,
                                       std::size_t count) {
  std::vector<PhaseAndSize> kinds(count, PhaseAndSizeOf({}));
  for (std::size_t i = 0; i < count && first + i < steps.size(); ++i) {
    kinds[i] = PhaseAndSizeOf(steps[first + i].batch);
  }
  return kinds;
}

// A time of each step, and what is usual for the others of its kind.
class StepTimes {
 public:
  StepTimes(std::vector<TimeNs> times, const std::vector<PhaseAndSize>& kinds)
      : times_(std::move(times)), kinds_(kinds) {
    for (std::size_t i = 0; i < times_.size(); ++i) sorted_[kinds_[i]].push_back(times_[i]);
    for (auto& [kind, of_kind] : sorted_) std::ranges::sort(of_kind);
  }
  TimeNs At(std::size_t step) const { return times_[step]; }
  TimeNs UsualOf(std::size_t step) const {
    const std::vector<TimeNs>& sorted = sorted_.at(kinds_[step]);
    const auto place = std::ranges::lower_bound(sorted, times_[step]);
    return MedianOfOthers(sorted, static_cast<std::size_t>(place - sorted.begin()));
  }

 private:
  std::vector<TimeNs> times_;
  std::vector<PhaseAndSize> kinds_;
  std::map<PhaseAndSize, std::vector<TimeNs>> sorted_;  // by kind
};

// The times of the counted steps of a rank by class: of the host's work, or of the account where
// kernels compute.
struct RankTimes {
  StepTimes lengths;
  std::map<TimeCategory, StepTimes> by_category;
};

RankTimes TimesOf(const Job& job, RankIndex rank) {
  const RankDiagnosis& part = job.Part(rank);
  const std::size_t count = job.steps - job.first_step;
  std::vector<TimeNs> lengths(count);
  std::vector<std::vector<TimeNs>> times(kTimeCategories, std::vector<TimeNs>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t step = job.first_step + i;
    if (step < part.steps.size()) lengths[i] = part.steps[step].end - part.steps[step].begin;
    for (std::size_t category = 0; category < kTimeCategories; ++category) {
      if (IsFree(static_cast<TimeCategory>(category)))
        times[category][i] = job.work[rank][step].host[category];
    }
  }
  for (const GraphNode& node : part.graph.nodes) {
    const auto step = static_cast<std::size_t>(node.step);
    if (node.kind != NodeKind::kKernel || IsFree(node.category) || node.step < 0 ||
        step < job.first_step || step >= job.steps) {
      continue;
    }
    times[static_cast<std::size_t>(node.category)][step - job.first_step] += node.dur;
  }
  const std::vector<PhaseAndSize> kinds = KindsOfSteps(part.steps, job.first_step, count);
  RankTimes all{StepTimes(std::move(lengths), kinds), {}};
  for (std::size_t i = 0; i < kTimeCategories; ++i) {
    const auto category = static_cast<TimeCategory>(i);
    if (IsCompute(category) || (IsFree(category) && category != TimeCategory::kProfiler)) {
      all.by_category.emplace(category, StepTimes(std::move(times[i]), kinds));
    }
  }
  return all;
}

class LongSteps {
 public:
  explicit LongSteps(const Job& job) : job_(job) {}

  // The step and rank with the largest excess, of steps that are much longer for it.
  std::optional<StepExcess> Find() const {
    std::optional<StepExcess> largest;
    if (static_cast<double>(job_.CountedSteps()) < job_.thresholds[kFewSteps]) return largest;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const RankTimes times = TimesOf(job_, rank);
      for (std::size_t i = 0; i < job_.steps - job_.first_step; ++i) {
        const TimeNs own = times.lengths.At(i), usual = times.lengths.UsualOf(i);
        if (usual <= 0 ||
            static_cast<double>(own) < job_.thresholds[kLongRatio] * static_cast<double>(usual))
          continue;
        StepExcess excess{.rank = rank, .step = job_.first_step + i};
        excess.ratio = Share(own, usual);
        for (const auto& [category, of_category] : times.by_category) {
          const auto at = static_cast<std::size_t>(category);
          excess.by_category[at] = std::max<TimeNs>(0, of_category.At(i) - of_category.UsualOf(i));
          excess.all[at] = of_category.At(i);
        }
        // What waits for another rank is long as well, but not for what it does.
        if (2 * excess.Sum() < own - usual || (largest && excess.Sum() <= largest->Sum())) continue;
        largest = excess;
      }
    }
    return largest;
  }

  // The excess out of the host's work and the kernels of the step, each class by its share.
  Removal Without(const StepExcess& excess) const {
    Removal removal;
    const RankDiagnosis& part = job_.Part(excess.rank);
    const auto step = static_cast<std::int32_t>(excess.step);
    const auto less = [&](TimeCategory category, TimeNs time) {
      const auto at = static_cast<std::size_t>(category);
      return excess.all[at] <= 0 ? 0 : ShareOf(time, Share(excess.by_category[at], excess.all[at]));
    };
    for (const HostShare& share : part.shares) {
      if (job_.StepOfEdge(excess.rank, share.edge) != step || share.starts_up) continue;
      const TimeNs time = less(share.category, share.time);
      if (time > 0)
        removal.waits.push_back({job_.graph.first_edge[excess.rank] + share.edge, time});
    }
    for (std::uint32_t i = 0; i < part.graph.nodes.size(); ++i) {
      const GraphNode& node = part.graph.nodes[i];
      if (node.kind != NodeKind::kKernel || node.step != step) continue;
      const TimeNs time = less(node.category, node.dur);
      if (time > 0) removal.durations.push_back({job_.graph.first_node[excess.rank] + i, time});
    }
    return removal;
  }

 private:
  const Job& job_;
};

// Tells it where no finding explains what the rank does then.
void AddLongStep(Conclusions& conclusions) {
  const Job& job = conclusions.job;
  const LongSteps steps(job);
  const std::optional<StepExcess> excess = steps.Find();
  if (!excess) return;
  WhatIf what_if;
  what_if.expect = steps.Without(*excess);
  const StepReplays::Removals made = FixesOf(conclusions.diagnosis);
  StepReplays::Removals with = made;
  with.push_back(&what_if.expect);
  StepReplays& replays = conclusions.replays;
  const TimeNs gain = replays.Time(made) - replays.Time(with);
  // A finding that has taken most of it tells the cause.
  const TimeNs step = conclusions.diagnosis.step;
  const TimeNs alone = step - replays.Time({&what_if.expect});
  if (gain < LeastGain(job.thresholds, step) || 2 * gain < alone) return;
  const std::int32_t id = job.Part(excess->rank).steps[excess->step].id;
  const RankId rank = job.ranks[excess->rank].rank;
  Finding found = NewFinding(job, kStepLong, fmt::format("s{}/r{}", id, RankName(rank)));
  found.ranks = {rank};
  found.steps = {id};
  const auto largest = std::ranges::max_element(excess->by_category);
  found.category = NameOf(static_cast<TimeCategory>(largest - excess->by_category.begin()));
  found.Measure(kSlowerThanSteps, excess->ratio);
  found.gain = gain;
  found.alone = alone;
  found.gain_max = gain;
  EvidenceFinder(job).Find(what_if, {}, found);
  conclusions.AddGain(std::move(found));
}

}  // namespace

const FindingType kStepLong = Fault(
    Area::kRanks, "step.long", {"platform", "framework"},
    "one step takes much longer than the others",
    {.looked_at =
         "each step of a rank compared with the median of its other steps, by class of work",
     .refuted_by = "the step only waits for another rank, or another finding covers that time",
     .applies = [](const Coverage& job) { return job.steps >= job.thresholds[kFewSteps]; },
     .conclude = AddLongStep,
     .advice = {{{"see what runs on the node at that time (logs, other processes)",
                  Check("what else runs in that step")}}},
     .thresholds = {&kLongRatio}});

}  // namespace mpa
