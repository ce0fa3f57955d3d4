// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/causes/open_fusions.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/issuing.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// How the work of a late rank becomes the lateness for which others wait. The excess is that of
/// the finding: what the rank does beyond the lower quartile of its peers, in the steps of the
/// finding.
LateRank ExplainLateRank(const Job& job, const LateWork& work, const Finding& finding);

/// When a rank of rank.late, which was not captured, came to the operations that waited for it.
void ExplainUncaptured(const Job& job, const Finding& finding, FindingChain& chain);

/// Gives a finding that a replay has judged its chain of evidence. `fixes`: what fixing the
/// findings takes out of the graph; those before `number` are made, and that is its own.
void AddChain(const Job& job, const StepReplays::Removals& fixes, std::size_t number,
              Finding& found);

/// True if so many ranks that do the same show which of them is slow: more than two in a single
/// step, two only over several steps, or where collectives tell which of them came last.
bool CanCompare(const Job& job, std::size_t ranks);

/// What the finders of an area share.
struct FindingSearch {
  const Job& job;
  IssuingOfRanks& issuing;
  std::vector<Finding> candidates = {};  ///< those that were found so far
  std::optional<LinkSpeeds> speeds = {};
  /// Of kernels: by rank and node those that op.attention is about; empty: none.
  std::vector<std::vector<bool>> in_attention = {};
  std::optional<OpenFusions> fusions = {};

  const LinkSpeeds& Speeds() {
    if (!speeds) speeds.emplace(job);
    return *speeds;
  }
  /// The known fusions; op.attention has been looked for.
  const OpenFusions& Fusions();
};

/// True for findings about what the scheduler does to threads. Of their candidates, which of the
/// waits they are about.
bool IsOfScheduler(const FindingType& type);
bool IsAbout(const FindingType& type, const ThreadWait& wait);
/// Takes the time of these candidates, and of those about misses of caches, off the others: what
/// kept a thread from running, or slowed it, is known, and must not count as work of the host.
void LeaveToCores(std::vector<Finding>& candidates);

/// A candidate with its key: the id and what tells it from others.
Finding NewFinding(const Job& job, const FindingType& type, std::string_view place = "");
/// Takes time out of an operation of all its members, behind the last arrival.
void ShortenOperation(const Job& job, std::size_t operation, TimeNs time, Removal& removal);
/// Takes out a share of what the host of a rank does to issue a piece of device work, a node of its
/// graph.
void DropIssuing(const Job& job, RankIndex rank, std::span<const Removal::Edge> issuing,
                 double share, Removal& removal);
/// Takes out a call of a rank that waits for its device: the wait, and what the call takes without
/// it.
void DropWait(const Job& job, RankIndex rank, const BlockedPart& call, Removal& removal);
/// Adds how long a call waited for the device, to what it did.
void AddWait(const RankDiagnosis& part, const BlockedPart& call, AdviceFacts& facts);
/// Takes out a kernel or a copy of a rank, a node of its graph: how long it runs, and what it takes
/// to start.
void DropDeviceWork(const Job& job, RankIndex rank, std::uint32_t node, Removal& removal);
/// True for operations in which every member moves the same amount of data.
bool IsReduction(const JobOperation& operation);
/// From the last arrival to the end.
TimeNs PostOf(const Job& job, std::size_t operation);
/// The share of a rank's launches that are followed by a wait for the device, and whether these
/// make a finding of their own.
double WaitsOfLaunches(const Job& job, RankIndex rank);
bool BlocksLaunches(const Job& job, RankIndex rank);
/// What a finding saves at least.
TimeNs LeastGain(const Thresholds& thresholds, TimeNs step);
/// Per counted step.
TimeNs PerStep(const Job& job, TimeNs time);

/// The categories of the accounting that a finding is about; empty for one about collectives.
std::vector<TimeCategory> CategoriesOf(const Finding& finding);
/// Those of the work that its fix shortens; of a late rank, what it has too much of.
std::vector<TimeCategory> CategoriesOfFix(const Finding& finding);

class GraphIndex;

/// Turns what findings take out of the graph into places of the captures.
class EvidenceFinder {
 public:
  /// Refers to the job, which must outlive it.
  explicit EvidenceFinder(const Job& job);
  ~EvidenceFinder();

  /// Gives the finding its places, the one that takes most time first. `about`: of the host's work
  /// on the edges that the fix shortens, these classes; of all if it is empty.
  void Find(const WhatIf& what_if, const std::vector<TimeCategory>& about, Finding& finding);

 private:
  const Job& job_;
  std::unique_ptr<GraphIndex> index_;
};

}  // namespace mpa
