// SPDX-License-Identifier: Apache-2.0
#include "tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "mpa/base/stable_sort.h"
#include "mpa/mfu/chip_peak.h"

namespace mpa::recipes::hardware {
namespace {

// What people look at first.
std::size_t PlaceOf(std::string_view group) {
  constexpr std::string_view kOrder[] = {"HBM",
                                         "DDR",
                                         "LLC",
                                         "RoCE",
                                         "NIC",
                                         "HCCS",
                                         "UB",
                                         "PCIe",
                                         "SIO",
                                         "QoS",
                                         "NPU MEM",
                                         "AI Core",
                                         "CPU Usage",
                                         "Memory Usage",
                                         "Disk Usage",
                                         "Network Usage",
                                         "Network device",
                                         "NPU module memory",
                                         "Stars Soc Info",
                                         "Acc PMU"};
  return static_cast<std::size_t>(std::ranges::find(kOrder, group) - std::begin(kOrder));
}

// The mean of all processors, which some captures have beside them.
constexpr std::string_view kMeanOfProcessors = "Avg";

enum class Together { kNothing, kSum, kMean };

// Rates of hits and levels without a unit have no sum.
Together HowToCombine(const CounterName& counter) {
  if (counter.group == "CPU Usage") return Together::kMean;
  constexpr std::string_view kSums[] = {"B/s", "B", "packets", "packets/s"};
  return std::ranges::find(kSums, counter.unit) != std::end(kSums) ? Together::kSum
                                                                   : Together::kNothing;
}

// Of each time between two bounds of any sample what the counters together have.
std::vector<Sample> Combined(const std::vector<const Track*>& tracks, Together how) {
  std::vector<TimeNs> bounds;
  for (const Track* track : tracks) {
    for (const Sample& sample : track->samples) {
      bounds.push_back(sample.start);
      bounds.push_back(sample.End());
    }
  }
  std::ranges::sort(bounds);
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  std::vector<std::size_t> at(tracks.size());
  std::vector<Sample> samples;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t t = 0; t < tracks.size(); ++t) {
      const std::vector<Sample>& of = tracks[t]->samples;
      while (at[t] < of.size() && of[at[t]].End() <= bounds[i]) ++at[t];
      if (at[t] == of.size() || of[at[t]].start > bounds[i]) continue;
      sum += of[at[t]].value;
      ++count;
    }
    if (count == 0) continue;
    const double value = how == Together::kMean ? sum / static_cast<double>(count) : sum;
    samples.push_back({bounds[i], bounds[i + 1] - bounds[i], value});
  }
  return samples;
}

// The sum of the limits; unknown when one is.
double LimitOf(const std::vector<const Track*>& tracks, Together how) {
  double limit = 0;
  for (const Track* track : tracks) {
    if (track->limit < 0) return -1;
    limit = how == Together::kMean ? std::max(limit, track->limit) : limit + track->limit;
  }
  return limit;
}

Track Joined(const std::vector<const Track*>& tracks, Together how, std::string name,
             std::string part) {
  Track track{*tracks.front()};
  track.name = std::move(name);
  track.part = std::move(part);
  track.limit = LimitOf(tracks, how);
  track.is_main = true;
  track.samples = Combined(tracks, how);
  return track;
}

double MostOf(const Track& track) {
  double most = 0;
  for (const Sample& sample : track.samples) most = std::max(most, sample.value);
  return most;
}

class TrackList {
 public:
  explicit TrackList(const RankTrace& trace) : trace_(trace) {}

  std::vector<Track> Make() && {
    AddCounters();
    AddClocks();
    JoinParts();
    JoinReadsAndWrites();
    StableSort(tracks_, [](const Track& a, const Track& b) {
      return std::pair(PlaceOf(a.group), !a.is_main) < std::pair(PlaceOf(b.group), !b.is_main);
    });
    return std::move(tracks_);
  }

