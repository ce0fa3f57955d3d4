// SPDX-License-Identifier: Apache-2.0
// The overall picture of a rank: where the time between first and last device work went.
#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "mpa/base/text.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/collective_phases.h"
#include "mpa/measure/intervals.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/memory_totals.h"
#include "mpa/measure/overall_metrics.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/device_tasks.h"

namespace mpa {
namespace {

// The C_CORE_SQE events, by end. Text captures name them so, databases give them that type.
std::vector<TimeNs> CCoreEnds(const RankTrace& trace) {
  std::vector<TimeNs> ends;
  const DeviceTasks& tasks = trace.device_tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (trace.strings.View(tasks.name[i]) == "C_CORE_SQE" ||
        trace.strings.View(tasks.type[i]) == "C_CORE_SQE") {
      ends.push_back(tasks.start[i] + tasks.dur[i]);
    }
  }
  std::ranges::sort(ends);
  return ends;
}

// The events that end inside the kernel come in pairs, one at each end of a communication.
TimeNs Mc2Communication(const std::vector<TimeNs>& ends, TimeNs start, TimeNs end) {
  TimeNs time = 0;
  auto at = std::lower_bound(ends.begin(), ends.end(), start);
  for (; at != ends.end() && std::next(at) != ends.end() && *std::next(at) <= end; at += 2) {
    time += *std::next(at) - *at;
  }
  return time;
}

// Row numbers of the kernels in order of launch; unlinked ones first, in file order.
std::vector<std::size_t> LaunchOrder(const RankTrace& trace) {
  const LaunchIndex index(trace);
  std::vector<TimeNs> launched(trace.kernels.Size(), 0);
  for (std::size_t i = 0; i < launched.size(); ++i) {
    if (const auto launch = index.Find(trace.kernels.link[i])) {
      launched[i] = trace.launches.host_time[*launch];
    }
  }
  return RowsBy(launched);
}

void AddMc2(const RankTrace& trace, std::size_t kernel, const std::vector<TimeNs>& c_core_ends,
            OverallMetrics& metrics) {
  const Kernels& kernels = trace.kernels;
  const std::string_view name = trace.strings.View(kernels.name[kernel]);
  auto found = std::ranges::find(metrics.mc2, name, &Mc2Kernel::name);
  if (found == metrics.mc2.end()) {
    found = metrics.mc2.insert(metrics.mc2.end(), Mc2Kernel{});
    found->name = name;
  }
  const auto measured = [](TimeNs counter) { return std::max<TimeNs>(0, counter); };
  found->total.Add(kernels.dur[kernel]);
  // Of other aic_metrics the vector core alone has a time.
  found->knows_computing &= kernels.aic_mac[kernel] >= 0 || kernels.aic_mte2[kernel] >= 0;
  found->computing +=
      std::max(measured(kernels.aic_mac[kernel]), measured(kernels.aic_mte2[kernel])) +
      measured(kernels.aiv_total[kernel]);
  found->communication += Mc2Communication(c_core_ends, kernels.start[kernel],
                                           kernels.start[kernel] + kernels.dur[kernel]);
}

// A breakdown in which most kernels fell under "Other" would read as a finding.
bool KnowsMostCores(const RankTrace& trace) {
  std::size_t known = 0;
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
    known += CoreOf(trace, i) != Core::kUnknown ? 1 : 0;
  }
  return 2 * known > trace.kernels.Size();
}

void AddCategories(const RankTrace& trace, const KernelMasks& masks, OverallMetrics& metrics) {
  metrics.has_categories = trace.device == DeviceKind::kGpu || KnowsMostCores(trace);
  if (!metrics.has_categories) return;
  const KernelClassifier classifier(trace, masks);
  const std::vector<TimeNs> c_core_ends = CCoreEnds(trace);
  for (const std::size_t kernel : LaunchOrder(trace)) {
    const Category category = classifier.Classify(kernel);
    metrics.categories[static_cast<std::size_t>(category)].Add(trace.kernels.dur[kernel]);
    if (category == Category::kMc2) AddMc2(trace, kernel, c_core_ends, metrics);
  }
}

