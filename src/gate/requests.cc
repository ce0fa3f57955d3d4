// SPDX-License-Identifier: Apache-2.0
// Percentiles of the times of requests, and how well a run knows them.
#include "requests.h"

#include <algorithm>
#include <cmath>

#include "mpa/measure/quantiles.h"

namespace mpa::gate {
namespace {

std::vector<std::int64_t> SortedTimes(const RunSummary& run, const Metric& metric) {
  const auto found = run.samples.find(WithPercentile(metric, 50));
  if (found == run.samples.end()) return {};
  std::vector<std::int64_t> times = found->second;
  std::ranges::sort(times);
  return times;
}

// The standard deviation of the percentile: half of what lies between the values one standard
// deviation of their number below and above it. Requests that wait for the same batches are alike,
// so that four of them count as one.
double Deviation(const std::vector<std::int64_t>& sorted, int percent) {
  constexpr double kAlike = 4;
  if (sorted.empty()) return 0;
  const auto count = static_cast<double>(sorted.size());
  const double share = percent / 100.0;
  const double apart = std::sqrt(share * (1 - share) / (count / kAlike));
  const auto at = [&](double place) {
    const double position = std::clamp(place, 0.0, 1.0) * (count - 1);
    return static_cast<double>(sorted[static_cast<std::size_t>(std::lround(position))]);
  };
  return (at(share + apart) - at(share - apart)) / 2;
}

double WorstDeviation(const std::vector<RunSummary>& runs, const Metric& metric) {
  double worst = 0;
  for (const RunSummary& run : runs)
    worst = std::max(worst, Deviation(SortedTimes(run, metric), PercentileOf(metric)));
  return worst;
}

}  // namespace

std::vector<std::int64_t> ValueOfRequests(const RunSummary& run, const Metric& metric) {
  const std::vector<std::int64_t> sorted = SortedTimes(run, metric);
  if (sorted.empty()) return {};
  return {Percentile(sorted, PercentileOf(metric))};
}

double NoiseOfRequests(const std::vector<RunSummary>& base,
                       const std::vector<RunSummary>& comparison, const Metric& metric) {
  const std::vector<std::int64_t> value = ValueOfRequests(base.front(), metric);
  if (value.empty() || value.front() <= 0) return 0;
  return std::hypot(WorstDeviation(base, metric), WorstDeviation(comparison, metric)) /
         static_cast<double>(value.front());
}

std::size_t FewestRequests(const std::vector<RunSummary>& runs, const Metric& metric) {
  std::size_t fewest = SIZE_MAX;
  for (const RunSummary& run : runs) {
    const auto found = run.samples.find(WithPercentile(metric, 50));
    fewest = std::min(fewest, found == run.samples.end() ? 0 : found->second.size());
  }
  return fewest;
}

void AddRequests(const std::vector<RankSummary>& servers, Samples& samples) {
  for (const RankSummary& server : servers) {
    for (const auto& [metric, times] : server.samples) {
      std::vector<std::int64_t>& all = samples[metric];
      all.insert(all.end(), times.begin(), times.end());
    }
  }
}

RankSummary SummariseServer(const RankTrace& trace) {
  RankSummary summary;
  const ServerRequests& requests = trace.server_requests;
  for (std::size_t i = 0; i < requests.Size(); ++i) {
    const TimesOfRequest times = TimesOf(requests.first_token[i], requests.dur[i],
                                         requests.queued[i], requests.reply_tokens[i]);
    for (std::size_t time = 0; time < times.size(); ++time) {
      if (times[time] < 0) continue;
      const Metric median = RequestMetric(static_cast<RequestTime>(time), 50);
      summary.samples[median].push_back(times[time]);
    }
  }
  return summary;
}

}  // namespace mpa::gate
