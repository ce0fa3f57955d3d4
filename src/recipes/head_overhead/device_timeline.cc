// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <numeric>

#include "analyse.h"
#include "mpa/base/stable_sort.h"

namespace mpa::head {

DeviceTimeline::DeviceTimeline(std::vector<Run> runs, std::int64_t device)
    : runs_(std::move(runs)), device_(device) {
  StableSort(runs_, {}, &Run::start);
  std::vector<Interval> intervals;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    intervals.push_back({run.start, run.End()});
    if (!run.is_update) kernel_starts_.push_back(run.start);
    if (run.connection >= 0) by_connection_.emplace_back(run.connection, i);
    if (run.model >= 0) by_model_.emplace_back(run.model, i);
  }
  // Runs are numbered in order of start, so the pairs are in order of key and start.
  std::ranges::sort(by_connection_);
  std::ranges::sort(by_model_);
  busy_ = Union(std::move(intervals));
  FindBursts();
}

TimeNs DeviceTimeline::Idle(const Intervals& spans, TimeNs until) const {
  TimeNs idle = 0;
  for (const Interval& span : spans) {
    const TimeNs end = std::min(span.end, until);
    if (end > span.begin) idle += end - span.begin - LengthWithin(busy_, {span.begin, end});
  }
  return idle;
}

MaybeNs DeviceTimeline::LastBusyBefore(TimeNs time) const {
  const auto after = std::partition_point(busy_.begin(), busy_.end(),
                                          [&](const Interval& busy) { return busy.begin < time; });
  if (after == busy_.begin()) return std::nullopt;
  return std::min(std::prev(after)->end, time);
}

DeviceTimeline::First DeviceTimeline::FirstFrom(TimeNs time) const {
  First first;
  const auto task = std::partition_point(runs_.begin(), runs_.end(),
                                         [&](const Run& run) { return run.start < time; });
  if (task != runs_.end()) first.task = task->start;
  const auto kernel = std::lower_bound(kernel_starts_.begin(), kernel_starts_.end(), time);
  if (kernel != kernel_starts_.end()) first.kernel = *kernel;
  return first;
}

DeviceTimeline::First DeviceTimeline::FirstOf(const Keyed& keyed, std::int64_t key,
                                              TimeNs time) const {
  auto at = std::partition_point(keyed.begin(), keyed.end(), [&](const auto& entry) {
    return entry.first < key || (entry.first == key && runs_[entry.second].start < time);
  });
  // Few runs of one key are refreshes, so this does not go far.
  First first;
  for (; at != keyed.end() && at->first == key && !first.kernel; ++at) {
    const Run& run = runs_[at->second];
    if (!first.task) first.task = run.start;
    if (!run.is_update) first.kernel = run.start;
  }
  return first;
}

bool DeviceTimeline::HasConnection(std::int64_t connection) const {
  const auto found = std::lower_bound(by_connection_.begin(), by_connection_.end(),
                                      std::pair{connection, std::size_t{0}});
  return found != by_connection_.end() && found->first == connection;
}

void DeviceTimeline::FindBursts() {
  std::vector<TimeNs>& all = bursts_[-1];
  for (auto first = by_model_.begin(); first != by_model_.end();) {
    const std::int64_t model = first->first;
    std::vector<const Run*> kernels;
    for (; first != by_model_.end() && first->first == model; ++first) {
      if (!runs_[first->second].is_update) kernels.push_back(&runs_[first->second]);
    }
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (kernels[i]->name != kernels.front()->name) continue;
      if (i > 0 && kernels[i - 1]->name != kernels.back()->name) continue;
      bursts_[model].push_back(kernels[i]->start);
      all.push_back(kernels[i]->start);
    }
  }
  std::ranges::sort(all);
}

const std::vector<TimeNs>& DeviceTimeline::BurstsOf(std::int64_t model) const {
  static const std::vector<TimeNs> kNone;
  const auto found = bursts_.find(std::max<std::int64_t>(model, -1));
  return found != bursts_.end() ? found->second : kNone;
}

DeviceTimelines::DeviceTimelines(const RankTrace& trace) {
  const DeviceRuns& runs = trace.device_runs;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<DeviceTimeline::Run>> groups;
  for (std::size_t i = 0; i < runs.Size(); ++i) {
    groups[{runs.pid[i], runs.device[i]}].push_back(
        {runs.At(i), IsParameterUpdate(trace.strings.View(runs.name[i]))});
  }
  for (auto& [owner, of_owner] : groups) {
    of_pid_.try_emplace(owner.first, timelines_.size());
    timelines_.emplace_back(std::move(of_owner), owner.second);
  }
}

const DeviceTimeline* DeviceTimelines::Of(std::int64_t pid) const {
  const auto found = of_pid_.find(pid);
  if (found != of_pid_.end()) return &timelines_[found->second];
  const bool owner_unknown = timelines_.size() == 1 && of_pid_.begin()->first < 0;
  return owner_unknown ? timelines_.data() : nullptr;
}

namespace {

using First = DeviceTimeline::First;
using Pair = std::pair<std::int64_t, std::int64_t>;

class FirstKernelFinder {
 public:
  explicit FirstKernelFinder(HeadAnalysis& analysis) : a_(analysis) {
    const ModelIterations& iterations = a_.trace.model_iterations;
    for (std::size_t i = 0; i < iterations.Size(); ++i) {
      iteration_start_.try_emplace({iterations.model[i], iterations.iteration[i]},
                                   iterations.start[i]);
    }
    const HostCalls& calls = a_.trace.host_calls;
    position_.assign(calls.Size(), 0);
    for (const std::size_t row : calls.RowsByStart()) {
      if (a_.runtime.Meaning(row) != RuntimeCall::kModelExecute) continue;
      const auto pid = a_.trace.tracks.pid[static_cast<std::size_t>(calls.track[row])];
      position_[row] = executes_[{pid, calls.model[row]}]++;
    }
  }