void AddLccl(const RankTrace& trace, OverallMetrics& metrics) {
  const Communications& comms = trace.communications;
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (IsLcclKernel(trace.strings.View(comms.name[i]))) metrics.lccl.Add(comms.dur[i]);
  }
}

// Streams that run compute kernels. Where kernels come without a stream (text captures at Level0),
// the types of the tasks tell.
std::set<std::int64_t> ComputeStreams(const RankTrace& trace) {
  std::set<std::int64_t> streams(trace.kernels.stream.begin(), trace.kernels.stream.end());
  streams.erase(-1);
  if (!streams.empty()) return streams;
  const DeviceTasks& tasks = trace.device_tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (IsOneOf(trace.strings.View(tasks.type[i]),
                {"AI_CORE", "MIX_AIC", "MIX_AIV", "AI_CPU", "AI_VECTOR_CORE", "FFTS_PLUS"})) {
      streams.insert(tasks.stream[i]);
    }
  }
  return streams;
}

// Copies on streams that compute. Where streams wait for events at all, only those that do: a
// copy there holds up the kernels behind it.
void AddNpuCopies(const RankTrace& trace, const Intervals& free, OverallMetrics& metrics) {
  const DeviceTasks& tasks = trace.device_tasks;
  const std::set<std::int64_t> computing = ComputeStreams(trace);
  std::set<std::int64_t> waiting;
  std::map<std::int64_t, std::vector<Interval>> copies;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    const std::string_view type = trace.strings.View(tasks.type[i]);
    if (IsOneOf(type, {"EVENT_WAIT_SQE", "EVENT_WAIT"})) {
      waiting.insert(tasks.stream[i]);
    } else if (IsCopy(type)) {
      copies[tasks.stream[i]].push_back({tasks.start[i], tasks.start[i] + tasks.dur[i]});
    }
  }
  std::vector<Interval> counted;
  for (const auto& [stream, times] : copies) {
    if (!computing.contains(stream) || (!waiting.empty() && !waiting.contains(stream))) continue;
    for (const Interval& copy : times) metrics.sdma.Add(copy.end - copy.begin);
    counted.insert(counted.end(), times.begin(), times.end());
  }
  metrics.sdma_in_free = Length(Intersection(Union(std::move(counted)), free));
}

// Copies and memsets of a GPU in which it did nothing else.
void AddGpuCopies(const RankTrace& trace, const Activities& activities, OverallMetrics& metrics) {
  const std::vector<std::size_t> rows = MemoryCopies(trace);
  std::vector<Interval> copies;
  for (const std::size_t row : rows) {
    const TimeNs start = trace.device_tasks.start[row];
    copies.push_back({start, start + trace.device_tasks.dur[row]});
  }
  metrics.sdma.count = static_cast<std::int64_t>(rows.size());
  metrics.sdma.time = Length(Intersection(
      {activities.span},
      Difference(Union(std::move(copies)), Union(activities.computing, activities.communication))));
  metrics.sdma_in_free = metrics.sdma.time;
}

void AddStep(const RankTrace& trace, const HostClock& clock, const Interval& span,
             OverallMetrics& metrics) {
  const std::vector<StepWindow> steps = FindStepWindows(trace, clock);
  if (steps.empty() || metrics.e2e == 0) return;
  const Interval windows{steps.front().window.begin, steps.back().window.end};
  metrics.steps = trace.steps.Empty() ? 0 : steps.size();
  metrics.step = windows.end - windows.begin;
  metrics.earlier = EarlierTimeOf(trace, clock, steps);
  metrics.before_first = span.begin - windows.begin;
  metrics.behind_last = windows.end - span.end;
}

