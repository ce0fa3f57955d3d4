// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "levels.h"
#include "mpa/gate/run_summary.h"
#include "mpa/report/change_tree.h"

/// Steps of servers: what a token takes in steps of one phase. Steps are compared with those of the
/// same size alone.
namespace mpa::gate {

/// Adds the times by token of each phase and size to the samples, and what they are made of to the
/// breakdown. Steps of warm-up are left out, and those before `first`.
void AddPhases(const RankTrace& trace, std::size_t first, RankSummary& summary);

/// The samples of all sizes that both sides have, each as a part of what is usual for its size on
/// the base, and with what is usual for all of these as the whole.
struct PairedSizes {
  Runs base, comparison;
  /// "size 16 only in the base"; empty where both sides have the same sizes.
  std::string alone;
};
PairedSizes PairSizes(const std::vector<RunSummary>& base,
                      const std::vector<RunSummary>& comparison, MetricKind kind);

/// What the time by token is made of, of the sizes that both have and of `metric.pattern` alone if
/// there is one: on both sides each size counts as often as the base has it.
ChangeNode ChangeOfPhase(const Metric& metric, const Breakdown& base, const Breakdown& comparison);

}  // namespace mpa::gate
