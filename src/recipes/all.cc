// SPDX-License-Identifier: Apache-2.0
// The recipes. Plain calls: nothing for the linker to drop, and the order can be seen.
#include "mpa/recipe/recipe.h"

/// Every recipe, in the order of --help: X(F) for the function F() of its folder.
#define MPA_RECIPES(X)         \
  X(AllCommunication)          \
  X(CommunicationTimes)        \
  X(CommunicationMatrix)       \
  X(ModuleStatistic)           \
  X(OperatorMfu)               \
  X(HeadOverhead)              \
  X(CalibrateNpuGpu)           \
  X(CannApiSum)                \
  X(ClusterTimeSummary)        \
  X(ClusterTimeCompareSummary) \
  X(CommunicationBottleneck)   \
  X(CommunicationGroupMap)     \
  X(CommunicationMatrixSum)    \
  X(CommunicationTimeSum)      \
  X(ComputationalOpMasking)    \
  X(ComputeOpSum)              \
  X(EpLoadBalance)             \
  X(ExportStacks)              \
  X(ExportSummary)             \
  X(FreeAnalysis)              \
  X(FreqAnalysis)              \
  X(GraphReplaysOfRanks)       \
  X(HcclSum)                   \
  X(MemoryTimeline)            \
  X(Mstx2Commop)               \
  X(MstxSum)                   \
  X(P2pPairing)                \
  X(PpChart)                   \
  X(RlRoles)                   \
  X(ServingPhases)             \
  X(SlowLink)                  \
  X(SlowRank)                  \
  X(TopOperators)

namespace mpa {
namespace recipes {

#define MPA_DECLARED(name) Recipe name();
MPA_RECIPES(MPA_DECLARED)
#undef MPA_DECLARED

}  // namespace recipes

const std::vector<Recipe>& AllRecipes() {
#define MPA_MADE(name) recipes::name(),
  static const std::vector<Recipe> all = {MPA_RECIPES(MPA_MADE)};
#undef MPA_MADE
  return all;
}

}  // namespace mpa
