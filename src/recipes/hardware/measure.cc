// SPDX-License-Identifier: Apache-2.0
// Measures counters: least, mean and most, by step, over time, and what ran when they were high.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "mpa/base/stable_sort.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/collectives.h"
#include "part.h"

namespace mpa::recipes::hardware {
namespace {

constexpr std::size_t kRanMost = 5;

struct Window {
  TimeNs begin = 0, end = 0;
};

// A sample, as far as it lies in a window.
struct Weighted {
  TimeNs start = 0;
  double value = 0;
  TimeNs weight = 0;
};

// The interval of the first sample of a rate is unknown, so it tells nothing.
bool HasMeaning(const CounterName& counter, const Sample& sample) {
  return sample.dur > 0 || counter.kind != CounterKind::kRate;
}

// Samples do not overlap and are in order of time.
std::vector<Weighted> Within(const Track& track, const std::optional<Window>& window) {
  std::vector<Weighted> list;
  auto at = track.samples.begin();
  if (window)
    at = std::partition_point(at, track.samples.end(),
                              [&](const Sample& sample) { return sample.End() < window->begin; });
  for (; at != track.samples.end() && (!window || at->start < window->end); ++at) {
    if (!HasMeaning(track, *at)) continue;
    TimeNs begin = at->start, end = at->End();
    if (window) {
      // What ends when the window begins does not lie in it, what is of that moment does.
      if (end == window->begin && at->dur > 0) continue;
      begin = std::max(begin, window->begin);
      end = std::min(end, window->end);
    }
    list.push_back({begin, at->value, end - begin});
  }
  return list;
}

double MeanOf(const std::vector<Weighted>& list) {
  double sum = 0, weight = 0;
  for (const Weighted& sample : list) {
    sum += sample.value * static_cast<double>(sample.weight);
    weight += static_cast<double>(sample.weight);
  }
  if (weight > 0) return sum / weight;
  for (const Weighted& sample : list) sum += sample.value;
  return sum / static_cast<double>(list.size());
}

// The least value that is not exceeded for 95 % of the time.
double P95Of(std::vector<Weighted> list) {
  StableSort(list, [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
  TimeNs all = 0, so_far = 0;
  for (const Weighted& sample : list) all += sample.weight;
  for (const Weighted& sample : list) {
    so_far += sample.weight;
    if (all > 0 && so_far >= all - all / 20) return sample.value;
  }
  return list.back().value;
}

// A total that is smaller than before has started again.
double GrownIn(const CounterName& counter, const std::vector<Weighted>& list) {
  if (counter.kind != CounterKind::kTotal) return 0;
  double grown = 0;
  for (std::size_t i = 1; i < list.size(); ++i)
    grown += std::max(0.0, list[i].value - list[i - 1].value);
  return grown;
}

// What the device runs, to be found by time.
class DeviceWork {
 public:
  explicit DeviceWork(const RankTrace& trace) {
    const Kernels& kernels = trace.kernels;
    for (std::size_t i = 0; i < kernels.Size(); ++i) {
      const StringId type = kernels.op_type[i];
      Add(kernels.start[i], kernels.dur[i],
          trace.strings.View(type != StringId::kEmpty ? type : kernels.name[i]));
    }
    const Communications& runs = trace.communications;
    for (std::size_t i = 0; i < runs.Size(); ++i)
      Add(runs.start[i], runs.dur[i], CollectiveKindOf(trace, i));
    StableSort(work_, [](const Work& a, const Work& b) { return a.begin < b.begin; });
    TimeNs last = 0;
    for (const Work& work : work_) {
      last = std::max(last, work.end);
      latest_.push_back(last);
    }
  }

  void AddOverlaps(Window window, std::vector<TimeNs>& times) const {
    times.resize(types_.size());
    // The first that may reach into the window: all before it have ended.
    const auto first = std::upper_bound(latest_.begin(), latest_.end(), window.begin);
    for (auto i = static_cast<std::size_t>(first - latest_.begin());
         i < work_.size() && work_[i].begin < window.end; ++i) {
      const TimeNs overlap =
          std::min(work_[i].end, window.end) - std::max(work_[i].begin, window.begin);
      if (overlap > 0) times[work_[i].type] += overlap;
    }
  }

  std::vector<Ran> Longest(const std::vector<TimeNs>& times) const {
    std::vector<Ran> list;
    for (const auto& [type, number] : types_) {
      if (number < times.size() && times[number] > 0) list.push_back({type, times[number]});
    }
    StableSort(list, [](const Ran& a, const Ran& b) {
      return a.time != b.time ? a.time > b.time : a.type < b.type;
    });
    if (list.size() > kRanMost) list.resize(kRanMost);
    return list;
  }

 private:
  struct Work {
    TimeNs begin, end;
    std::size_t type;  // its number
  };
  void Add(TimeNs start, TimeNs dur, std::string_view type) {
    if (dur <= 0) return;
    auto known = types_.find(type);
    if (known == types_.end()) known = types_.emplace(type, types_.size()).first;
    work_.push_back({start, start + dur, known->second});
  }

  std::map<std::string, std::size_t, std::less<>> types_;
  std::vector<Work> work_;
  std::vector<TimeNs> latest_;  // by position: the latest end up to it
};

class Measuring {
 public:
  explicit Measuring(const RankTrace& trace) : work_(trace) {
    for (const StepWindow& step : FindStepWindows(trace, HostClockOf(trace))) {
      if (step.id >= 0) part_.steps.push_back({step.id, step.window.begin, step.window.end});
    }
    if (trace.is_one_step) window_ = Window{trace.step_begin, trace.step_end};
  }

  RankCounters Measure(const std::vector<Track>& tracks) && {
    FindBounds(tracks);
    for (const Track& track : tracks) Add(track);
    return std::move(part_);
  }

 private:
  void FindBounds(const std::vector<Track>& tracks) {
    bool any = false;
    for (const Track& track : tracks) {
      const auto list = Within(track, window_);
      if (list.empty()) continue;
      const TimeNs begin = list.front().start, end = list.back().start + list.back().weight;
      part_.begin = any ? std::min(part_.begin, begin) : begin;
      part_.end = any ? std::max(part_.end, end) : end;
      any = true;
    }
  }

  void Add(const Track& track) {
    const std::vector<Weighted> list = Within(track, window_);
    if (list.empty()) return;
    Counter counter{track, track.is_main, track.limit};
    const auto by_value = [](const Weighted& a, const Weighted& b) { return a.value < b.value; };
    const auto most = std::max_element(list.begin(), list.end(), by_value);
    counter.max = most->value;
    if (counter.max == 0) {
      ++part_.silent;
      return;
    }
    counter.samples = static_cast<std::int64_t>(list.size());
    counter.min = std::min_element(list.begin(), list.end(), by_value)->value;
    counter.mean = MeanOf(list);
    counter.p95 = P95Of(list);
    counter.max_time = most->start;
    counter.max_step = StepAt(counter.max_time);
    counter.grown = GrownIn(track, list);
    FindWork(list, counter);
    AddSteps(track, counter);
    AddOverTime(list, counter);
    part_.counters.push_back(std::move(counter));
  }

  std::int32_t StepAt(TimeNs time) const {
    for (const Step& step : part_.steps) {
      if (time >= step.begin && time < step.end) return step.id;
    }
    return -1;
  }

  // What the device ran does not explain what the host or a constant value does.
  void FindWork(const std::vector<Weighted>& list, Counter& counter) const {
    if (counter.id.of_host || counter.min == counter.max || counter.id.kind == CounterKind::kTotal)
      return;
    std::vector<TimeNs> times;  // by type
    for (const Weighted& sample : list) {
      if (sample.value < kHigh * counter.max) continue;
      counter.high += sample.weight;
      work_.AddOverlaps({sample.start, sample.start + sample.weight}, times);
    }
    counter.ran = work_.Longest(times);
  }

  void AddSteps(const Track& track, Counter& counter) const {
    if (!counter.is_main) return;
    for (const Step& step : part_.steps) {
      const auto list = Within(track, Window{step.begin, step.end});
      if (list.empty()) continue;
      double most = 0;
      for (const Weighted& sample : list) most = std::max(most, sample.value);
      counter.steps.push_back({step.id, MeanOf(list), most, GrownIn(track, list)});
    }
  }

  // The mean of each stretch of the rank's time.
  void AddOverTime(const std::vector<Weighted>& list, Counter& counter) const {
    if (!counter.is_main || part_.end <= part_.begin) return;
    std::vector<double> sums(kStretches), weights(kStretches);
    const auto length = static_cast<double>(part_.end - part_.begin);
    const auto bound = [&](std::size_t i) {
      return part_.begin + static_cast<TimeNs>(length * static_cast<double>(i) / kStretches);
    };
    for (const Weighted& sample : list) {
      const TimeNs end = sample.start + sample.weight;
      const auto from = static_cast<double>(sample.start - part_.begin) / length;
      auto i = std::min(kStretches - 1, static_cast<std::size_t>(from * kStretches));
      if (i > 0) --i;  // the share was rounded
      for (; i < kStretches && bound(i) < end; ++i) {
        const TimeNs overlap = std::min(end, bound(i + 1)) - std::max(sample.start, bound(i));
        if (overlap <= 0) continue;
        sums[i] += sample.value * static_cast<double>(overlap);
        weights[i] += static_cast<double>(overlap);
      }
    }
    for (std::size_t i = 0; i < kStretches; ++i)
      counter.over_time.push_back(weights[i] > 0 ? sums[i] / weights[i] : -1);
  }

  DeviceWork work_;
  std::optional<Window> window_;
  RankCounters part_;
};

}  // namespace

RankCounters Measure(const RankTrace& trace) {
  const std::vector<Track> tracks = TracksOf(trace);
  RankCounters part = Measuring(trace).Measure(tracks);
  part.kernels = KernelsBoundByMemory(trace, tracks);
  for (const Track& track : tracks) {
    if (track.group == "HBM" && track.name == kReadAndWrite) part.memory_peak = track.limit;
  }
  return part;
}

}  // namespace mpa::recipes::hardware
