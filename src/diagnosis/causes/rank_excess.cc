// SPDX-License-Identifier: Apache-2.0
#include "rank_excess.h"

namespace mpa {
namespace {

// Of two ranks that differ in a step either may be the odd one. The one that is slower in most
// steps is the one to look at.
bool IsHabit(const Job& job, const Excess& excess) {
  const std::size_t seen = LateSteps(job, excess).size();
  return IsAtLeast(seen, job.rules.late_pair_steps) &&
         static_cast<double>(seen) >=
             job.rules.systematic_share * static_cast<double>(job.CountedSteps());
}

}  // namespace

bool Matters(const Job& job, const Excess& excess) {
  return static_cast<double>(excess.time) >=
             job.rules.late_share * static_cast<double>(job.step_time) &&
         static_cast<double>(excess.time) >=
             job.rules.late_of_peers * static_cast<double>(excess.normal);
}

std::vector<std::size_t> LateSteps(const Job& job, const Excess& excess) {
  const TimeNs least = ShareOf(job.step_time, job.rules.late_share);
  std::vector<std::size_t> steps;
  for (std::size_t step = job.first_step; step < job.steps; ++step) {
    const bool blocked = step < excess.blocked_more.size() && excess.blocked_more[step];
    if (blocked || excess.by_step[step] >= least) steps.push_back(step);
  }
  return steps;
}

bool IsSure(const Job& job, const Excess& excess) {
  return excess.compared->size() > kPairOfRanks || IsHabit(job, excess);
}

}  // namespace mpa
