// SPDX-License-Identifier: Apache-2.0
// Counters of the hardware beside the steps: links that can move no more, and memory that no
// allocator of the framework holds.
#include "mpa/diagnosis/part/counter_facts.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/activities.h"
#include "mpa/measure/memory_totals.h"

namespace mpa {
namespace {

// The rows of CounterSamples that are of one counter.
struct SampleRows {
  std::size_t first = 0, end = 0;
};

std::vector<SampleRows> RowsOfCounters(const RankTrace& trace) {
  std::vector<SampleRows> rows(trace.counters.Size());
  const CounterSamples& samples = trace.counter_samples;
  for (std::size_t i = 0; i < samples.Size(); ++i) {
    const auto counter = static_cast<std::size_t>(samples.counter[i]);
    if (i == 0 || samples.counter[i] != samples.counter[i - 1]) rows[counter].first = i;
    rows[counter].end = i + 1;
  }
  return rows;
}

// A port that reaches this share of its bandwidth has no more to give: the rest is headers.
constexpr double kOfLimit = 0.9;
// Samples that differ by less than this from the most are flat.
constexpr double kFlat = 0.97;

bool IsLink(const RankTrace& trace, std::size_t counter) {
  const Counters& counters = trace.counters;
  const auto view = [&](StringId text) { return trace.strings.View(text); };
  return counters.kind[counter] == CounterKind::kRate && view(counters.unit[counter]) == "B/s" &&
         IsOneOf(view(counters.group[counter]), {"HCCS", "PCIe", "RoCE", "NIC", "UB", "SIO"});
}

class LinkLevels {
 public:
  LinkLevels(const RankTrace& trace, const Interval& steps)
      : trace_(trace), steps_(steps), exposed_(ActivitiesOf(trace).exposed) {}

  std::vector<FullLink> Find() const {
    std::vector<FullLink> found;
    const std::vector<SampleRows> rows = RowsOfCounters(trace_);
    for (std::size_t counter = 0; counter < rows.size(); ++counter) {
      if (!IsLink(trace_, counter)) continue;
      FullLink link = trace_.counters.limit[counter] > 0 ? AtLimit(counter, rows[counter])
                                                         : AtItsMost(counter, rows[counter]);
      if (link.exposed > 0) found.push_back(std::move(link));
    }
    StableSort(found, {}, &FullLink::name);
    return found;
  }

 private:
  std::string_view View(StringId text) const { return trace_.strings.View(text); }

  std::string NameOf(std::size_t counter) const {
    const Counters& counters = trace_.counters;
    std::string name(View(counters.group[counter]));
    for (const StringId more : {counters.part[counter], counters.name[counter]}) {
      if (!View(more).empty()) name.append(" ").append(View(more));
    }
    return name;
  }

  Interval At(std::size_t row) const {
    const CounterSamples& samples = trace_.counter_samples;
    return {samples.start[row], samples.start[row] + samples.dur[row]};
  }
  bool IsOfSteps(const Interval& sample) const {
    return sample.end > sample.begin && sample.begin >= steps_.begin && sample.end <= steps_.end;
  }
  double ExposedShare(const Interval& sample) const {
    return static_cast<double>(LengthWithin(exposed_, sample)) /
           static_cast<double>(sample.end - sample.begin);
  }

  void Add(std::size_t row, TimeNs& end_of_last, TimeNs& stretch, FullLink& link) const {
    const Interval sample = At(row);
    const TimeNs length = sample.end - sample.begin;
    stretch = sample.begin == end_of_last ? stretch + length : length;
    end_of_last = sample.end;
    if (stretch > link.longest) {
      link.longest = stretch;
      link.start = sample.end - stretch;
    }
    link.rate += trace_.counter_samples.value[row] * static_cast<double>(length);
    link.time += length;
    link.exposed += LengthWithin(exposed_, sample);
  }

  FullLink Sum(std::size_t counter, const std::vector<std::size_t>& rows) const {
    FullLink link{.name = NameOf(counter), .limit = trace_.counters.limit[counter]};
    TimeNs end = 0, stretch = 0;
    for (const std::size_t row : rows) Add(row, end, stretch, link);
    if (link.time > 0) link.rate /= static_cast<double>(link.time);
    return link;
  }

