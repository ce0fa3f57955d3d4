// SPDX-License-Identifier: Apache-2.0
// From the tables of a rank to slices and arrows.
#include "mpa/timeline/rank_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/collectives.h"
#include "mpa/measure/kernel_class.h"
#include "mpa/measure/memory_copies.h"
#include "mpa/measure/thread_time.h"
#include "mpa/model/launches.h"
#include "mpa/model/step_bounds.h"

namespace mpa {
namespace {

constexpr std::uint32_t kNoSlice = ~std::uint32_t{0};

// The kernel that a task runs, which has the names; kernels that no task runs.
class KernelsOfTasks {
 public:
  explicit KernelsOfTasks(const Kernels& kernels)
      : kernels_(kernels), taken_(kernels.Size()), by_start_(kernels.RowsByStart()) {}

  std::optional<std::size_t> Take(const DeviceTasks& tasks, std::size_t task) {
    std::optional<std::size_t> best;
    auto at = std::lower_bound(
        by_start_.begin(), by_start_.end(), tasks.start[task],
        [&](std::size_t row, TimeNs start) { return kernels_.start[row] < start; });
    for (; at != by_start_.end() && kernels_.start[*at] == tasks.start[task]; ++at) {
      if (taken_[*at] || !Fits(tasks, task, *at)) continue;
      if (!best || kernels_.stream[*at] == tasks.stream[task]) best = *at;
    }
    if (best) taken_[*best] = true;
    return best;
  }
  bool Taken(std::size_t row) const { return taken_[row]; }

 private:
  // Streams may be numbered differently in two files.
  bool Fits(const DeviceTasks& tasks, std::size_t task, std::size_t row) const {
    return kernels_.stream[row] == tasks.stream[task] || kernels_.dur[row] == tasks.dur[task] ||
           (kernels_.link[row] >= 0 && kernels_.link[row] == tasks.link[task]);
  }

  const Kernels& kernels_;
  std::vector<bool> taken_;
  std::vector<std::size_t> by_start_;
};

// Databases also list a task without a name around all those that a launch is made of.
std::vector<bool> TasksAroundOthers(const DeviceTasks& tasks) {
  const auto end_of = [&](std::uint32_t task) { return tasks.start[task] + tasks.dur[task]; };
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < tasks.Size(); ++i) {
    if (tasks.link[i] >= 0) order.push_back(i);
  }
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(tasks.stream[a], tasks.link[a], tasks.start[a], end_of(b), a) <
           std::tuple(tasks.stream[b], tasks.link[b], tasks.start[b], end_of(a), b);
  });
  std::vector<bool> around(tasks.Size());
  for (std::size_t first = 0, next = 0; first < order.size(); first = next) {
    const std::uint32_t outer = order[first];
    TimeNs end = tasks.start[outer];
    for (next = first + 1; next < order.size(); ++next) {
      const std::uint32_t inner = order[next];
      if (tasks.stream[inner] != tasks.stream[outer] || tasks.link[inner] != tasks.link[outer])
        break;
      end = std::max(end, end_of(inner));
    }
    around[outer] =
        next > first + 1 && end <= end_of(outer) && tasks.name[outer] == StringId::kEmpty;
  }
  return around;
}

class SliceMaker {
 public:
  SliceMaker(const RankTrace& trace, const SliceRequest& request)
      : trace_(trace), request_(request), launches_(trace), text_of_(trace.strings.Size()) {
    rank_.rank = trace.rank;
    rank_.host_offset = HostClockOf(trace).offset;
    window_ = request.step ? WindowOfStep(*request.step) : request.window;
    rank_.window = window_;
    for (const std::int32_t track : trace.queued_work.track) queues_.insert(NumberOf(track));
    processes_.insert(trace.tracks.pid.begin(), trace.tracks.pid.end());
  }

  RankSlices Make() && {
    AddSteps();
    AddHost();
    AddQueue();
    AddSystemCalls();
    AddFunctions();
    AddThreadStates();
    AddDevice();
    AddCollectives();
    AddCounters();
    NestSlices(rank_);
    return std::move(rank_);
  }