  // Everything but the search by time.
  void FindExactly(std::size_t i) const {
    Call& call = a_.calls[i];
    const DeviceTimeline* device = a_.devices.Of(call.pid);
    if (!call.ge_begin || device == nullptr) return;
    ByLaunch(*device, a_.parts[i], call);
    if (const auto execute = a_.parts[i].execute) {
      if (Open(call)) ByIteration(*device, *execute, call);
      if (Open(call)) ByOrder(*device, *execute, call);
    }
    if (call.Has(Flag::kClockSkew)) {
      call.first_task = call.first_kernel = std::nullopt;
      call.task_source = call.kernel_source = KernelSource::kNone;
    } else if (call.first_kernel && !call.first_task) {
      call.first_task = call.first_kernel;
      call.task_source = call.kernel_source;
    }
  }

 private:
  static bool Open(const Call& call) { return !call.first_kernel && !call.Has(Flag::kClockSkew); }

  void ByLaunch(const DeviceTimeline& device, const CallParts& parts, Call& call) const {
    First first;
    bool early = false;
    const auto take_earlier = [](MaybeNs& best, MaybeNs start) {
      if (start) best = std::min(best.value_or(*start), *start);
    };
    for (const std::size_t row : parts.launches) {
      const std::int64_t connection = a_.runtime.Table().connection[row];
      if (connection < 0 || !device.HasConnection(connection)) continue;
      const First of_launch = device.FirstOfConnection(connection, a_.runtime.Start(row));
      early = early || !of_launch.task;
      take_earlier(first.task, of_launch.task);
      take_earlier(first.kernel, of_launch.kernel);
    }
    if (early && !first.task) call.Set(Flag::kClockSkew);
    Take(first, KernelSource::kLaunch, call);
  }

  void ByIteration(const DeviceTimeline& device, std::size_t execute, Call& call) const {
    const HostCalls& calls = a_.runtime.Table();
    const std::int64_t model = calls.model[execute];
    const auto iteration = iteration_start_.find({model, calls.request[execute]});
    if (model < 0 || iteration == iteration_start_.end()) return;
    Take(device.FirstOfModel(model, iteration->second), KernelSource::kIteration, call);
  }

  void ByOrder(const DeviceTimeline& device, std::size_t execute, Call& call) const {
    const std::int64_t model = a_.runtime.Table().model[execute];
    const std::vector<TimeNs>& bursts = device.BurstsOf(model);
    const auto count = executes_.find({call.pid, model});
    if (count == executes_.end() || count->second != bursts.size()) return;
    const TimeNs burst = bursts[position_[execute]];
    Take({burst, burst}, KernelSource::kModelFifo, call);
  }

  // Device work before its cause: the clocks disagree.
  static void Take(const First& first, KernelSource source, Call& call) {
    if (source != KernelSource::kLaunch && first.kernel && *first.kernel < *call.ge_begin) {
      call.Set(Flag::kClockSkew);
      return;
    }
    if (!call.first_task && first.task) {
      call.first_task = first.task;
      call.task_source = source;
    }
    if (!call.first_kernel && first.kernel) {
      call.first_kernel = first.kernel;
      call.kernel_source = source;
    }
  }

  HeadAnalysis& a_;
  std::map<Pair, TimeNs> iteration_start_;  // by model and iteration
  std::map<Pair, std::size_t> executes_;    // how many, by process and model
  std::vector<std::size_t> position_;       // of each execution among those
};

// What was not found otherwise: the first work behind the start of GE, unless it is that of the
// next call.
void FindByTime(HeadAnalysis& a) {
  std::vector<std::size_t> order(a.calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) {
    return !a.calls[i].ge_begin || a.devices.Of(a.calls[i].pid) == nullptr;
  });
  StableSort(order, [&](std::size_t i, std::size_t k) {
    return a.calls[i].ge_begin > a.calls[k].ge_begin;
  });
  std::map<const DeviceTimeline*, TimeNs> next_task;
  for (const std::size_t i : order) {
    Call& call = a.calls[i];
    const DeviceTimeline* device = a.devices.Of(call.pid);
    if (call.Has(Flag::kClockSkew)) continue;
    TimeNs& next = next_task.try_emplace(device, std::numeric_limits<TimeNs>::max()).first->second;
    if (!call.first_kernel) {
      const First first = device->FirstFrom(*call.ge_begin);
      const auto take = [&](MaybeNs start, MaybeNs& known, KernelSource& source) {
        if (known || !start || *start >= next) return;
        known = start;
        source = KernelSource::kTime;
      };
      take(first.kernel, call.first_kernel, call.kernel_source);
      take(first.task, call.first_task, call.task_source);
    }
    if (call.first_task) next = *call.first_task;
  }
}

}  // namespace

void FindFirstKernels(HeadAnalysis& analysis) {
  const FirstKernelFinder finder(analysis);
  for (std::size_t i = 0; i < analysis.calls.size(); ++i) finder.FindExactly(i);
  FindByTime(analysis);
}

}  // namespace mpa::head
