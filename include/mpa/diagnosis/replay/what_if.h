// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "mpa/diagnosis/replay/replay.h"

namespace mpa {

/// The job's steps in the graph: what has to be done before a step counts as done.
struct ReplaySteps {
  /// Of every step the last nodes of each rank; a step ends when all of them have ended.
  std::vector<std::vector<ReplayGraph::Node>> last;
  TimeNs begin = 0;  ///< of the first step, on the clock of the job
  /// Of a job without steps the first work of each rank: where a replay moves it, the job begins
  /// earlier by as much. Else empty.
  std::vector<ReplayGraph::Node> opening = {};
  TimeNs opened = std::numeric_limits<TimeNs>::max();  ///< when the first of them was recorded
  std::size_t first = 0;                               ///< steps before it do not count (warm-up)
};

/// The mean length of a counted step as it was recorded, which is what replaying the untouched
/// graph gives.
TimeNs RecordedStepTime(const ReplayGraph& graph, const ReplaySteps& steps);

/// Something that could be fixed, as what the step would no longer have to do.
struct WhatIf {
  Removal expect;            ///< what a fix is likely to take out
  Removal bound;             ///< all of it; empty: the same as `expect`
  bool opportunity = false;  ///< slow as it was written, not a deviation; faults go first
};

/// What fixing one candidate saves, per step and in ns.
struct Gain {
  std::size_t candidate = 0;  ///< position in the list of candidates
  TimeNs gain = 0;            ///< once all candidates before it in the list of gains are fixed
  TimeNs most = 0;            ///< as `gain`, with `bound` instead of `expect`
  bool pays_only_with_next = false;  ///< pays only together with the next gain of the list
};

struct Waterfall {
  TimeNs step = 0;              ///< mean length of a step, as recorded
  TimeNs step_after_fixes = 0;  ///< `step` without the sum of the gains
  std::vector<Gain> gains;      ///< in the order in which they are won
  std::vector<TimeNs> alone;    ///< of every candidate, what it saves if nothing else is fixed
};

/// Replays of a job, some at once. They need room for the whole graph several times, which is used
/// again and again.
class StepReplays {
 public:
  using Removals = std::vector<const Removal*>;

  /// Refers to both, which must outlive it.
  StepReplays(const ReplayGraph& graph, const ReplaySteps& steps);

  /// A replay for each of `sets`, with its removals and those of `common`. Calls `visit` with the
  /// number of the set, the replays it is one of, and its number among them; on several threads.
  void ForEach(std::span<const Removal* const> common, std::span<const Removals> sets,
               const std::function<void(std::size_t, const Replays&, std::size_t)>& visit);
  /// The mean length of a counted step in each of them.
  std::vector<TimeNs> Times(std::span<const Removal* const> common, std::span<const Removals> sets);
  TimeNs Time(const Removals& removals) { return Times({}, {&removals, 1}).front(); }

  /// The mean length of a counted step as it was recorded.
  TimeNs Recorded() const { return RecordedStepTime(graph_, steps_); }

 private:
  const ReplayGraph& graph_;
  const ReplaySteps& steps_;
  std::vector<Replays> workers_;  // as many as were needed at once
};

/// The mean length of a counted step with the removals made.
TimeNs StepTime(const ReplayGraph& graph, const ReplaySteps& steps,
                std::span<const Removal* const> removals);

/// Takes the candidate that saves most, then the one that saves most of what is left, and so on, so
/// that nothing is saved twice. Faults are fixed before opportunities. Two candidates that hide
/// each other are tried together.
class WaterfallSearch {
 public:
  /// Refers to the replays and the candidates, which must outlive it. In ns per step, gains below
  /// `least` are not worth a place, nor those of two candidates together below `least_of_two`.
  WaterfallSearch(StepReplays& replays, std::vector<const WhatIf*> candidates, TimeNs least,
                  TimeNs least_of_two);

  /// May run again when faults have become opportunities: no set of candidates is replayed twice.
  Waterfall Run();

 private:
  using Candidates =
      std::vector<std::size_t>;  // by position; that of a bound is behind all candidates

  const Removal& RemovalOf(std::size_t candidate) const;
  std::vector<TimeNs> TimesWith(const std::vector<Candidates>& sets);
  std::vector<TimeNs> GainsOf(const std::vector<Candidates>& sets);
  Candidates OpenCandidates(bool opportunities) const;
  bool TakeBest(bool opportunities);
  bool TakePair(bool opportunities);
  void Take(std::size_t candidate, bool pays_only_with_next);

  StepReplays& replays_;
  const std::vector<const WhatIf*> candidates_;
  const TimeNs least_, least_of_two_;
  std::vector<TimeNs> taken_;           // by candidate
  std::map<Candidates, TimeNs> times_;  // of a step without all these, ascending
  Candidates made_;                     // of the run, in the order in which they were taken
  TimeNs now_ = 0;
  Waterfall result_;
};

}  // namespace mpa
