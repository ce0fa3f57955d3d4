// SPDX-License-Identifier: Apache-2.0
// The overall picture of a rank: where the time between first and last device work went.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "mpa/analysis/intervals.h"
#include "mpa/base/text.h"
#include "mpa/model/collective_tasks.h"
#include "mpa/model/device_tasks.h"
#include "overall_metrics.h"

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
  std::sort(ends.begin(), ends.end());
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
  std::vector<std::size_t> order(launched.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return launched[a] < launched[b]; });
  return order;
}

void AddMc2(const RankTrace& trace, std::size_t kernel, const std::vector<TimeNs>& c_core_ends,
            OverallMetrics& metrics) {
  const Kernels& kernels = trace.kernels;
  const std::string_view name = trace.strings.View(kernels.name[kernel]);
  auto found = std::find_if(metrics.mc2.begin(), metrics.mc2.end(),
                            [&](const Mc2Kernel& known) { return known.name == name; });
  if (found == metrics.mc2.end()) {
    found = metrics.mc2.insert(metrics.mc2.end(), Mc2Kernel{});
    found->name = name;
  }
  const auto measured = [](TimeNs counter) { return std::max<TimeNs>(0, counter); };
  found->total.Add(kernels.dur[kernel]);
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

void AddCategories(const RankTrace& trace, const KernelMasks& masks,
                   const std::vector<bool>& is_copy, OverallMetrics& metrics) {
  metrics.has_categories = trace.device == DeviceKind::kGpu || KnowsMostCores(trace);
  if (!metrics.has_categories) return;
  const KernelClassifier classifier(trace, masks);
  const std::vector<TimeNs> c_core_ends = CCoreEnds(trace);
  for (const std::size_t kernel : LaunchOrder(trace)) {
    if (is_copy[kernel]) continue;
    const Category category = classifier.Classify(kernel);
    metrics.categories[static_cast<std::size_t>(category)].Add(trace.kernels.dur[kernel]);
    if (category == Category::kMc2) AddMc2(trace, kernel, c_core_ends, metrics);
  }
}

// Kernels and collectives stand for these tasks, or the tasks only frame the collection. Text
// captures name the latter so, databases give them that type. The profiler's overlap analysis
// leaves out the same.
bool IsOutsideSpan(std::string_view type, std::string_view name) {
  return IsOneOf(type, {"KERNEL_AICORE", "KERNEL_AIVEC", "FFTS_PLUS", "KERNEL_MIX_AIC",
                        "KERNEL_MIX_AIV", "PROFILING_ENABLE", "PROFILING_DISABLE"}) ||
         IsOneOf(name, {"PROFILING_ENABLE", "PROFILING_DISABLE"});
}

struct Span {
  TimeNs begin = std::numeric_limits<TimeNs>::max();
  TimeNs end = std::numeric_limits<TimeNs>::min();

  void Include(TimeNs from, TimeNs to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
  bool Empty() const { return end <= begin; }
  TimeNs Length() const { return Empty() ? 0 : end - begin; }
};

// From the first to the last work of any kind: copies and waits before the first kernel and behind
// the last one are part of the run.
Span DeviceSpan(const RankTrace& trace) {
  Span span;
  const auto include_all = [&](const auto& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      span.Include(table.start[i], table.start[i] + table.dur[i]);
    }
  };
  include_all(trace.kernels);
  include_all(trace.communications);
  const DeviceTasks& tasks = trace.device_tasks;
  for (std::size_t i = 0; i < tasks.Size(); ++i) {
    if (IsOutsideSpan(trace.strings.View(tasks.type[i]), trace.strings.View(tasks.name[i]))) {
      continue;
    }
    span.Include(tasks.start[i], tasks.start[i] + tasks.dur[i]);
  }
  return span;
}

// What the device did when.
struct BusyTimes {
  Span span;
  Intervals computing, exposed;  ///< communication as far as no computing hides it
  Intervals lccl;

  Intervals Free() const {
    if (span.Empty()) return {};
    return Difference({{span.begin, span.end}}, Union(Union(computing, exposed), lccl));
  }
};

// As the profiler's own overlap analysis has it.
BusyTimes FromOverlapAnalysis(const RankTrace& trace, OverallMetrics& metrics) {
  const Overlaps& overlaps = trace.overlaps;
  BusyTimes busy;
  std::vector<Interval> computing, exposed;
  for (std::size_t i = 0; i < overlaps.Size(); ++i) {
    const Interval interval{overlaps.start[i], overlaps.start[i] + overlaps.dur[i]};
    busy.span.Include(interval.begin, interval.end);
    if (overlaps.activity[i] == Activity::kComputing) {
      metrics.computing += overlaps.dur[i];
      computing.push_back(interval);
    } else if (overlaps.activity[i] == Activity::kExposedCommunication) {
      metrics.exposed_communication += overlaps.dur[i];
      exposed.push_back(interval);
    }
  }
  busy.computing = Union(std::move(computing));
  busy.exposed = Union(std::move(exposed));
  const Span all = DeviceSpan(trace);
  if (trace.is_one_step) {
    // The analysis of a step is cut without its free time.
    busy.span.Include(all.begin, all.end);
  } else if (!all.Empty()) {
    metrics.left_out_before = std::max<TimeNs>(0, busy.span.begin - all.begin);
    metrics.left_out_behind = std::max<TimeNs>(0, all.end - busy.span.end);
  }
  return busy;
}

// The same from the kernels and collectives themselves.
BusyTimes FromWork(const RankTrace& trace, const std::vector<bool>& is_copy,
                   OverallMetrics& metrics) {
  const Kernels& kernels = trace.kernels;
  const Communications& comms = trace.communications;
  BusyTimes busy;
  busy.span = DeviceSpan(trace);
  std::vector<Interval> computing, communication;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    if (!is_copy[i]) computing.push_back({kernels.start[i], kernels.start[i] + kernels.dur[i]});
  }
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (IsLcclKernel(trace.strings.View(comms.name[i]))) continue;  // accounted as LCCL
    communication.push_back({comms.start[i], comms.start[i] + comms.dur[i]});
  }
  busy.computing = Union(std::move(computing));
  busy.exposed = Difference(Union(std::move(communication)), busy.computing);
  metrics.computing = Length(busy.computing);
  metrics.exposed_communication = Length(busy.exposed);
  return busy;
}

