// SPDX-License-Identifier: Apache-2.0
#include "first_kernel.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace mpa::head {
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
