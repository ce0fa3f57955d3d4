// SPDX-License-Identifier: Apache-2.0
// Cores that run below their rated clock.
#include <utility>
#include <vector>

#include "kernel_finder.h"
#include "mpa/base/rank.h"
#include "mpa/measure/quantiles.h"

namespace mpa {
namespace {

constexpr MetricInfo kClockRated{"clock_rated", "MHz", "rated {}"};

class ThrottledDevices : KernelFinder {
 public:
  using KernelFinder::KernelFinder;

  // Most devices run slower than they could. A single one is a slow rank.
  void Find() {
    Finding candidate = NewFinding(job_, kDevClock);
    std::vector<double> clocks;
    std::size_t recorded = 0;
    double rated = 0;
    for (RankIndex rank; rank < job_.ranks.size(); ++rank) {
      const double clock = ClockOf(rank);
      const auto at_best = static_cast<double>(job_.Part(rank).rated_mhz);
      if (clock <= 0 || at_best <= 0) continue;
      ++recorded;
      if (clock >= thresholds_[kClockRatio] * at_best) continue;
      clocks.push_back(clock);
      rated = at_best;
      const auto on_cores = [](TimeCategory category) {
        return category == TimeCategory::kMatmul || category == TimeCategory::kGroupedMatmul ||
               category == TimeCategory::kConvolution || category == TimeCategory::kAttention;
      };
      Remove(
          rank,
          [&](const GraphNode& node) { return on_cores(node.category) ? 1 - clock / at_best : 0; },
          candidate.what_if.expect);
    }
    if (clocks.empty() || 2 * clocks.size() <= recorded) return;
    candidate.Measure(kMeanClock, Median(std::move(clocks)));
    candidate.Measure(kClockRated, rated);
    candidates_.push_back(std::move(candidate));
  }

 private:
  double ClockOf(RankIndex rank) const {
    double sum = 0, steps = 0;
    for (std::size_t step = job_.first_step; step < job_.Part(rank).steps.size(); ++step) {
      if (job_.Part(rank).steps[step].mhz <= 0) continue;
      sum += static_cast<double>(job_.Part(rank).steps[step].mhz);
      ++steps;
    }
    return steps > 0 ? sum / steps : 0;
  }
};

}  // namespace

const FindingType kDevClock = Fault(
    Area::kDevices, "dev.clock", {"hardware", "platform"}, "the cores run below their rated clock",
    {.looked_at = "the measured clock of the cores compared with the rated one, on most devices",
     .refuted_by = "the clock is at its rated value, or low only while the device is idle",
     .problem = "AI Core Frequency Issues",
     .categories = {TimeCategory::kMatmul},
     .needs = {Record::kClock, Record::kRatedClock},
     .find = FindBy<ThrottledDevices>,
     .advice = {{{"check power cap, temperature and cooling (npu-smi)",
                  Check("power cap, temperature and cooling", "npu-smi")}},
                {{"check power cap, temperature and cooling (nvidia-smi)",
                  Check("power cap, temperature and cooling", "nvidia-smi")}}},
     .thresholds = {&kClockRatio}});

}  // namespace mpa
