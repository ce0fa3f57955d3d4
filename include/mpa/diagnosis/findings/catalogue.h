// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/diagnosis/findings/finding_type.h"

/// Every finding, in the order in which findings are listed. Each is declared in the file that
/// looks for it.
#define MPA_FINDINGS(X)  \
  X(kRankLateCompute)    \
  X(kRankLateHost)       \
  X(kRankLateInput)      \
  X(kRankLate)           \
  X(kRankJitter)         \
  X(kStepLong)           \
  X(kDataImbalance)      \
  X(kLinkSlow)           \
  X(kPpStageImbalance)   \
  X(kEpImbalance)        \
  X(kServeBalance)       \
  X(kServePrefill)       \
  X(kHostDataloader)     \
  X(kHostH2d)            \
  X(kHostSync)           \
  X(kHostCompile)        \
  X(kHostAclop)          \
  X(kHostGc)             \
  X(kHostMemory)         \
  X(kHostCheckpoint)     \
  X(kHostSystemCall)     \
  X(kHostLock)           \
  X(kHostGil)            \
  X(kHostGraphMissed)    \
  X(kServeHost)          \
  X(kHostPreempted)      \
  X(kHostFewCores)       \
  X(kHostWokenLate)      \
  X(kHostInterrupts)     \
  X(kHostNumaMoves)      \
  X(kHostCacheMisses)    \
  X(kHostLaunchBlocking) \
  X(kHostCpuContention)  \
  X(kHostPython)         \
  X(kHostUnrecorded)     \
  X(kHostLaunchBound)    \
  X(kOpAicpu)            \
  X(kOpFormat)           \
  X(kOpAttention)        \
  X(kOpSlow)             \
  X(kOpReformulate)      \
  X(kOpVariance)         \
  X(kOpFp32)             \
  X(kOpOptimizer)        \
  X(kOpZeroGrad)         \
  X(kOpUnfused)          \
  X(kGraphBubbles)       \
  X(kGraphPadding)       \
  X(kDevClock)           \
  X(kCommNotOverlapped)  \
  X(kCommSmall)          \
  X(kCommExposed)        \
  X(kServeCommunication) \
  X(kCommBroadcast)      \
  X(kCommUnaligned)      \
  X(kCommContention)     \
  X(kCommRetransmit)     \
  X(kCommLostPackets)    \
  X(kCommFullLink)       \
  X(kCommInner)          \
  X(kCommBuffer)         \
  X(kPpBubble)           \
  X(kServeStall)         \
  X(kEnvCheck)           \
  X(kMemPressure)        \
  X(kMemGrowth)          \
  X(kMemFragments)       \
  X(kMemOutside)         \
  X(kCaptureOverhead)    \
  X(kCaptureWarmup)      \
  X(kCaptureMissing)

namespace mpa {

#define MPA_FINDING(name) extern const FindingType name;
MPA_FINDINGS(MPA_FINDING)
#undef MPA_FINDING

/// Single calls of the host that stand still, where all of them should be quick.
extern const FindingVariant kHostStalls;
/// Collectives that copy before they send, where others of the same size do not.
extern const FindingVariant kCommCopiesFirst;
/// Products that are slow because the vector cores compute them.
extern const FindingVariant kOpSlowOnVectorCores;
/// Ports to other hosts that are slow on all ranks: which of them is the slow one does not show.
extern const FindingVariant kLinkSlowBetweenHosts;
/// Links whose limit is not known, at the most that they ever moved.
extern const FindingVariant kCommFullLinkFlat;
/// Small operations that cannot become fewer.
extern const FindingVariant kCommSmallOnTheWay;

}  // namespace mpa