 private:
  TimeNs OfDevice(TimeNs time) const { return request_.clock.Convert(time); }
  TimeNs OfHost(TimeNs time) const { return OfDevice(time - rank_.host_offset); }

  // What the host and the device did for it.
  Interval WindowOfStep(std::int32_t id) const {
    const auto found = std::ranges::find(request_.steps, id, &StepWindow::id);
    const HostSteps host(trace_.steps);
    if (found == request_.steps.end()) {
      if (host.Count() == 0) Fail(ErrorKind::kInput, "the capture has no steps; leave --step out");
      Fail(ErrorKind::kInput, "step {} not found; available steps: {}", id, host.Ids());
    }
    Interval window{OfDevice(found->window.begin), OfDevice(found->window.end)};
    if (const auto step = host.Find(id)) {
      window.begin = std::min(window.begin, OfHost(host.HostBegin(*step)));
      window.end = std::max(window.end, OfHost(host.HostEnd(*step)));
    }
    return window;
  }

  std::uint32_t Text(StringId id) {
    std::uint32_t& known = text_of_[Index(id)];
    if (known == 0 && id != StringId::kEmpty) {
      known = static_cast<std::uint32_t>(rank_.texts.size());
      rank_.texts.emplace_back(trace_.strings.View(id));
    }
    return known;
  }

  std::uint32_t Text(std::string text) {
    const auto [place, is_new] =
        made_.try_emplace(std::move(text), static_cast<std::uint32_t>(rank_.texts.size()));
    if (is_new) rank_.texts.push_back(place->first);
    return place->second;
  }

  template <typename NameOf>
  std::uint32_t Track(TrackKind kind, std::int64_t number, NameOf name) {
    const auto [place, is_new] =
        tracks_.try_emplace({kind, number}, static_cast<std::uint32_t>(rank_.tracks.size()));
    if (is_new) rank_.tracks.push_back({kind, number, std::string(name())});
    return place->second;
  }

  std::int64_t NumberOf(std::int32_t track) const {
    return track < 0 ? -1 : trace_.tracks.tid[static_cast<std::size_t>(track)];
  }

  // A thread has one track, whatever process the capture shows it under.
  std::uint32_t Thread(std::int32_t track) {
    const std::int64_t number = NumberOf(track);
    const bool is_queue = queues_.contains(number);
    return Track(is_queue ? TrackKind::kQueue : TrackKind::kThread, number, [&] {
      if (number < 0) return std::string(Translated(is_queue ? "task queue" : "thread unknown"));
      return is_queue ? Say("task queue, thread {}", number) : Say("thread {}", number);
    });
  }

  // Gives the slice's position; kNoSlice: it lies outside of the window.
  std::uint32_t Add(std::uint32_t track, Slice slice) {
    slice.track = track;
    if (window_) {
      const bool is_moment = slice.start == slice.end;
      if (slice.start >= window_->end ||
          (is_moment ? slice.end < window_->begin : slice.end <= window_->begin))
        return kNoSlice;
      if (slice.start < window_->begin) slice.cut |= kCutBegin;
      if (slice.end > window_->end) slice.cut |= kCutEnd;
      slice.start = std::max(slice.start, window_->begin);
      slice.end = std::min(slice.end, window_->end);
    }
    rank_.slices.push_back(slice);
    return static_cast<std::uint32_t>(rank_.slices.size() - 1);
  }

  Slice HostSlice(TimeNs start, TimeNs dur, std::uint32_t name) const {
    return {OfHost(start), OfHost(start + dur), name};
  }

  template <typename Table>
  void AddCalls(const Table& table) {
    for (std::size_t i = 0; i < table.Size(); ++i) {
      if constexpr (requires { table.replayed; }) {
        if (table.replayed[i]) continue;  // it ran when the graph was captured
      }
      Add(Thread(table.track[i]), HostSlice(table.start[i], table.dur[i], Text(table.name[i])));
    }
  }

