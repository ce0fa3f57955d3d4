// SPDX-License-Identifier: Apache-2.0
// Launches that the device has not begun: how long each waits, and how many wait at a time.
#include "launch_delays.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/measure/device_work.h"
#include "mpa/measure/launch_chain.h"

namespace mpa::recipes::free_analysis {
namespace {

// The ranges of delays end here, in us; the last one has no end.
constexpr TimeNs kEndsUs[] = {2,   5,    10,   20,   50,    100,   200,
                              500, 1000, 2000, 5000, 10000, 20000, 50000};
constexpr std::size_t kRanges = std::size(kEndsUs) + 1;
constexpr std::size_t kStretches = 300;
constexpr std::int64_t kThousandths = 1000;

// Adds the time that a span has in each of the equal stretches of [begin, begin + length).
void AddSpan(Interval span, TimeNs begin, TimeNs length, std::vector<double>& times) {
  const double stretch = static_cast<double>(length) / kStretches;
  const double from = static_cast<double>(span.begin - begin) / stretch;
  const double to = static_cast<double>(span.end - begin) / stretch;
  const auto first = static_cast<std::size_t>(from);
  for (std::size_t i = first; i < kStretches && static_cast<double>(i) < to; ++i) {
    const auto at = static_cast<double>(i);
    times[i] += std::min(to, at + 1) - std::max(from, at);
  }
}

}  // namespace

LaunchDelays LaunchDelaysOf(const RankTrace& trace, const HostClock& clock) {
  const LaunchCalls calls(trace);
  if (!clock.trusted || !calls.HasCalls()) return {};
  std::vector<Interval> waits;  // on the clock of the device
  Interval whole{std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()};
  for (const DeviceItem& item : FindDeviceItems(trace)) {
    const auto call = calls.Find(item.connection);
    if (!call || call->row < 0) continue;
    const auto row = static_cast<std::size_t>(call->row);
    if (StartsGraph(trace.strings.View(trace.host_calls.name[row]))) continue;
    // A little before its call: the clocks differ by that much.
    const TimeNs launched = std::min(call->begin - clock.offset, item.begin);
    waits.push_back({launched, item.begin});
    whole = {std::min(whole.begin, launched), std::max(whole.end, item.begin)};
  }
  LaunchDelays delays;
  if (waits.empty() || whole.end <= whole.begin) return delays;
  delays.length = whole.end - whole.begin;
  delays.counts.resize(kRanges);
  std::vector<double> times(kStretches);
  for (const Interval& wait : waits) {
    const TimeNs delay = wait.end - wait.begin;
    const auto* range = std::ranges::upper_bound(kEndsUs, delay / 1000);
    ++delays.counts[static_cast<std::size_t>(range - std::begin(kEndsUs))];
    AddSpan(wait, whole.begin, delays.length, times);
  }
  for (const double time : times) delays.waiting.push_back(std::llround(time * kThousandths));
  return delays;
}

void CheckLaunchDelays(const LaunchDelays& delays) {
  if (delays.counts.empty() && delays.waiting.empty()) return;
  const auto is_count = [](std::int64_t count) { return count >= 0; };
  if (delays.counts.size() != kRanges || delays.waiting.size() != kStretches ||
      !IsDuration(delays.length) || !std::ranges::all_of(delays.counts, is_count) ||
      !std::ranges::all_of(delays.waiting, is_count))
    Fail(ErrorKind::kCorrupt, "the delays of launches are impossible");
}

std::optional<PageChart> DelayChart(const std::vector<const LaunchDelays*>& ranks) {
  std::vector<double> counts(kRanges);
  bool any = false;
  for (const LaunchDelays* delays : ranks) {
    for (std::size_t i = 0; i < delays->counts.size(); ++i) {
      counts[i] += static_cast<double>(delays->counts[i]);
      any = true;
    }
  }
  if (!any) return std::nullopt;
  std::size_t ranges = kRanges;  // without those behind the longest delay
  while (ranges > 1 && counts[ranges - 1] == 0) --ranges;
  counts.resize(ranges);
  PageChart chart{.kind = PageChart::Kind::kHistogram,
                  .title = Say("Delay between the launch of work and its start, all ranks"),
                  .note = Say("From the begin of the host's call to the start on the device. Short"
                              " delays: the device waits for the host."),
                  .unit = Say("pieces of work"),
                  .unit_of_places = "us"};
  chart.series.push_back({.name = Say("pieces of work"), .values = std::move(counts)});
  chart.at.push_back(0);
  for (const TimeNs end : kEndsUs) chart.at.push_back(static_cast<double>(end));
  chart.at.push_back(2 * chart.at.back());
  chart.at.resize(ranges + 1);
  if (ranges == kRanges) chart.note = Say("{} The last bar is of all longer ones.", chart.note);
  return chart;
}

std::optional<PageChart> QueueChart(const LaunchDelays& delays, RankId rank) {
  if (delays.waiting.empty()) return std::nullopt;
  PageChart chart{.kind = PageChart::Kind::kAreas,
                  .title = Say("Work in the queue over time, {}", RankText(rank)),
                  .note = Say("Launched by the host and not yet begun, the mean of each stretch."
                              " Near 0 the device waits for the host."),
                  .unit = Say("pieces of work"),
                  .unit_of_places = "ms"};
  PageSeries& series = chart.series.emplace_back();
  series.name = Say("launched and not begun");
  for (std::size_t i = 0; i < kStretches; ++i) {
    chart.at.push_back(InMs(delays.length) * static_cast<double>(i) / kStretches);
    series.values.push_back(static_cast<double>(delays.waiting[i]) / kThousandths);
  }
  return chart;
}

}  // namespace mpa::recipes::free_analysis
