// SPDX-License-Identifier: Apache-2.0
// From the events of a rank to the samples of its steps.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "host_times.h"
#include "mpa/base/rank.h"
#include "mpa/change/account_names.h"
#include "mpa/change/long_step.h"
#include "mpa/change/step_account.h"
#include "mpa/gate/comparable.h"
#include "mpa/gate/run_summary.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/memory_growth.h"
#include "mpa/measure/module_tree.h"
#include "mpa/measure/op_tree.h"
#include "mpa/measure/overall_metrics.h"
#include "mpa/measure/quantiles.h"
#include "mpa/model/step_bounds.h"
#include "phases.h"
#include "requests.h"

namespace mpa::gate {
namespace {

// The device of the rank, or all that may be it.
std::string ChipOf(const RankTrace& trace) {
  std::set<std::string> chips;
  for (std::size_t i = 0; i < trace.chips.Size(); ++i) {
    if (trace.device_id >= 0 && trace.chips.device[i] != trace.device_id) continue;
    chips.insert(fmt::format("{} cube and {} vector cores at {} MHz", trace.chips.cube_cores[i],
                             trace.chips.vector_cores[i], PlainNumber(trace.chips.cube_mhz[i])));
  }
  return fmt::format("{}", fmt::join(chips, " or "));
}

class Summariser {
 public:
  Summariser(const RankTrace& trace, const SummaryRequest& request)
      : trace_(trace),
        request_(request),
        account_(AccountRank(trace)),
        bounds_(trace, account_.clock.offset),
        activities_(ActivitiesOf(trace)),
        overall_(ComputeOverall(trace, account_.clock)) {
    for (const StepAccount& step : account_.steps) windows_.push_back(step.window);
    if (!trace.steps.Empty()) {
      warmup_ = std::min(request.warmup, windows_.size());
      windows_.erase(windows_.begin(), windows_.begin() + static_cast<std::ptrdiff_t>(warmup_));
    }
    computing_ = LengthInWindows(activities_.computing, windows_);
  }

  RankSummary Summarise() {
    for (std::size_t step = warmup_; step < account_.steps.size(); ++step) {
      if (account_.steps[step].id >= 0) summary_.steps.push_back(account_.steps[step].id);
    }
    summary_.chip = ChipOf(trace_);
    AddWholeCapture();
    if (!activities_.Empty()) AddActivities();
    AddAccountOfSteps();
    if (!trace_.kernels.Empty()) AddKernels();
    if (!trace_.host_ops.Empty()) AddHost();
    AddPhases(trace_, request_.warmup, summary_);
    AddLongStep();
    if (const auto growth = AllocatedGrowth(trace_))
      summary_.samples[{MetricKind::kMemoryGrowth, ""}] = {std::max<std::int64_t>(0, *growth)};
    return std::move(summary_);
  }

 private:
  // Counted from the first judged step; without steps all belongs to the only window.
  std::optional<std::size_t> Judged(std::optional<std::size_t> step) const {
    if (windows_.empty()) return std::nullopt;
    if (trace_.steps.Empty()) return 0;
    if (!step || *step < warmup_) return std::nullopt;
    return *step - warmup_;
  }

  void AddWholeCapture() {
    if (overall_.e2e > 0) {
      summary_.samples[{MetricKind::kE2e, ""}] = {overall_.e2e};
      AddPartsOfCapture();
    }
    if (overall_.peak_memory_bytes >= 0) {
      summary_.allocators = fmt::format("{}", fmt::join(overall_.allocators, ", "));
      summary_.samples[{MetricKind::kPeakMemory, ""}] = {overall_.peak_memory_bytes};
    }
  }