void AddTraffic(const RankTrace& trace, OverallMetrics& metrics) {
  const Transfers& transfers = trace.transfers;
  for (std::size_t i = 0; i < transfers.Size(); ++i) {
    Traffic& traffic =
        transfers.transport[i] == Transport::kRdma ? metrics.rdma_traffic : metrics.sdma_traffic;
    traffic.Add({.bytes = transfers.bytes[i], .time = transfers.time[i]});
  }
}

void AddMemory(const RankTrace& trace, bool compat, OverallMetrics& metrics) {
  const MemoryTotals totals(trace);
  metrics.peak_memory_bytes = compat ? LargestMemorySample(trace) : totals.MostReserved();
  metrics.allocators = totals.Allocators();
  metrics.process_memory_bytes = MostOfProcess(trace);
}

}  // namespace

OverallMetrics ComputeOverall(const RankTrace& trace, const KernelMasks& masks, bool compat) {
  return ComputeOverall(trace, HostClockOf(trace), masks, compat);
}

OverallMetrics ComputeOverall(const RankTrace& trace, const HostClock& clock,
                              const KernelMasks& masks, bool compat) {
  OverallMetrics metrics;
  metrics.device = trace.device;
  metrics.minimal_profiling = trace.minimal_profiling;
  const bool gpu = trace.device == DeviceKind::kGpu;
  AddCategories(trace, masks, metrics);
  const Activities activities = compat ? AnalysedActivitiesOf(trace) : ActivitiesOf(trace);
  metrics.e2e = activities.Length();
  metrics.computing = Length(activities.computing);
  metrics.exposed_communication = Length(activities.exposed);
  ComputeGroupTimes(trace, activities.exposed, metrics);
  AddLccl(trace, metrics);
  if (gpu) {
    AddGpuCopies(trace, activities, metrics);
  } else {
    AddNpuCopies(trace, activities.Free(), metrics);
  }
  metrics.free =
      metrics.e2e - metrics.computing - metrics.lccl.time - metrics.exposed_communication;
  AddMemory(trace, compat, metrics);
  AddStep(trace, clock, activities.span, metrics);
  AddTraffic(trace, metrics);
  return metrics;
}

void ShareAllocators(const RankTrace& base, const RankTrace& comparison, OverallMetrics& of_base,
                     OverallMetrics& of_comparison) {
  const std::set<std::string>&all = of_base.allocators, &others = of_comparison.allocators;
  // Those of frameworks for other devices have other names.
  if (of_base.device != of_comparison.device) return;
  if (all.empty() || others.empty() || all == others) return;
  std::set<std::string> shared;
  std::ranges::set_intersection(all, others, std::inserter(shared, shared.end()));
  for (const auto& [trace, metrics] :
       {std::pair(&base, &of_base), std::pair(&comparison, &of_comparison)}) {
    metrics->peak_memory_bytes = MemoryTotals(*trace, &shared).MostReserved();
    metrics->only_shared_allocators = true;
  }
  of_base.allocators = of_comparison.allocators = shared;
}

// Per communication group: how much of its time nothing hides, and how much of that is waiting.

namespace {

// By group: when the rank had come to an operation and another member had not, and nothing of the
// group was on its way. One definition with the accounting of the step.
std::vector<Intervals> WaitsOfGroups(const RankTrace& trace, const CollectiveParts& parts) {
  const Communications& comms = trace.communications;
  const std::vector<LastArrival> arrivals = OwnLastArrivals(trace, parts);
  std::vector<std::vector<Interval>> waits(trace.comm_groups.Size()), others(waits.size());
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (comms.group[i] < 0) continue;
    const auto group = static_cast<std::size_t>(comms.group[i]);
    const Interval operation{comms.start[i], comms.start[i] + comms.dur[i]};
    for (const CollectivePhase& phase :
         PhasesOf(operation, arrivals[i], parts.Of(i), /*receives=*/false, kArrivalTolerance,
                  /*slow=*/0)) {
      (phase.category == TimeCategory::kWaitPeer ? waits : others)[group].push_back(
          {phase.begin, phase.end});
    }
  }
  std::vector<Intervals> of_groups;
  for (std::size_t group = 0; group < waits.size(); ++group) {
    of_groups.push_back(
        Difference(Union(std::move(waits[group])), Union(std::move(others[group]))));
  }
  return of_groups;
}

