// SPDX-License-Identifier: Apache-2.0
#include "run_medians.h"

#include "mpa/measure/quantiles.h"

namespace mpa::gate {
namespace {

TimesByName MedianTimes(const std::vector<RunSummary>& runs, TimesByName Breakdown::*section) {
  TimesByName medians;
  for (const RunSummary& run : runs) {
    for (const auto& [name, time] : run.breakdown.*section) medians.try_emplace(name);
  }
  for (auto& [name, median] : medians) {
    std::vector<std::int64_t> ns, calls;
    for (const RunSummary& run : runs) {
      const TimesByName& times = run.breakdown.*section;
      const auto found = times.find(name);
      const TimeAndCalls time = found == times.end() ? TimeAndCalls() : found->second;
      ns.push_back(time.ns);
      calls.push_back(time.calls);
    }
    median = {Median(ns), Median(calls)};
  }
  return medians;
}

}  // namespace

std::vector<std::vector<std::int64_t>> SamplesOf(const std::vector<RunSummary>& runs,
                                                 const Metric& metric) {
  std::vector<std::vector<std::int64_t>> samples;
  for (const RunSummary& run : runs) {
    const auto found = run.samples.find(metric);
    if (found == run.samples.end() || found->second.empty()) return {};
    samples.push_back(found->second);
  }
  return samples;
}

std::map<Metric, std::int64_t> MediansOf(const std::vector<RunSummary>& runs) {
  std::map<Metric, std::int64_t> medians;
  for (const auto& [metric, first] : runs.front().samples) {
    std::vector<std::int64_t> of_runs;
    for (const auto& samples : SamplesOf(runs, metric)) of_runs.push_back(Median(samples));
    if (!of_runs.empty()) medians[metric] = Median(of_runs);
  }
  return medians;
}

Breakdown MedianBreakdown(const std::vector<RunSummary>& runs) {
  return {.kernels = MedianTimes(runs, &Breakdown::kernels),
          .op_types = MedianTimes(runs, &Breakdown::op_types),
          .operators = MedianTimes(runs, &Breakdown::operators),
          .modules = MedianTimes(runs, &Breakdown::modules),
          .apis = MedianTimes(runs, &Breakdown::apis),
          .collectives = MedianTimes(runs, &Breakdown::collectives),
          .capture = MedianTimes(runs, &Breakdown::capture),
          .account = MedianTimes(runs, &Breakdown::account),
          .places = MedianTimes(runs, &Breakdown::places)};
}

}  // namespace mpa::gate