  void AddPartsOfCapture() {
    TimesByName& parts = summary_.breakdown.capture;
    const auto add = [&](const std::string& name, TimeNs time) {
      if (time > 0) parts[name].time = time;
    };
    TimeNs rest = overall_.exposed_communication;
    const std::vector<Interval> all = {
        {std::numeric_limits<TimeNs>::min(), std::numeric_limits<TimeNs>::max()}};
    for (const auto& [kind, times] : ExposedByKind(trace_, activities_.exposed, all)) {
      add("exposed " + kind, times.front());
      rest -= times.front();
    }
    add("other exposed communication", rest);
    add("computing", overall_.computing);
    add("LCCL", overall_.lccl.time);
    add(kFreeBetweenTasks, overall_.free);
  }

  void AddActivities() {
    Samples& samples = summary_.samples;
    samples[{MetricKind::kCommTotal, ""}] = LengthInWindows(activities_.communication, windows_);
    if (trace_.steps.Empty()) {
      // One window around all device work: its parts are those of the comparison. There is none
      // where the profiler's own analysis is all that is left of the work.
      if (!windows_.empty()) {
        AddParts({overall_.computing}, {overall_.exposed_communication}, {overall_.lccl.time},
                 {overall_.e2e});
      }
    } else {
      std::vector<TimeNs> lengths;
      for (const Interval& window : windows_) lengths.push_back(window.end - window.begin);
      AddParts(computing_, LengthInWindows(activities_.exposed, windows_),
               LengthInWindows(activities_.lccl, windows_), lengths);
      samples[{MetricKind::kStepTime, ""}] = std::move(lengths);
    }

    StepTable collectives(windows_.size());
    for (const auto& [kind, times] : ExposedByKind(trace_, activities_.exposed, windows_)) {
      for (std::size_t i = 0; i < times.size(); ++i) collectives.Add(kind, i, times[i], 0);
    }
    summary_.breakdown.collectives = collectives.Medians();
  }

  // Of the longest step, where one is far longer than the others.
  void AddLongStep() {
    std::vector<TimeNs> lengths;
    for (const Interval& window : windows_) lengths.push_back(window.end - window.begin);
    if (summary_.steps.size() != lengths.size() || lengths.empty()) return;
    const std::vector<TimeNs> usual(lengths.size(), Median(lengths));
    const auto found = FindLongStep(usual, lengths);
    if (!found || !found->in_comparison) return;
    summary_.long_step = summary_.steps[found->position];
    const StepAccount& step = account_.steps[warmup_ + found->position];
    summary_.long_step_excess =
        found->excess - std::min(found->excess, step.categories[TimeCategory::kWaitPeer] +
                                                    step.categories[TimeCategory::kBubble]);
    summary_.long_step_cause = CauseOfStep(trace_, account_, warmup_ + found->position);
  }

  void AddAccountOfSteps() {
    AccountTimes median = MedianAccount(trace_, account_, warmup_);
    summary_.breakdown.account = std::move(median.parts);
    summary_.breakdown.places = std::move(median.places);
  }

  // Copies and free time are those of the account. Without steps the parts are those of the
  // comparison, and free time is what they leave.
  void AddParts(const std::vector<TimeNs>& computing, const std::vector<TimeNs>& exposed,
                const std::vector<TimeNs>& lccl, const std::vector<TimeNs>& lengths) {
    std::vector<TimeNs> copies, free;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const CategoryTimes& categories = account_.steps[warmup_ + i].categories;
      copies.push_back(categories.SumOf(IsDeviceCopy));
      // LCCL kernels count in full beside what they overlap.
      const TimeNs rest = lengths[i] - computing[i] - exposed[i] - lccl[i] - copies[i];
      free.push_back(trace_.steps.Empty() ? std::max<TimeNs>(0, rest) : categories.SumOf(IsFree));
    }
    Samples& samples = summary_.samples;
    samples[{MetricKind::kComputing, ""}] = computing;
    samples[{MetricKind::kCommExposed, ""}] = exposed;
    if (!activities_.lccl.empty()) samples[{MetricKind::kLccl, ""}] = lccl;
    samples[{MetricKind::kCopies, ""}] = std::move(copies);
    samples[{MetricKind::kFree, ""}] = std::move(free);
  }