  void AddSteps() {
    for (const StepWindow& step : request_.steps) {
      if (step.id < 0) continue;
      const std::uint32_t track =
          Track(TrackKind::kSteps, 0, [] { return Translated("steps on the device"); });
      Add(track, {OfDevice(step.window.begin), OfDevice(step.window.end),
                  Text(fmt::format("step {}", step.id))});
    }
  }

  void AddHost() {
    AddCalls(trace_.host_ops);
    if (request_.python) AddCalls(trace_.python_calls);
    AddCalls(trace_.host_calls);
    const MstxEvents& ranges = trace_.mstx;
    for (std::size_t i = 0; i < ranges.Size(); ++i) {
      if (ranges.device_start[i] >= 0)
        ranges_.emplace(ranges.device_start[i], ranges.device_dur[i]);
      if (ranges.kind[i] == MstxKind::kMark) continue;
      Add(Thread(ranges.track[i]),
          HostSlice(ranges.start[i], ranges.dur[i], Text(ranges.message[i])));
      if (ranges.device_start[i] < 0) continue;
      Add(Track(TrackKind::kRanges, 0, [] { return Translated("marked ranges on the device"); }),
          {OfDevice(ranges.device_start[i]),
           OfDevice(ranges.device_start[i] + ranges.device_dur[i]), Text(ranges.message[i])});
    }
  }

  void AddQueue() {
    constexpr std::string_view kDone = "Dequeue@";
    const QueuedWork& work = trace_.queued_work;
    for (std::size_t i = 0; i < work.Size(); ++i) {
      Add(Thread(work.track[i]), HostSlice(work.start[i], work.dur[i], Text(work.name[i])));
      if (work.queued_track[i] < 0 || work.queued_dur[i] <= 0) continue;
      std::string_view name = trace_.strings.View(work.name[i]);
      if (name.starts_with(kDone)) name.remove_prefix(kDone.size());
      Add(Thread(work.queued_track[i]),
          HostSlice(work.queued[i], work.queued_dur[i], Text(fmt::format("Enqueue@{}", name))));
    }
  }

