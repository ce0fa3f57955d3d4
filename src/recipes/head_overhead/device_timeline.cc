// SPDX-License-Identifier: Apache-2.0
#include "device_timeline.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "host_forest.h"

namespace mpa::head {

DeviceTimeline::DeviceTimeline(std::vector<Run> runs, std::int64_t device)
    : runs_(std::move(runs)), device_(device) {
  std::stable_sort(runs_.begin(), runs_.end(),
                   [](const Run& a, const Run& b) { return a.start < b.start; });
  next_kernel_.assign(runs_.size() + 1, runs_.size());
  std::vector<Interval> intervals;
  for (std::size_t i = runs_.size(); i-- > 0;) {
    next_kernel_[i] = runs_[i].is_update ? next_kernel_[i + 1] : i;
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    intervals.push_back({runs_[i].start, runs_[i].end});
    if (runs_[i].connection >= 0) by_connection_.emplace_back(runs_[i].connection, i);
    if (runs_[i].model >= 0) by_model_.emplace_back(runs_[i].model, i);
  }
  // Runs are numbered in order of start, so the pairs are in order of key and start.
  std::sort(by_connection_.begin(), by_connection_.end());
  std::sort(by_model_.begin(), by_model_.end());
  busy_ = Union(std::move(intervals));
  TimeNs sum = 0;
  for (const Interval& interval : busy_) {
    busy_before_.push_back(sum);
    sum += interval.end - interval.begin;
  }
  FindBursts();
}

// Busy time before `time`.
TimeNs DeviceTimeline::BusyUntil(TimeNs time) const {
  const auto after = std::partition_point(busy_.begin(), busy_.end(),
                                          [&](const Interval& busy) { return busy.begin < time; });
  if (after == busy_.begin()) return 0;
  const auto last = static_cast<std::size_t>(after - busy_.begin()) - 1;
  return busy_before_[last] + std::min(time, busy_[last].end) - busy_[last].begin;
}

TimeNs DeviceTimeline::Idle(TimeNs from, TimeNs to) const {
  if (to <= from) return 0;
  return to - from - (BusyUntil(to) - BusyUntil(from));
}

TimeNs DeviceTimeline::Idle(const Intervals& spans, TimeNs until) const {
  TimeNs idle = 0;
  for (const Interval& span : spans) idle += Idle(span.begin, std::min(span.end, until));
  return idle;
}

std::optional<TimeNs> DeviceTimeline::LastBusyBefore(TimeNs time) const {
  const auto after = std::partition_point(busy_.begin(), busy_.end(),
                                          [&](const Interval& busy) { return busy.begin < time; });
  if (after == busy_.begin()) return std::nullopt;
  return std::min(std::prev(after)->end, time);
}

std::optional<std::size_t> DeviceTimeline::FirstFrom(TimeNs time, bool kernels_only) const {
  const auto at = std::partition_point(runs_.begin(), runs_.end(),
                                       [&](const Run& run) { return run.start < time; });
  auto run = static_cast<std::size_t>(at - runs_.begin());
  if (kernels_only) run = next_kernel_[run];
  return run < runs_.size() ? std::optional(run) : std::nullopt;
}

std::optional<std::size_t> DeviceTimeline::FirstOf(const Keyed& keyed, std::int64_t key,
                                                   TimeNs time, bool kernels_only) const {
  auto at = std::partition_point(keyed.begin(), keyed.end(), [&](const auto& entry) {
    return entry.first < key || (entry.first == key && runs_[entry.second].start < time);
  });
  // Few runs of one key are refreshes, so this does not go far.
  while (kernels_only && at != keyed.end() && at->first == key && runs_[at->second].is_update) ++at;
  if (at == keyed.end() || at->first != key) return std::nullopt;
  return at->second;
}

std::optional<std::size_t> DeviceTimeline::FirstOfModel(std::int64_t model, TimeNs time,
                                                        bool kernels_only) const {
  return FirstOf(by_model_, model, time, kernels_only);
}

std::optional<std::size_t> DeviceTimeline::FirstOfConnection(std::int64_t connection, TimeNs time,
                                                             bool kernels_only) const {
  return FirstOf(by_connection_, connection, time, kernels_only);
}

bool DeviceTimeline::HasConnection(std::int64_t connection) const {
  const auto found = std::lower_bound(by_connection_.begin(), by_connection_.end(),
                                      std::pair{connection, std::size_t{0}});
  return found != by_connection_.end() && found->first == connection;
}

void DeviceTimeline::FindBursts() {
  for (auto first = by_model_.begin(); first != by_model_.end();) {
    const std::int64_t model = first->first;
    std::vector<std::size_t> kernels;
    for (; first != by_model_.end() && first->first == model; ++first) {
      if (!runs_[first->second].is_update) kernels.push_back(first->second);
    }
    if (kernels.empty()) continue;
    const StringId first_name = runs_[kernels.front()].name;
    const StringId last_name = runs_[kernels.back()].name;
    std::vector<std::size_t>& bursts = bursts_[model];
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const bool begins = runs_[kernels[i]].name == first_name &&
                          (i == 0 || runs_[kernels[i - 1]].name == last_name);
      if (begins) bursts.push_back(kernels[i]);
    }
    all_bursts_.insert(all_bursts_.end(), bursts.begin(), bursts.end());
  }
  std::sort(all_bursts_.begin(), all_bursts_.end());
}

