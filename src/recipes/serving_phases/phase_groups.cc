// SPDX-License-Identifier: Apache-2.0
#include "phase_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "mpa/measure/quantiles.h"

namespace mpa::serving_phases {

std::vector<PhaseGroup> GroupSteps(const Ranks& ranks) {
  struct Found {
    PhaseGroup group;
    std::size_t last_rank = 0;  // counted from 1
  };
  std::map<PhaseAndSize, Found> found;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const ServingAccount& step : ranks[rank].part.steps) {
      auto& [group, last_rank] = found[PhaseAndSizeOf(step.batch)];
      if (last_rank == 0) group.batch = step.batch;
      if (last_rank != rank + 1) ++group.ranks;
      last_rank = rank + 1;
      if (step.is_warm_up) {
        ++group.warm_up;
        continue;
      }
      group.steps.push_back(&step);
      group.sum += step.Length();
      for (std::size_t part = 0; part < kServingParts; ++part) {
        group.times[part] += step.times[part];
      }
    }
  }
  std::vector<PhaseGroup> groups;
  for (auto& [key, of_key] : found) groups.push_back(std::move(of_key.group));
  return groups;
}

TimeNs LengthAt(const PhaseGroup& group, int percent) {
  std::vector<TimeNs> lengths;
  for (const ServingAccount* step : group.steps) lengths.push_back(step->Length());
  std::ranges::sort(lengths);
  return Percentile(lengths, percent);
}

TimeNs TimePerToken(const PhaseGroup& group) {
  std::vector<TimeNs> times;
  for (const ServingAccount* step : group.steps) {
    const TimeNs time = step->TimePerToken();
    if (time >= 0) times.push_back(time);
  }
  return times.empty() ? -1 : Median(std::move(times));
}

double TokensPerSecond(const PhaseGroup& group) {
  double tokens = 0;
  for (const ServingAccount* step : group.steps) {
    if (step->batch.Tokens() < 0) return -1;
    tokens += static_cast<double>(step->batch.Tokens());
  }
  return group.sum > 0 && tokens > 0 ? tokens / static_cast<double>(group.sum) * 1e9 : -1;
}

}  // namespace mpa::serving_phases