  void AddKernels() {
    StepTable kernels(windows_.size()), op_types(windows_.size());
    const Kernels& table = trace_.kernels;
    bool has_types = false;
    std::vector<bool> listed(windows_.size(), false);
    for (std::size_t i = 0; i < table.Size(); ++i) {
      const auto step = Judged(bounds_.OfDeviceWork(table.link[i], table.start[i]));
      const std::string_view name = trace_.strings.View(table.name[i]);
      if (!step) continue;
      listed[*step] = true;
      kernels.Add(name, *step, table.dur[i]);
      const std::string_view type = trace_.strings.View(table.op_type[i]);
      if (!type.empty()) {
        op_types.Add(type, *step, table.dur[i]);
        has_types = true;
      }
      std::string shape = ShapeOf(trace_, i);
      if (!shape.empty()) ++summary_.shapes[std::move(shape)];
    }
    // The profiler's own analysis knows of what the list lacks.
    const std::vector<TimeNs> computing =
        LengthInWindows(AnalysedActivitiesOf(trace_).computing, windows_);
    for (std::size_t i = 0; i < summary_.steps.size(); ++i) {
      if (!listed[i] && computing[i] > 0) {
        summary_.steps_without_kernels.push_back(summary_.steps[i]);
      }
    }
    for (const Metric& metric : request_.patterns) {
      const auto fits = [&](std::string_view name) { return FitsPattern(metric.pattern, name); };
      if (metric.kind == MetricKind::kKernel) {
        summary_.samples[metric] = kernels.SumOf(fits);
      } else if (metric.kind == MetricKind::kOp && !IsFrameworkOp(metric) && has_types) {
        summary_.samples[metric] = op_types.SumOf(fits);
      }
    }
    summary_.breakdown.kernels = kernels.Medians();
    summary_.breakdown.op_types = op_types.Medians();
  }

  void AddHost() {
    const OpTree ops(trace_);
    const StepFinder find{[this](TimeNs time) { return Judged(bounds_.OfHostTime(time)); },
                          [this](TimeNs launched, TimeNs start) {
                            return Judged(bounds_.OfLaunchedWork(launched, start));
                          }};
    const std::size_t steps = windows_.size();
    StepTable device(steps), host(steps), modules(steps);
    AddOperators(ops, find, device, host);
    if (request_.modules && HasModules(trace_)) AddModules(ops, find, modules);
    summary_.breakdown.operators = device.Medians();
    summary_.breakdown.apis = host.Medians();
    summary_.breakdown.modules = modules.Medians();
    for (const Metric& metric : request_.patterns) {
      if (metric.kind == MetricKind::kApi || IsFrameworkOp(metric)) {
        summary_.samples[metric] = SumOfOperators(ops, find, steps, metric);
      } else if (metric.kind == MetricKind::kModule && HasModules(trace_)) {
        summary_.samples[metric] = SumOfModules(ops, find, steps, metric);
      }
    }
  }

  const RankTrace& trace_;
  const SummaryRequest& request_;
  const RankAccount account_;
  const StepBounds bounds_;
  const Activities activities_;
  const OverallMetrics overall_;
  std::vector<Interval> windows_;  // of the judged steps
  std::vector<TimeNs> computing_;  // in each window
  std::size_t warmup_ = 0;
  RankSummary summary_;
};

}  // namespace

Tables TablesFor(const SummaryRequest& request) {
  const bool modules =
      request.modules || std::ranges::any_of(request.patterns, [](const Metric& metric) {
        return metric.kind == MetricKind::kModule;
      });
  const Tables always = kAccountTables | Tables::kKernelCounters | Tables::kOverlaps |
                        Tables::kMemorySamples | Tables::kChips | Tables::kJobInfo |
                        Tables::kOpStacks;
  return modules ? always | Tables::kBackwardLinks : always;
}