 private:
  void AddCounters() {
    const Counters& counters = trace_.counters;
    const auto text = [&](StringId id) { return std::string(trace_.strings.View(id)); };
    for (std::size_t i = 0; i < counters.Size(); ++i) {
      tracks_.push_back({{text(counters.group[i]), text(counters.name[i]), text(counters.part[i]),
                          text(counters.unit[i]), counters.kind[i], counters.of_host[i] != 0},
                         counters.limit[i]});
    }
    const CounterSamples& samples = trace_.counter_samples;
    for (std::size_t i = 0; i < samples.Size(); ++i) {
      tracks_[static_cast<std::size_t>(samples.counter[i])].samples.push_back(
          {samples.start[i], samples.dur[i], samples.value[i]});
    }
    std::erase_if(tracks_, [](const Track& track) { return track.samples.empty(); });
  }

  // Each value holds until the next of its device, the last one as long as the device works.
  void AddClocks() {
    TimeNs end = 0;
    const Kernels& kernels = trace_.kernels;
    for (std::size_t i = 0; i < kernels.Size(); ++i) end = std::max(end, kernels.End(i));
    const CoreClocks& clocks = trace_.core_clocks;
    const std::set<std::int64_t> devices(clocks.device.begin(), clocks.device.end());
    for (const std::int64_t device : devices) {
      Track track{{"AI Core", "clock",
                   devices.size() > 1 ? fmt::format("device {}", device) : std::string(), "MHz",
                   CounterKind::kLevel}};
      for (const std::size_t row : clocks.RowsByStart()) {
        if (clocks.device[row] != device) continue;
        if (!track.samples.empty())
          track.samples.back().dur = clocks.start[row] - track.samples.back().start;
        track.samples.push_back({clocks.start[row], 0, static_cast<double>(clocks.mhz[row])});
      }
      Sample& last = track.samples.back();
      last.dur = std::max<TimeNs>(0, end - last.start);
      tracks_.push_back(std::move(track));
    }
  }

  // Main tracks of those that differ in their part alone.
  void JoinParts() {
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < tracks_.size(); ++i) {
      if (tracks_[i].part != kMeanOfProcessors)
        alike[{tracks_[i].group, tracks_[i].name}].push_back(i);
    }
    std::vector<Track> sums;
    for (const auto& [name, places] : alike) {
      const Together how = HowToCombine(tracks_[places.front()]);
      if (places.size() == 1 || how == Together::kNothing) {
        const std::size_t main = *std::ranges::max_element(
            places, {}, [&](std::size_t place) { return MostOf(tracks_[place]); });
        tracks_[main].is_main = true;
        continue;
      }
      std::vector<const Track*> parts;
      for (const std::size_t place : places) parts.push_back(&tracks_[place]);
      sums.push_back(Joined(parts, how, name.second, kAllParts));
    }
    for (Track& sum : sums) tracks_.push_back(std::move(sum));
  }

  // Memories share their bandwidth among reads and writes. That of the chip is known of some.
  void JoinReadsAndWrites() {
    for (const char* group : {"HBM", "DDR"}) {
      std::vector<const Track*> both;
      for (const Track& track : tracks_) {
        if (track.group == group && track.is_main) both.push_back(&track);
      }
      if (both.size() != 2) continue;
      Track sum = Joined(both, Together::kSum, kReadAndWrite, both.front()->part);
      constexpr double kGigabyte = 1e9;
      const double peak = LimitsOf(trace_.job.chip).memory_gbs * kGigabyte;
      sum.limit = peak > 0 && std::string_view(group) == "HBM" ? peak : -1;
      tracks_.push_back(std::move(sum));
    }
  }

  const RankTrace& trace_;
  std::vector<Track> tracks_;
};

}  // namespace

std::string CounterName::Label() const {
  std::string label = group;
  if (!part.empty() && part != kAllParts) label += " " + part;
  if (name != "usage") label += " " + name;
  return label;
}

std::vector<Track> TracksOf(const RankTrace& trace) { return TrackList(trace).Make(); }

}  // namespace mpa::recipes::hardware
