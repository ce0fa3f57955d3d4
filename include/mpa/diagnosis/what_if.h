// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpa/diagnosis/replay.h"

namespace mpa {

/// The job's steps in the graph: what has to be done before a step counts as done.
struct ReplaySteps {
  /// Of every step the last nodes of each rank; a step ends when all of them have ended.
  std::vector<std::vector<ReplayGraph::Node>> last;
  TimeNs begin = 0;        ///< of the first step, on the clock of the job
  std::size_t first = 0;   ///< steps before it do not count (warm-up)
};

/// Something that could be fixed, as what the step would no longer have to do.
struct WhatIf {
  Removal expect;        ///< what a fix is likely to take out
  Removal bound;         ///< all of it; empty: the same as `expect`
  bool opportunity = false;  ///< slow as it was written, not a deviation; faults go first
};

/// What fixing one cause saves, per step and in ns.
struct Gain {
  std::size_t cause = 0;  ///< position in the list of causes
  TimeNs gain = 0;        ///< once all causes before it in the list of gains are fixed
  TimeNs alone = 0;       ///< if nothing else is fixed
  TimeNs most = 0;        ///< as `gain`, with `bound` instead of `expect`
  bool with_next = false; ///< pays only together with the next gain of the list
};

struct Waterfall {
  TimeNs step = 0;   ///< mean length of a step, as recorded
  TimeNs floor = 0;  ///< what is left of it once all is fixed; step = floor + sum of the gains
  std::vector<Gain> gains;   ///< in the order in which they are won
  std::vector<TimeNs> alone;  ///< of every cause, what it saves if nothing else is fixed
};

/// The mean length of a counted step with the removals made.
TimeNs StepTime(const ReplayGraph& graph, const ReplaySteps& steps,
                std::span<const Removal* const> removals);

/// Takes the cause that saves most, then the one that saves most of what is left, and so on, so that
/// nothing is saved twice. Faults are fixed before opportunities. Two causes that hide each other are
/// tried together. In ns per step, gains below `least` are not worth a place, nor those of two causes
/// together below `least_of_two`.
Waterfall MakeWaterfall(const ReplayGraph& graph, const ReplaySteps& steps,
                        const std::vector<WhatIf>& causes, TimeNs least, TimeNs least_of_two);

}  // namespace mpa
