// SPDX-License-Identifier: Apache-2.0
// Who looks for which causes. Each adds what it finds.
#pragma once

#include <vector>

#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/causes/cause.h"
#include "mpa/diagnosis/job/issuing.h"

namespace mpa {

/// Ranks whose device, host or input is slower than that of their peers.
void FindRankCauses(const Job& job, std::vector<Cause>& causes);
/// Late ranks that were not captured.
void FindUncapturedCauses(const Job& job, std::vector<Cause>& causes);
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
/// What data-parallel training exchanges and clears in every step.
void FindDataParallelCauses(const Job& job, IssuingOfRanks& issuing, std::vector<Cause>& causes);
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
/// The stages of a pipeline.
void FindPipelineCauses(const Job& job, std::vector<Cause>& causes);

}  // namespace mpa
