// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/replay.h"

namespace mpa {

/// Of two ranks either may be the odd one.
inline constexpr std::size_t kPairOfRanks = 2;

/// How much work of a kind a rank has more than is normal for its role, and what to take out.
struct Excess {
  std::size_t rank = 0;
  const std::vector<std::size_t>* compared =
      nullptr;        ///< ranks that say what is normal, with the rank itself
  TimeNs time = 0;    ///< per step
  TimeNs normal = 0;  ///< per step
  TimeNs foreign = 0;
  TimeNs tokens = 0;  ///< of `foreign`, of the products of experts
  std::vector<TimeNs> by_step, normal_by_step;
  std::vector<bool> blocked_more;  ///< by step: it waits for its device oftener
  Removal removal;
};

/// Less is noise, as a share of the step, and of what the peers take.
bool Matters(const Job& job, const Excess& excess);
/// The positions of the steps in which the rank is late.
std::vector<std::size_t> LateSteps(const Job& job, const Excess& excess);
/// True if the rank is the odd one: among several, or slower than the other one in most steps.
bool IsSure(const Job& job, const Excess& excess);

}  // namespace mpa
