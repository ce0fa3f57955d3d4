// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/replay/what_if.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// The place among so many findings of this number on the screen, where "1" is the first.
std::optional<std::size_t> PlaceOf(std::string_view number, std::size_t findings);

/// Puts the ranks together and says what costs the step. Those whose parts are no outlines are
/// replayed. The finding with the key or the number
/// `explain` gets its chain of evidence. `for_page`: it gets pictures, too.
/// `absent`: ranks of the job that are not among these.
Diagnosis Diagnose(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds = {},
                   std::string_view explain = "", bool for_page = false,
                   const AbsentRanks& absent = {});

/// Positions of the ranks whose parts Diagnose() is to have whole, so that it takes about `bytes`
/// of memory (0: whatever it takes), by the outlines of all. The others it needs in outline.
std::vector<std::size_t> ReplayedOf(const std::vector<DiagnosedRank>& outlines,
                                    const Thresholds& thresholds, std::int64_t bytes);

/// The ranks of the parts of the recipe. Throws Error (kCorrupt) for a damaged part.
std::vector<DiagnosedRank> DiagnosedRanksOf(const std::vector<RankPart>& parts);

/// The finding that is asked about. Throws Error (kUsage) that lists those there are.
const Finding& FindingAsked(const Diagnosis& diagnosis, const std::string& key);

/// Where a FindingType::conclude looks and adds, in the order of the catalogue.
struct Conclusions {
  const Job& job;
  StepReplays& replays;
  Diagnosis& diagnosis;

  /// Adds a finding that wins time once all before it are fixed: takes its gain off the floor.
  void AddGain(Finding found);
};

/// Positions of the findings in the order in which they are told: by what they save, faults and
/// opportunities together; then what saves nothing, as it is. One that saves little without others
/// says so itself: `Finding::alone`.
std::vector<std::size_t> OrderOfFindings(const std::vector<Finding>& findings);

/// What fixing the findings takes out of the graph, in their order. Those that a replay has judged
/// are the first.
StepReplays::Removals FixesOf(const Diagnosis& diagnosis);

/// Gives every finding that saves less alone the keys of those it hides behind: findings ahead of
/// it without which it saves more.
void FindHiding(StepReplays& replays, Diagnosis& diagnosis);

/// Adds a candidate that is not a finding because other findings already save its time, with their
/// keys: once one of them is fixed, the candidate saves clearly less than alone. `step_with`: the
/// length of a step with the fixes of the candidate and of a finding.
void AddHidden(const std::function<TimeNs(const Removal&)>& step_with, Finding candidate,
               Diagnosis& diagnosis);

/// Adds a candidate that all captured ranks share and that saves nothing, because ranks that were
/// not captured come later, with what it saves if those do the same. `others`: what a job of
/// captured ranks would not wait for, with all findings fixed.
void AddHiddenBehindOthers(StepReplays& replays, const StepReplays::Removals& others,
                           Finding candidate, Diagnosis& diagnosis);

/// Says which known fusions the job has not made, and what those too short for a finding save.
void TellFusions(const Job& job, const OpenFusions& fusions, StepReplays& replays,
                 EvidenceFinder& evidence, Diagnosis& diagnosis);

/// Calls that wait so long for the device that they look guilty, and the finding that makes them
/// wait. No finding is about them, and the step gets no shorter without these waits.
void FindInnocentCalls(const Job& job, StepReplays& replays, Diagnosis& diagnosis);

/// What the captures do not hold, and which causes could not be judged without it. All findings
/// but that one are there.
void FindNotJudged(const Job& job, Diagnosis& diagnosis);
/// The causes that were looked at and cost nothing in this job: neither findings, nor hidden behind
/// them, nor among what was not judged, which are all there.
void FindPassedChecks(const Job& job, Diagnosis& diagnosis);

/// Says of all findings how their ranks ran, and which of the advised settings they have already.
void FitAdvice(const Job& job, Diagnosis& diagnosis);

/// Gives innocent calls the line of the program that has nearly all of their time, if one has.
void AddLinesOfInnocentCalls(const Job& job, Diagnosis& diagnosis);

}  // namespace mpa