Intervals AddLccl(const RankTrace& trace, OverallMetrics& metrics) {
  const Communications& comms = trace.communications;
  std::vector<Interval> lccl;
  for (std::size_t i = 0; i < comms.Size(); ++i) {
    if (!IsLcclKernel(trace.strings.View(comms.name[i]))) continue;
    metrics.lccl.Add(comms.dur[i]);
    lccl.push_back({comms.start[i], comms.start[i] + comms.dur[i]});
  }
  return Union(std::move(lccl));
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
void AddGpuCopies(const RankTrace& trace, const std::vector<bool>& is_copy,
                  OverallMetrics& metrics) {
  std::vector<Interval> copies, busy;
  const auto add = [&](const auto& table, std::size_t row, bool copy) {
    (copy ? copies : busy).push_back({table.start[row], table.start[row] + table.dur[row]});
    metrics.sdma.count += copy ? 1 : 0;
  };
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) add(trace.kernels, i, is_copy[i]);
  for (std::size_t i = 0; i < trace.communications.Size(); ++i) add(trace.communications, i, false);
  for (std::size_t i = 0; i < trace.device_tasks.Size(); ++i) {
    if (IsCopyName(trace.strings.View(trace.device_tasks.name[i])))
      add(trace.device_tasks, i, true);
  }
  metrics.sdma.time = Length(Difference(Union(std::move(copies)), Union(std::move(busy))));
  metrics.sdma_in_free = metrics.sdma.time;
}

void AddTraffic(const RankTrace& trace, OverallMetrics& metrics) {
  const Transfers& transfers = trace.transfers;
  for (std::size_t i = 0; i < transfers.Size(); ++i) {
    Traffic& traffic =
        transfers.transport[i] == Transport::kRdma ? metrics.rdma_traffic : metrics.sdma_traffic;
    traffic.bytes += transfers.bytes[i];
    traffic.time += transfers.time[i];
  }
}

}  // namespace

bool IsCopyName(std::string_view name) {
  return ContainsAny(ToLower(name), {"htod", "dtod", "dtoh", "memset (device)"});
}

OverallMetrics ComputeOverall(const RankTrace& trace, const KernelMasks& masks) {
  OverallMetrics metrics;
  metrics.device = trace.device;
  metrics.minimal_profiling = trace.minimal_profiling;
  const bool gpu = trace.device == DeviceKind::kGpu;
  std::vector<bool> is_copy(trace.kernels.Size(), false);
  for (std::size_t i = 0; gpu && i < is_copy.size(); ++i) {
    is_copy[i] = IsCopyName(trace.strings.View(trace.kernels.name[i]));
  }

  AddCategories(trace, masks, is_copy, metrics);
  // The analysis of one step is cut at its bounds, where work of another may reach over them.
  const bool has_analysis =
      !trace.overlaps.Empty() && (!trace.is_one_step || trace.kernels.Empty());
  BusyTimes busy =
      has_analysis ? FromOverlapAnalysis(trace, metrics) : FromWork(trace, is_copy, metrics);
  metrics.e2e = busy.span.Length();
  ComputeGroupTimes(trace, busy.exposed, metrics);
  busy.lccl = AddLccl(trace, metrics);
  if (gpu) {
    AddGpuCopies(trace, is_copy, metrics);
  } else {
    AddNpuCopies(trace, busy.Free(), metrics);
  }
  metrics.free =
      metrics.e2e - metrics.computing - metrics.lccl.time - metrics.exposed_communication;
  for (const std::int64_t bytes : trace.memory_samples.reserved_bytes) {
    metrics.peak_memory_bytes = std::max(metrics.peak_memory_bytes, bytes);
  }
  AddTraffic(trace, metrics);
  return metrics;
}

}  // namespace mpa