RankSummary Summarise(const RankTrace& trace, const SummaryRequest& request) {
  return Summariser(trace, request).Summarise();
}

// One run out of the summaries of its ranks.

namespace {

std::int64_t Reduce(std::vector<std::int64_t> values, RankStat stat) {
  if (stat == RankStat::kMedian) return Median(std::move(values));
  std::ranges::sort(values);
  return values[stat == RankStat::kWorst ? values.size() - 1 : PercentileIndex(values.size(), 95)];
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
  std::ranges::sort(by_time);
  switch (stat) {
    case RankStat::kWorst:
      return by_time.back().second;
    case RankStat::kP95:
      return by_time[PercentileIndex(by_time.size(), 95)].second;
    case RankStat::kMedian:
      break;
  }
  return by_time[PercentileIndex(by_time.size(), 50)].second;
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

// Engines that share a job need not have steps of the same sizes.
void ReducePhases(const std::vector<RankSummary>& ranks, RankStat stat, Samples& reduced) {
  std::map<Metric, std::vector<const std::vector<std::int64_t>*>> phases;
  for (const RankSummary& rank : ranks) {
    for (const auto& [metric, samples] : rank.samples) {
      if (IsPhase(metric.kind)) phases[metric].push_back(&samples);
    }
  }
  for (const auto& [metric, of_ranks] : phases) {
    for (std::size_t i = 0;; ++i) {
      std::vector<std::int64_t> values;
      for (const auto* samples : of_ranks) {
        if (i < samples->size()) values.push_back((*samples)[i]);
      }
      if (values.empty()) break;
      reduced[metric].push_back(Reduce(std::move(values), stat));
    }
  }
}

// The records of servers, which are taken from the ranks.
std::vector<RankSummary> TakeServers(std::vector<RankSummary>& ranks) {
  const auto is_server = [](const RankSummary& rank) {
    return std::ranges::any_of(rank.samples,
                               [](const auto& samples) { return IsRequest(samples.first.kind); });
  };
  const auto servers = std::stable_partition(ranks.begin(), ranks.end(), std::not_fn(is_server));
  std::vector<RankSummary> taken(std::make_move_iterator(servers),
                                 std::make_move_iterator(ranks.end()));
  ranks.erase(servers, ranks.end());
  return taken;
}

}  // namespace

RunSummary ReduceRanks(std::vector<RankSummary> ranks, RankStat stat) {
  assert(!ranks.empty());
  RunSummary run;
  const std::vector<RankSummary> servers = TakeServers(ranks);
  AddRequests(servers, run.samples);
  if (ranks.empty()) return run;
  auto places = PlacesOfCommonSteps(ranks, run.steps);
  ReducePhases(ranks, stat, run.samples);
  for (const auto& [metric, first] : ranks.front().samples) {
    if (IsPhase(metric.kind)) continue;
    const bool everywhere =
        std::ranges::all_of(ranks, [&, wanted = metric](const RankSummary& rank) {
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
  std::map<std::int32_t, TimeNs> excess;
  for (const RankSummary& rank : ranks) {
    if (rank.long_step < 0 || rank.long_step_cause.empty()) continue;
    const auto [known, is_new] = excess.try_emplace(rank.long_step, rank.long_step_excess);
    if (!is_new && known->second >= rank.long_step_excess) continue;
    known->second = rank.long_step_excess;
    const std::string whose =
        ranks.size() > 1 ? fmt::format("rank {}: ", RankName(rank.rank)) : std::string();
    run.long_steps[rank.long_step] = whose + rank.long_step_cause;
  }
  const std::size_t longest = Deciding(ranks, stat, {MetricKind::kE2e});
  TimesByName capture = ranks[longest].breakdown.capture;
  run.breakdown =
      std::move(ranks[Deciding(ranks, stat, {MetricKind::kStepTime, MetricKind::kE2e})].breakdown);
  run.breakdown.capture = std::move(capture);
  return run;
}

}  // namespace mpa::gate