const std::vector<std::size_t>& DeviceTimeline::BurstsOf(std::int64_t model) const {
  static const std::vector<std::size_t> kNone;
  const auto found = bursts_.find(model);
  return found != bursts_.end() ? found->second : kNone;
}

DeviceTimelines::DeviceTimelines(const RankTrace& trace) {
  const DeviceRuns& runs = trace.device_runs;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<DeviceTimeline::Run>> groups;
  for (std::size_t i = 0; i < runs.Size(); ++i) {
    groups[{runs.pid[i], runs.device[i]}].push_back(
        {runs.start[i], runs.start[i] + runs.dur[i], runs.connection[i], runs.model[i],
         runs.stream[i], runs.name[i], IsParameterUpdate(trace.strings.View(runs.name[i])),
         runs.kind[i] == DeviceRunKind::kCollective});
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

using PidAndModel = std::pair<std::int64_t, std::int64_t>;

class FirstKernelFinder {
 public:
  FirstKernelFinder(const RankTrace& trace, const RuntimeCalls& runtime) : runtime_(runtime) {
    const ModelIterations& iterations = trace.model_iterations;
    for (std::size_t i = 0; i < iterations.Size(); ++i) {
      iteration_start_.try_emplace({iterations.model[i], iterations.iteration[i]},
                                   iterations.start[i]);
    }
    const HostCalls& calls = trace.host_calls;
    std::vector<std::size_t> executes;
    for (std::size_t row = 0; row < calls.Size(); ++row) {
      if (runtime.Meaning(row) == RuntimeCall::kModelExecute) executes.push_back(row);
    }
    std::stable_sort(executes.begin(), executes.end(),
                     [&](std::size_t a, std::size_t b) { return calls.start[a] < calls.start[b]; });
    position_.assign(calls.Size(), 0);
    for (const std::size_t row : executes) {
      const auto pid = trace.tracks.pid[static_cast<std::size_t>(calls.track[row])];
      position_[row] = executes_[{pid, calls.model[row]}]++;
    }
  }

  // Everything but the search by time.
  FirstKernel FindExactly(const KernelSearch& call) const {
    FirstKernel found;
    if (!call.t3 || call.device == nullptr) return found;
    ByLaunch(call, found);
    if (!found.kernel && !found.skewed) ByIteration(call, found);
    if (!found.kernel && !found.skewed) ByOrder(call, found);
    if (found.skewed) return {.skewed = true};
    if (found.kernel && !found.task) {
      found.task = found.kernel;
      found.task_source = found.kernel_source;
    }
    return found;
  }

 private:
  void ByLaunch(const KernelSearch& call, FirstKernel& found) const {
    MaybeNs task, kernel;
    bool early = false;
    const auto earlier = [&](MaybeNs& best, std::optional<std::size_t> run) {
      if (!run) return;
      const TimeNs start = call.device->At(*run).start;
      best = std::min(best.value_or(start), start);
    };
    for (const std::size_t row : call.launches) {
      const std::int64_t connection = runtime_.Table().connection[row];
      if (connection < 0 || !call.device->HasConnection(connection)) continue;
      const TimeNs start = runtime_.Start(row);
      const auto first = call.device->FirstOfConnection(connection, start, false);
      early = early || !first;
      earlier(task, first);
      earlier(kernel, call.device->FirstOfConnection(connection, start, true));
    }
    found.skewed = early && !task;
    Take(task, kernel, KernelSource::kLaunch, found);
  }

  void ByIteration(const KernelSearch& call, FirstKernel& found) const {
    if (!call.execute) return;
    const HostCalls& calls = runtime_.Table();
    const std::int64_t model = calls.model[*call.execute];
    const auto iteration = iteration_start_.find({model, calls.request[*call.execute]});
    if (model < 0 || iteration == iteration_start_.end()) return;
    TakeRuns(call, call.device->FirstOfModel(model, iteration->second, false),
             call.device->FirstOfModel(model, iteration->second, true), KernelSource::kIteration,
             found);
  }

  void ByOrder(const KernelSearch& call, FirstKernel& found) const {
    if (!call.execute) return;
    const std::int64_t model = runtime_.Table().model[*call.execute];
    const auto& bursts = model >= 0 ? call.device->BurstsOf(model) : call.device->AllBursts();
    const auto count = executes_.find({call.pid, model});
    if (count == executes_.end() || count->second != bursts.size()) return;
    const std::size_t burst = bursts[position_[*call.execute]];
    TakeRuns(call, burst, burst, KernelSource::kModelFifo, found);
  }

  void TakeRuns(const KernelSearch& call, std::optional<std::size_t> task,
                std::optional<std::size_t> kernel, KernelSource source, FirstKernel& found) const {
    const auto start = [&](std::optional<std::size_t> run) {
      return run ? MaybeNs(call.device->At(*run).start) : std::nullopt;
    };
    if (kernel && *start(kernel) < *call.t3) {
      found.skewed = true;
      return;
    }
    Take(start(task), start(kernel), source, found);
  }

  static void Take(MaybeNs task, MaybeNs kernel, KernelSource source, FirstKernel& found) {
    if (!found.task && task) {
      found.task = task;
      found.task_source = source;
    }
    if (!found.kernel && kernel) {
      found.kernel = kernel;
      found.kernel_source = source;
    }
  }

  const RuntimeCalls& runtime_;
  std::map<std::pair<std::int64_t, std::int64_t>, TimeNs> iteration_start_;
  std::map<PidAndModel, std::size_t> executes_;  // how many
  std::vector<std::size_t> position_;            // of each execution among those
};

// What was not found otherwise: the first work behind t3, unless it is that of the next call.
void FindByTime(const std::vector<KernelSearch>& calls, std::vector<FirstKernel>& found) {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return !calls[i].t3 || calls[i].device == nullptr; });
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return calls[a].t3 > calls[b].t3; });
  std::map<const DeviceTimeline*, TimeNs> next_task;
  for (const std::size_t i : order) {
    const DeviceTimeline& device = *calls[i].device;
    FirstKernel& first = found[i];
    if (first.skewed) continue;
    TimeNs& next = next_task.try_emplace(&device, std::numeric_limits<TimeNs>::max()).first->second;
    const auto start = [&](bool kernels_only) -> MaybeNs {
      const auto run = device.FirstFrom(*calls[i].t3, kernels_only);
      if (!run || device.At(*run).start >= next) return std::nullopt;
      return device.At(*run).start;
    };
    if (!first.kernel) {
      first.kernel = start(true);
      if (first.kernel) first.kernel_source = KernelSource::kTime;
      if (!first.task) first.task = start(false);
      if (first.task && first.task_source == KernelSource::kNone) {
        first.task_source = KernelSource::kTime;
      }
    }
    if (first.task) next = *first.task;
  }
}

}  // namespace

std::vector<FirstKernel> FindFirstKernels(const RankTrace& trace, const RuntimeCalls& runtime,
                                          const std::vector<KernelSearch>& calls) {
  const FirstKernelFinder finder(trace, runtime);
  std::vector<FirstKernel> found;
  found.reserve(calls.size());
  for (const KernelSearch& call : calls) found.push_back(finder.FindExactly(call));
  FindByTime(calls, found);
  return found;
}

}  // namespace mpa::head