// By their first operations: the numbers of groups mean something else in each format.
std::vector<std::size_t> GroupOrder(const RankTrace& trace) {
  const Communications& comms = trace.communications;
  std::vector<TimeNs> first(trace.comm_groups.Size(), std::numeric_limits<TimeNs>::max());
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (comms.group[i] < 0) continue;
    TimeNs& first_of_group = first[static_cast<std::size_t>(comms.group[i])];
    first_of_group = std::min(first_of_group, comms.start[i]);
  }
  return RowsBy(first);
}

std::string LabelOf(const RankTrace& trace, std::size_t group) {
  const std::string_view process_group = trace.strings.View(trace.comm_groups.process_group[group]);
  return std::string(!process_group.empty() ? process_group
                                            : trace.strings.View(trace.comm_groups.name[group]));
}

}  // namespace

void ComputeGroupTimes(const RankTrace& trace, const Intervals& exposed, OverallMetrics& metrics) {
  const CommGroups& groups = trace.comm_groups;
  const Communications& comms = trace.communications;
  metrics.has_too_many_groups = groups.Size() > kMaxGroups;
  if (metrics.has_too_many_groups) return;
  const CollectiveParts parts(trace);
  metrics.has_waits =
      !parts.Empty() || std::ranges::any_of(trace.comm_tasks.name,
                                            [](StringId name) { return name != StringId::kEmpty; });

  std::vector<std::vector<Interval>> operations(groups.Size());
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (comms.group[i] < 0) continue;
    operations[static_cast<std::size_t>(comms.group[i])].push_back(
        {comms.start[i], comms.start[i] + comms.dur[i]});
  }
  std::vector<Intervals> exposed_of(groups.Size());
  for (std::size_t group = 0; group < groups.Size(); ++group) {
    exposed_of[group] = Intersection(exposed, Union(std::move(operations[group])));
  }

  const std::vector<Intervals> waits = WaitsOfGroups(trace, parts);
  const std::vector<std::size_t> order = GroupOrder(trace);
  for (const std::size_t group : order) {
    metrics.groups.push_back(
        {.name = std::string(trace.strings.View(groups.name[group])),
         .process_group = std::string(trace.strings.View(groups.process_group[group])),
         .exposed = Length(exposed_of[group]),
         .wait = Length(Intersection(exposed_of[group], waits[group])),
         .ranks = groups.ranks[group]});
  }

  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      const std::size_t first = order[i];
      const std::size_t second = order[j];
      const TimeNs time = Length(Intersection(exposed_of[first], exposed_of[second]));
      if (time == 0) continue;
      metrics.group_overlaps.push_back({LabelOf(trace, first), LabelOf(trace, second), time});
    }
  }
}

// Sums over the parts of the overall picture.

TimeNs OverallMetrics::Mc2Time() const {
  TimeNs time = 0;
  for (const Mc2Kernel& kernel : mc2) time += kernel.total.time;
  return time;
}

TimeNs OverallMetrics::Wait() const {
  TimeNs time = 0;
  for (const GroupTime& group : groups) time += group.wait;
  return time;
}

TimeNs OverallMetrics::GroupOverlapTime() const {
  TimeNs time = 0;
  for (const GroupOverlap& overlap : group_overlaps) time += overlap.time;
  return time;
}

std::int64_t OverallMetrics::KernelCount() const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < kCategories; ++i) count += categories[i].count;
  return count - Of(Category::kMc2).count - Of(Category::kNone).count;
}

TimeNs OverallMetrics::Other() const {
  TimeNs known = 0;
  for (std::size_t i = 0; i < kCategories; ++i) known += categories[i].time;
  return std::max<TimeNs>(0, computing - (known - Of(Category::kNone).time));
}

}  // namespace mpa