  void AddSystemCalls() {
    const SystemCalls& calls = trace_.system_calls;
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      if (!IsOfRank(calls.process[i])) continue;
      Add(Track(TrackKind::kSystemCalls, calls.thread[i],
                [&] { return Say("system calls, thread {}", calls.thread[i]); }),
          HostSlice(calls.start[i], calls.dur[i], Text(calls.name[i])));
    }
    const LockUses& locks = trace_.lock_uses;
    for (std::size_t i = 0; i < locks.Size(); ++i) {
      if (!IsOfRank(locks.process[i])) continue;
      Add(Track(TrackKind::kLocks, locks.thread[i],
                [&] { return Say("locks, thread {}", locks.thread[i]); }),
          HostSlice(locks.start[i], locks.dur[i],
                    Text(fmt::format("{}: {}", locks.is_held[i] != 0 ? "hold" : "wait",
                                     trace_.strings.View(locks.lock[i])))));
    }
  }

  void AddFunctions() {
    const FunctionCounts& calls = trace_.function_counts;
    for (std::size_t i = 0; i < calls.Size(); ++i) {
      if (!IsOfRank(calls.process[i])) continue;
      const std::string_view name = trace_.strings.View(calls.name[i]);
      Add(Track(TrackKind::kFunctions, calls.thread[i],
                [&] { return Say("functions, thread {}", calls.thread[i]); }),
          HostSlice(
              calls.start[i], calls.dur[i],
              Text(calls.misses[i] < 0
                       ? std::string(name)
                       : fmt::format("{}: {}", name, Say("{} cache misses", calls.misses[i])))));
    }
  }

  // Names are those of the account of threads; who had the core stands behind them.
  void AddThreadStates() {
    const ThreadStates& states = trace_.thread_states;
    for (std::size_t i = 0; i < states.Size(); ++i) {
      const std::string_view by = trace_.strings.View(states.by[i]);
      const std::string_view name = NameOf(DoingOf(states.state[i]));
      Add(Track(TrackKind::kThreadStates, states.thread[i],
                [&] { return Say("states of thread {}", states.thread[i]); }),
          HostSlice(states.start[i], states.dur[i],
                    Text(by.empty() ? std::string(name) : fmt::format("{}: {}", name, by))));
    }
    const Interrupts& interrupts = trace_.interrupts;
    for (std::size_t i = 0; i < interrupts.Size(); ++i) {
      Add(Track(TrackKind::kInterrupts, interrupts.core[i],
                [&] { return Say("interrupts of core {}", interrupts.core[i]); }),
          HostSlice(interrupts.start[i], interrupts.dur[i], Text(interrupts.name[i])));
    }
  }

  // Tools record several processes; those of data loaders are not the rank's own.
  bool IsOfRank(std::int64_t process) const { return process < 0 || processes_.contains(process); }

  std::uint32_t Stream(std::int64_t stream) {
    return Track(TrackKind::kStream, stream,
                 [&] { return stream < 0 ? Say("kernels") : fmt::format("stream {}", stream); });
  }

  Slice KernelSlice(std::size_t row) {
    const Kernels& kernels = trace_.kernels;
    return {OfDevice(kernels.start[row]),
            OfDevice(kernels.start[row] + kernels.dur[row]),
            Text(kernels.name[row]),
            Text(kernels.op_type[row]),
            Text(kernels.shapes[row]),
            0,
            0,
            TintOfKernel(row)};
  }

  // Captures list pieces of collectives among the kernels.
  Tint TintOfKernel(std::size_t row) const {
    const Kernels& kernels = trace_.kernels;
    const std::string_view name = trace_.strings.View(kernels.name[row]);
    const bool communicates =
        IsHcclKernel(trace_.strings.View(kernels.core[row]), name) || IsCommunicationKernel(name);
    return communicates ? Tint::kUnsplit : Tint::kCompute;
  }

  void AddDevice() {
    const DeviceTasks& tasks = trace_.device_tasks;
    const Kernels& kernels = trace_.kernels;
    KernelsOfTasks of_tasks(kernels);
    const std::vector<bool> around = TasksAroundOthers(tasks);
    const std::vector<std::size_t> copies = MemoryCopies(trace_);
    for (std::size_t i = 0; i < tasks.Size(); ++i) {
      const auto kernel = of_tasks.Take(tasks, i);
      if (!kernel && (around[i] || ranges_.contains({tasks.start[i], tasks.dur[i]}))) continue;
      Slice slice{OfDevice(tasks.start[i]), OfDevice(tasks.start[i] + tasks.dur[i])};
      std::int64_t link = tasks.link[i];
      if (kernel) {
        const Slice named = KernelSlice(*kernel);
        slice.name = named.name;
        slice.type = named.type;
        slice.shapes = named.shapes;
        slice.tint = named.tint;
        if (link < 0) link = kernels.link[*kernel];
      } else {
        slice.name = Text(tasks.name[i] != StringId::kEmpty ? tasks.name[i] : tasks.type[i]);
        slice.type = Text(tasks.type[i]);
        if (std::ranges::binary_search(copies, i)) slice.tint = Tint::kCopy;
      }
      AddLaunched(Add(Stream(tasks.stream[i]), slice), link);
    }
    for (std::size_t i = 0; i < kernels.Size(); ++i) {
      if (!of_tasks.Taken(i))
        AddLaunched(Add(Stream(kernels.stream[i]), KernelSlice(i)), kernels.link[i]);
    }
  }

  std::string GroupName(std::int32_t group) const {
    if (group < 0) return Say("communication");
    const auto row = static_cast<std::size_t>(group);
    const CommGroups& groups = trace_.comm_groups;
    const std::string_view of_job = trace_.strings.View(groups.process_group[row]);
    return Say("communication, group {}",
               of_job.empty() ? BareGroupName(trace_.strings.View(groups.name[row])) : of_job);
  }

  void AddCollectives() {
    const Communications& runs = trace_.communications;
    for (std::size_t i = 0; i < runs.Size(); ++i) {
      const std::uint32_t track =
          Track(TrackKind::kGroup, runs.group[i], [&] { return GroupName(runs.group[i]); });
      const std::uint32_t slice = Add(track, {.start = OfDevice(runs.start[i]),
                                              .end = OfDevice(runs.start[i] + runs.dur[i]),
                                              .name = Text(runs.name[i]),
                                              .tint = Tint::kUnsplit});
      AddLaunched(slice, runs.link[i]);
    }
  }

  std::string CounterName(std::size_t row) const {
    const Counters& counters = trace_.counters;
    std::string name;
    for (const StringId id : {counters.group[row], counters.part[row], counters.name[row]}) {
      const std::string_view text = trace_.strings.View(id);
      if (!text.empty()) name += (name.empty() ? "" : " ") + std::string(text);
    }
    return name;
  }

  // Values that stay are written once; what is 0 all the time shows nothing.
  void AddCounters() {
    const Counters& counters = trace_.counters;
    const CounterSamples& samples = trace_.counter_samples;
    std::vector<CounterTrack> tracks(counters.Size());
    for (std::size_t i = 0; i < samples.Size(); ++i) {
      const auto row = static_cast<std::size_t>(samples.counter[i]);
      // The interval of the first sample of a rate is unknown.
      if (counters.kind[row] == CounterKind::kRate && samples.dur[i] == 0) continue;
      const auto convert = [&](TimeNs time) {
        return counters.of_host[row] != 0 ? OfHost(time) : OfDevice(time);
      };
      const TimeNs start = convert(samples.start[i]), end = convert(samples.End(i));
      if (window_ && (start >= window_->end || std::max(end, start + 1) <= window_->begin))
        continue;
      std::vector<std::pair<TimeNs, double>>& values = tracks[row].values;
      if (!values.empty() && values.back().second == samples.value[i]) continue;
      values.emplace_back(window_ ? std::max(start, window_->begin) : start, samples.value[i]);
    }
    for (std::size_t row = 0; row < tracks.size(); ++row) {
      CounterTrack& track = tracks[row];
      const auto is_zero = [](const auto& value) { return value.second == 0; };
      if (std::ranges::all_of(track.values, is_zero)) continue;
      track.name = CounterName(row);
      track.unit = trace_.strings.View(counters.unit[row]);
      rank_.counters.push_back(std::move(track));
    }
  }

  void AddLaunched(std::uint32_t slice, std::int64_t link) {
    if (slice == kNoSlice || link < 0 || (rank_.slices[slice].cut & kCutBegin) != 0) return;
    const auto launch = launches_.Find(link);
    if (!launch) return;
    const TimeNs time = OfHost(trace_.launches.host_time[*launch]);
    if (window_ && (time < window_->begin || time >= window_->end)) return;
    rank_.arrows.push_back({slice, Thread(trace_.launches.host_track[*launch]), time});
  }

  const RankTrace& trace_;
  const SliceRequest& request_;
  const LaunchIndex launches_;
  std::optional<Interval> window_;
  std::vector<std::uint32_t> text_of_;
  std::unordered_map<std::string, std::uint32_t> made_;
  std::map<std::pair<TrackKind, std::int64_t>, std::uint32_t> tracks_;
  std::set<std::int64_t> queues_, processes_;
  std::set<std::pair<TimeNs, TimeNs>> ranges_;  // start and length of the marks on the device
  RankSlices rank_;
};

}  // namespace

Tables SliceTables(bool python) {
  return Tables::kHostOps | Tables::kLaunches | Tables::kKernels | Tables::kDeviceTasks |
         Tables::kCommunications | Tables::kSteps | Tables::kQueuedWork | Tables::kMstx |
         Tables::kHostCalls | Tables::kSystemCalls | Tables::kFunctionCounts |
         Tables::kThreadStates | Tables::kCounters |
         (python ? Tables::kPythonCalls : Tables::kNone);
}

RankSlices SlicesOf(const RankTrace& trace, const SliceRequest& request) {
  return SliceMaker(trace, request).Make();
}

}  // namespace mpa