  // Most of the time that a sample is of has to be exposed communication: what a link moves beside
  // computing holds nothing up.
  FullLink AtLimit(std::size_t counter, const SampleRows& rows) const {
    constexpr double kMostly = 0.5;
    const double limit = trace_.counters.limit[counter];
    std::vector<std::size_t> full;
    for (std::size_t row = rows.first; row < rows.end; ++row) {
      const Interval sample = At(row);
      if (IsOfSteps(sample) && trace_.counter_samples.value[row] >= kOfLimit * limit &&
          ExposedShare(sample) >= kMostly)
        full.push_back(row);
    }
    return Sum(counter, full);
  }

  // Without a limit, a link may be full where it never moved more in the run, moves that much
  // whenever nothing but communication runs, however long, and much less when nothing needs it.
  FullLink AtItsMost(std::size_t counter, const SampleRows& rows) const {
    constexpr double kWholly = 0.9, kHardly = 0.1, kNearlyAll = 0.9, kMuchLess = 0.5;
    constexpr std::size_t kLeastBusy = 8, kLeastIdle = 3;
    const std::vector<double>& values = trace_.counter_samples.value;
    double most = 0, idle_sum = 0;
    for (std::size_t row = rows.first; row < rows.end; ++row) most = std::max(most, values[row]);
    std::size_t busy = 0, idle = 0;
    std::vector<std::size_t> full;
    for (std::size_t row = rows.first; row < rows.end; ++row) {
      const Interval sample = At(row);
      if (!IsOfSteps(sample)) continue;
      const double share = ExposedShare(sample);
      if (share >= kWholly) {
        ++busy;
        if (values[row] >= kFlat * most) full.push_back(row);
      } else if (share <= kHardly) {
        ++idle;
        idle_sum += values[row];
      }
    }
    const bool is_flat = most > 0 && busy >= kLeastBusy &&
                         static_cast<double>(full.size()) >= kNearlyAll * static_cast<double>(busy);
    const bool is_needed =
        idle >= kLeastIdle && idle_sum <= kMuchLess * most * static_cast<double>(idle);
    return is_flat && is_needed ? Sum(counter, full) : FullLink{};
  }

  const RankTrace& trace_;
  const Interval steps_;
  const Intervals exposed_;
};

}  // namespace

bool CountsLinks(const RankTrace& trace) {
  for (std::size_t counter = 0; counter < trace.counters.Size(); ++counter) {
    if (IsLink(trace, counter)) return true;
  }
  return false;
}

std::vector<FullLink> FullLinksOf(const RankTrace& trace, const Interval& steps) {
  return LinkLevels(trace, steps).Find();
}

std::int64_t DeviceMemoryTold::ProcessAt(TimeNs time) const {
  const auto behind = std::ranges::upper_bound(process, time, {}, &Level::time);
  return behind == process.begin() ? -1 : (behind - 1)->bytes;
}

DeviceMemoryTold DeviceMemoryOf(const RankTrace& trace, const Interval& steps) {
  DeviceMemoryTold told;
  const MemorySamples& levels = trace.memory_samples;
  for (const std::size_t row : RowsBy(levels.time)) {
    if (trace.strings.View(levels.component[row]) == kProcessMemory && levels.time[row] > 0)
      told.process.push_back({levels.time[row], levels.reserved_bytes[row]});
  }
  const auto view = [&](StringId text) { return trace.strings.View(text); };
  const CounterSamples& samples = trace.counter_samples;
  const std::vector<SampleRows> rows = RowsOfCounters(trace);
  for (std::size_t counter = 0; counter < rows.size(); ++counter) {
    const std::string_view group = view(trace.counters.group[counter]);
    const std::string_view part = view(trace.counters.part[counter]);
    if (group == "NPU MEM" && view(trace.counters.name[counter]) == "device HBM") {
      for (std::size_t row = rows[counter].first; row < rows[counter].end; ++row) {
        const std::int64_t own = told.ProcessAt(samples.start[row]);
        if (own < 0 || samples.value[row] <= static_cast<double>(own)) continue;
        told.others = std::max(told.others, static_cast<std::int64_t>(samples.value[row]) - own);
      }
    } else if (group == "NPU module memory" && part != kProcessMemory) {
      // Those of the framework's allocator are what "APP" reserves there.
      ComponentMemory component{.name = std::string(part)};
      bool any = false;
      for (std::size_t row = rows[counter].first; row < rows[counter].end; ++row) {
        if (samples.start[row] > steps.end) break;
        const auto bytes = static_cast<std::int64_t>(samples.value[row]);
        if (!any || samples.start[row] <= steps.begin) component.first = bytes;
        component.last = bytes;
        any = true;
      }
      if (component.last > 0) told.components.push_back(std::move(component));
    }
  }
  return told;
}

}  // namespace mpa
