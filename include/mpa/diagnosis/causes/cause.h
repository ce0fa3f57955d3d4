// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mpa/diagnosis/causes/late_rank.h"
#include "mpa/diagnosis/causes/link_speeds.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/issuing.h"
#include "mpa/diagnosis/job/job.h"
#include "mpa/diagnosis/replay/what_if.h"

namespace mpa {

/// A finding that may be one, with what a fix would take out of the graph.
struct Cause {
  FoundCause finding;
  WhatIf what_if;
  std::optional<LateWork> late{};   ///< of a rank that is late
  std::vector<StepStall> stalls{};  ///< of ranks that are late in turn
};

/// True if so many ranks that do the same show which of them is slow: more than two in a single
/// step, two only over several steps.
bool CanCompare(const Job& job, std::size_t ranks);
/// Ranks whose device, host or input is slower than that of their peers.
void FindRankCauses(const Job& job, std::vector<Cause>& causes);
/// Late ranks that were not captured.
void FindOutsiderCauses(const Job& job, std::vector<Cause>& causes);
/// What the hosts of all ranks do.
void FindHostCauses(const Job& job, std::vector<Cause>& causes);
/// Hosts that launch more slowly than their devices compute, and calls that stand still.
void FindLaunchCauses(const Job& job, std::vector<Cause>& causes);
/// What the devices of all ranks compute.
void FindDeviceCauses(const Job& job, IssuingOfRanks& issuing, std::vector<Cause>& causes);
/// Links that are slower than others of their kind.
void FindSlowLinks(const Job& job, const LinkSpeeds& speeds, std::vector<Cause>& causes);
/// How collectives are made.
void FindCommunicationCauses(const Job& job, const LinkSpeeds& speeds, IssuingOfRanks& issuing,
                             std::vector<Cause>& causes);
/// A network between hosts that is slow everywhere.
void FindSlowPorts(const Job& job, std::vector<Cause>& causes);
/// Groups that transfer slower than others of their kind, where links are not recorded.
void FindSlowGroups(const Job& job, std::vector<Cause>& causes);
/// Transfers that are slow for a reason of their own.
void FindTransferCauses(const Job& job, std::vector<Cause>& causes);
/// Kernels that are slow for what they do.
void FindOperatorCauses(const Job& job, std::vector<Cause>& causes);
/// What one kernel could do at once.
void FindFusionCauses(const Job& job, IssuingOfRanks& issuing, std::vector<Cause>& causes);
/// Launches that wait or are held up, and Python.
void FindHostHabits(const Job& job, std::vector<Cause>& causes);
/// Settings of the job and of its captures; they win nothing by themselves. Says of all findings,
/// too, which of the advised settings their ranks have already.
void AddCaptureFindings(const Job& job, Diagnosis& diagnosis);
/// The stages of a pipeline.
void FindPipelineCauses(const Job& job, std::vector<Cause>& causes);

/// A cause of the catalogue with its key: the id and what tells it from others.
Cause NewCause(const Job& job, std::string_view id, std::string_view place = "");
/// Takes time out of an operation of all its members, behind the last arrival.
void ShortenOperation(const Job& job, std::size_t operation, TimeNs time, Removal& removal);
/// Takes out a share of what the host of a rank does to issue a piece of device work, a node of its
/// graph.
void DropIssuing(const Job& job, std::size_t rank, std::span<const Removal::Edge> issuing,
                 double share, Removal& removal);
/// Takes out a call of a rank that waits for its device: the wait, and what the call takes without
/// it.
void DropWait(const Job& job, std::size_t rank, const BlockedPart& call, Removal& removal);
/// Takes out a kernel or a copy of a rank, a node of its graph: how long it runs, and what it takes
/// to start.
void DropDeviceWork(const Job& job, std::size_t rank, std::uint32_t node, Removal& removal);
/// True for operations in which every member moves the same amount of data.
bool IsReduction(const JobOperation& operation);
/// From the last arrival to the end.
TimeNs PostOf(const Job& job, std::size_t operation);
/// The share of a rank's launches that are followed by a wait for the device, and whether these
/// make a finding of their own.
double WaitsOfLaunches(const Job& job, std::size_t rank);
bool BlocksLaunches(const Job& job, std::size_t rank);
/// What a finding saves at least.
TimeNs LeastGain(const Rules& rules, TimeNs step);
/// Per counted step.
TimeNs PerStep(const Job& job, TimeNs time);

}  // namespace mpa
