// SPDX-License-Identifier: Apache-2.0
// Pictures of memory snapshots.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/report/amount.h"
#include "mpa/report/page.h"
#include "part.h"

namespace mpa::recipes::memory_timeline {
namespace {

constexpr std::size_t kMaxDrawn = 8;  // so many devices have pictures of their own

// MB or GB with four decimals at most.
class HistoryUnit {
 public:
  explicit HistoryUnit(const SnapshotMemory& memory)
      : in_gb_(std::max(memory.most_reserved, memory.peak.Allocated()) >= 4'000'000'000) {}
  double operator()(std::int64_t bytes) const {
    const double per_unit = in_gb_ ? 1e9 : 1e6;
    return std::round(1e4 * static_cast<double>(std::max<std::int64_t>(bytes, 0)) / per_unit) / 1e4;
  }
  const char* Name() const { return in_gb_ ? "GB" : "MB"; }

 private:
  bool in_gb_;
};

// The lower axis: times, where they were recorded, or else the numbers of the actions.
void AddPlaces(const SnapshotMemory& memory, PageChart& chart) {
  const bool has_times = memory.begin >= 0 && memory.end > memory.begin;
  double last = 0;
  for (std::size_t i = 0; i < memory.points.size(); ++i) {
    const double place = has_times && memory.times[i] >= 0 ? InMs(memory.times[i] - memory.begin)
                         : has_times                       ? last
                                     : static_cast<double>(memory.points[i].time + 1);
    last = std::max(last, place);  // clocks may be put back
    chart.at.push_back(last);
  }
  chart.label = has_times ? "ms" : std::string(Translated("action"));
  chart.unit_of_places = has_times ? Say("ms since the begin") : Say("actions of the allocator");
  const auto peak = std::ranges::find(memory.points, memory.peak.time, &Level::time);
  if (peak == memory.points.end()) return;
  chart.marks.push_back({chart.at[static_cast<std::size_t>(peak - memory.points.begin())],
                         Say("peak: {}", AmountText(Quantity::kBytes, memory.peak.Allocated()))});
}

// A rank without a number is called as its file.
std::string Subject(RankId rank, const SnapshotMemory& memory) {
  const std::string file =
      rank.IsNumber() ? Say("{} in {}", RankText(rank), memory.file) : memory.file;
  return Say("{}, device {}", file, memory.device);
}

PageChart HistoryChart(RankId rank, const SnapshotMemory& memory) {
  const HistoryUnit unit(memory);
  PageChart chart{
      .kind = PageChart::Kind::kAreas,
      .title = Say("{}: what is in use, and reserved, over the history", Subject(rank, memory)),
      .unit = unit.Name()};
  AddPlaces(memory, chart);
  PageSeries in_use{.name = Say("in use"), .tint = Tint::kMemory};
  PageSeries reserved{.name = Say("reserved"), .tint = Tint::kBase, .is_line = true};
  for (const Level& point : memory.points) {
    in_use.values.push_back(unit(point.Allocated()));
    reserved.values.push_back(unit(point.reserved));
  }
  chart.series = {std::move(in_use), std::move(reserved)};
  return chart;
}

PageChart BandsOverTime(RankId rank, const SnapshotMemory& memory) {
  const HistoryUnit unit(memory);
  PageChart chart{
      .kind = PageChart::Kind::kAreas,
      .title = Say("{}: what the largest call sites hold over time", Subject(rank, memory)),
      .note = Say("Of each call site the allocations of a thousandth of the peak or"
                  " more; others are what is left."),
      .unit = unit.Name()};
  AddPlaces(memory, chart);
  std::vector<std::int64_t> rest;
  for (const Level& point : memory.points) rest.push_back(point.Allocated());
  for (std::size_t i = 0; i < memory.bands.size(); ++i) {
    PageSeries series{.name = TextOf(memory.bands[i].holder), .tint = Tint::kMemory, .shade = i};
    for (std::size_t at = 0; at < rest.size(); ++at) {
      series.values.push_back(unit(memory.bands[i].bytes[at]));
      rest[at] -= memory.bands[i].bytes[at];
    }
    chart.series.push_back(std::move(series));
  }
  PageSeries others{.name = Say("others"), .tint = Tint::kMemory, .shade = kCategories - 1};
  for (const std::int64_t bytes : rest) others.values.push_back(unit(bytes));
  chart.series.push_back(std::move(others));
  return chart;
}

}  // namespace

void AddSnapshotDrawings(const Ranks& ranks, Report& report) {
  std::size_t drawn = 0;
  for (const auto& [rank, part] : ranks) {
    for (const SnapshotMemory& memory : part.snapshots) {
      if (memory.actions == 0 || drawn++ >= kMaxDrawn) continue;
      report.drawings.push_back(HistoryChart(rank, memory));
      if (!memory.bands.empty()) report.drawings.push_back(BandsOverTime(rank, memory));
    }
  }
}

}  // namespace mpa::recipes::memory_timeline
