// SPDX-License-Identifier: Apache-2.0
// The recipes. Plain calls: nothing for the linker to drop, and the order can be seen.
#include "mpa/recipe/recipe.h"

namespace mpa {
namespace recipes {

Recipe AllCommunication();
Recipe CalibrateNpuGpu();
Recipe CannApiSum();
Recipe ClusterTimeCompareSummary();
Recipe ClusterTimeSummary();
Recipe CommunicationBottleneck();
Recipe CommunicationGroupMap();
Recipe CommunicationMatrix();
Recipe CommunicationMatrixSum();
Recipe CommunicationTimeSum();
Recipe CommunicationTimes();
Recipe ComputationalOpMasking();
Recipe ComputeOpSum();
Recipe EpLoadBalance();
Recipe ExportStacks();
Recipe ExportSummary();
Recipe FreeAnalysis();
Recipe FreqAnalysis();
Recipe GraphReplaysOfRanks();
Recipe HcclSum();
Recipe HeadOverhead();
Recipe MemoryTimeline();
Recipe ModuleStatistic();
Recipe Mstx2Commop();
Recipe MstxSum();
Recipe OperatorMfu();
Recipe P2pPairing();
Recipe PpChart();
Recipe RlRoles();
Recipe ServingPhases();
Recipe SlowLink();
Recipe SlowRank();
Recipe TopOperators();

}  // namespace recipes

const std::vector<Recipe>& AllRecipes() {
  static const std::vector<Recipe> all = {recipes::AllCommunication(),
                                          recipes::CommunicationTimes(),
                                          recipes::CommunicationMatrix(),
                                          recipes::ModuleStatistic(),
                                          recipes::OperatorMfu(),
                                          recipes::HeadOverhead(),
                                          recipes::CalibrateNpuGpu(),
                                          recipes::CannApiSum(),
                                          recipes::ClusterTimeSummary(),
                                          recipes::ClusterTimeCompareSummary(),
                                          recipes::CommunicationBottleneck(),
                                          recipes::CommunicationGroupMap(),
                                          recipes::CommunicationMatrixSum(),
                                          recipes::CommunicationTimeSum(),
                                          recipes::ComputationalOpMasking(),
                                          recipes::ComputeOpSum(),
                                          recipes::EpLoadBalance(),
                                          recipes::ExportStacks(),
                                          recipes::ExportSummary(),
                                          recipes::FreeAnalysis(),
                                          recipes::FreqAnalysis(),
                                          recipes::GraphReplaysOfRanks(),
                                          recipes::HcclSum(),
                                          recipes::MemoryTimeline(),
                                          recipes::Mstx2Commop(),
                                          recipes::MstxSum(),
                                          recipes::P2pPairing(),
                                          recipes::PpChart(),
                                          recipes::RlRoles(),
                                          recipes::ServingPhases(),
                                          recipes::SlowLink(),
                                          recipes::SlowRank(),
                                          recipes::TopOperators()};
  return all;
}

}  // namespace mpa
