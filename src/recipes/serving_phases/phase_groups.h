// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/measure/serving_steps.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/report.h"

/// Steps of servers by what they do.
namespace mpa::serving_phases {

struct RankServing {
  std::vector<ServingAccount> steps;
};
using Ranks = std::vector<OfRank<RankServing>>;

/// The steps of all ranks of one phase and size, without warm-up.
struct PhaseGroup {
  ServingBatch batch;        ///< that of its first step
  std::int64_t warm_up = 0;  ///< steps that are left out
  std::int64_t ranks = 0;
  std::vector<const ServingAccount*> steps;
  TimeNs sum = 0;
  ServingTimes times = {};  ///< of all steps; they add up to `sum`

  std::string_view Phase() const { return NameOf(batch.phase); }
  std::string Size() const { return SizeText(batch); }
  std::int64_t Count() const { return static_cast<std::int64_t>(steps.size()); }
};

/// In order of phase and size.
std::vector<PhaseGroup> GroupSteps(const Ranks& ranks);

/// Percentile `percent` of how long the steps took, in ns.
TimeNs LengthAt(const PhaseGroup& group, int percent);
/// The median of what a token takes, in ns; -1: unknown.
TimeNs TimePerToken(const PhaseGroup& group);
/// Tokens that one engine reads and generates in a second of such steps; -1: unknown.
double TokensPerSecond(const PhaseGroup& group);

/// The sheets ServingPhases and ServingSteps.
void AddSheets(const Ranks& ranks, const std::vector<PhaseGroup>& groups, Report& report);
void AddLines(const Ranks& ranks, const std::vector<PhaseGroup>& groups, Report& report);

}  // namespace mpa::serving_phases
