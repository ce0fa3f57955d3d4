// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/replay/what_if.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// The finding with this number on the screen, where "1" is the first; null for other texts.
const FoundCause* NumberedFinding(std::string_view number, const std::vector<FoundCause>& findings);

/// Puts the ranks together and says what costs the step. The finding with the key or the number
/// `explain` gets its chain of evidence. `for_page`: it gets pictures, too.
/// `absent`: ranks of the job that are not among these.
Diagnosis Diagnose(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds = {},
                   std::string_view explain = "", bool for_page = false,
                   const AbsentRanks& absent = {});

/// Positions of the ranks whose parts Diagnose() needs whole, by the outlines of all.
std::vector<std::size_t> ReplayedOf(const std::vector<DiagnosedRank>& outlines,
                                    const Thresholds& thresholds);

/// The ranks of the parts of the recipe. Throws Error (kCorrupt) for a damaged part.
std::vector<DiagnosedRank> DiagnosedRanksOf(const std::vector<RankPart>& parts);

/// Captures of unknown ranks are not known to be of one job: throws Error (kUsage) for two or more.

/// The finding that is asked about. Throws Error (kUsage) that lists those there are.
const FoundCause& FindingAsked(const Diagnosis& diagnosis, const std::string& key);

/// Where a FindingInfo::conclude looks and adds, in the order of the catalogue.
struct Conclusions {
  const Job& job;
  const std::vector<const WhatIf*>& mended;  ///< what the first findings take out, in their order
  StepReplays& replays;
  Diagnosis& diagnosis;

  /// Adds a finding that wins time once all before it are fixed: takes its gain off the floor.
  void AddGain(FoundCause found);
};

/// Positions of the findings in the order in which they are told: by what they save, faults and
/// opportunities together; then what saves nothing, as it is. One that saves little without others
/// says so itself: `FoundCause::alone`.
std::vector<std::size_t> OrderOfFindings(const std::vector<FoundCause>& findings);

/// Gives every finding that saves less alone the keys of those it hides behind: findings ahead of
/// it without which it saves more. `what_ifs` are those of the findings, in their order.
void FindHiding(StepReplays& replays, const std::vector<const WhatIf*>& what_ifs,
                Diagnosis& diagnosis);

/// Adds a cause that is not a finding because other findings already save its time, with their
/// keys: once one of them is fixed, the cause saves clearly less than alone. `step_with`: the
/// length of a step with the cause and the removal of a finding.
void AddHidden(const std::vector<const WhatIf*>& what_ifs,
               const std::function<TimeNs(const Removal&)>& step_with, FoundCause cause,
               Diagnosis& diagnosis);

/// Adds a cause that all captured ranks share and that saves nothing, because ranks that were not
/// captured come later, with what it saves if those do the same. `others`: what a job of captured
/// ranks would not wait for, with all findings fixed.
void AddHiddenBehindOthers(StepReplays& replays, const StepReplays::Removals& others,
                           const WhatIf& what_if, FoundCause cause, Diagnosis& diagnosis);

/// Says which known fusions the job has not made, and what those too short for a finding save.
/// `what_ifs`: those of the first findings, in their order.
void TellFusions(const Job& job, const OpenFusions& fusions,
                 const std::vector<const WhatIf*>& what_ifs, StepReplays& replays,
                 EvidenceFinder& evidence, Diagnosis& diagnosis);

/// Calls that wait so long for the device that they look guilty, and the finding that makes them
/// wait. No finding is about them, and the step gets no shorter without these waits. `what_ifs`:
/// those of the first findings.
void FindNotCauses(const Job& job, const std::vector<const WhatIf*>& what_ifs, StepReplays& replays,
                   Diagnosis& diagnosis);

/// What the captures do not hold, and which causes could not be judged without it. All findings
/// but that one are there.
void FindNotJudged(const Job& job, Diagnosis& diagnosis);
/// The causes that were looked at and cost nothing in this job: neither findings, nor hidden behind
/// them, nor among what was not judged, which are all there.
void FindFine(const Job& job, Diagnosis& diagnosis);

/// Says of all findings how their ranks ran, and which of the advised settings they have already.
void FitAdvice(const Job& job, Diagnosis& diagnosis);

/// Gives what is not a cause the line of the program that has nearly all of its time, if one has.
void AddLinesOfNotCauses(const Job& job, Diagnosis& diagnosis);

/// Gives a finding its chain of evidence. `cause`: of the finding. `what_ifs`: those of the first
/// findings, in their order.
void AddChain(const Job& job, const Cause& cause, const std::vector<const WhatIf*>& what_ifs,
              std::size_t finding, Diagnosis& diagnosis);

}  // namespace mpa
