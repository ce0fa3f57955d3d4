// SPDX-License-Identifier: Apache-2.0
// What each sheet of a recipe is for.
#include <algorithm>
#include <array>
#include <string_view>

#include "mpa/base/language.h"
#include "report_summary.h"

namespace mpa::writers {
namespace {

struct SheetPurpose {
  std::string_view sheet, meaning;
};

constexpr auto kPurposes = std::to_array<SheetPurpose>({
    {.sheet = "CannApiSum", .meaning = "CANN calls of the host by name, over all ranks"},
    {.sheet = "CannApiSumRank", .meaning = "CANN calls of the host by name, on each rank"},
    {.sheet = "ClusterCommunicationBandwidth",
     .meaning = "Size and bandwidth of transfers by link and operator"},
    {.sheet = "ClusterCommunicationTime",
     .meaning = "Transfer, wait and idle time of each communication operator"},
    {.sheet = "ClusterStepTraceTime",
     .meaning = "Computing, communication and free time of each step"},
    {.sheet = "ClusterTimeCompareSummary",
     .meaning = "The parts of each step beside those of the other run"},
    {.sheet = "ClusterTimeSummary", .meaning = "Where the time of each step went, on every rank"},
    {.sheet = "COMMUNICATION_OP",
     .meaning = "Communication operators rebuilt from marks, as databases have them"},
    {.sheet = "CommunicationBottleneck",
     .meaning = "The longest communication operators, and which rank came last"},
    {.sheet = "CommunicationBottleneckLast", .meaning = "How often each rank came last"},
    {.sheet = "CommunicationBottleneckLateRanks", .meaning = "Ranks that came late, and how late"},
    {.sheet = "CommunicationGroupMapping", .meaning = "Process groups and their ranks"},
    {.sheet = "CompareProfileReport", .meaning = "Modules of the NPU beside those of the GPU"},
    {.sheet = "ComputationalOperatorMaskingLinearity",
     .meaning = "How much communication of each group computing hides"},
    {.sheet = "ComputeOpAllRankStats", .meaning = "Kernels by type, over all ranks"},
    {.sheet = "ComputeOpPerRankStatsByOpName", .meaning = "Kernels by name, on each rank"},
    {.sheet = "ComputeOpPerRankStatsByOpType", .meaning = "Kernels by type, on each rank"},
    {.sheet = "EPTokensSummary", .meaning = "Tokens of the experts on each rank"},
    {.sheet = "ExportedFiles", .meaning = "The files that were written"},
    {.sheet = "FreeAnalysis", .meaning = "The longest idle times of the device, and why"},
    {.sheet = "GraphLayers", .meaning = "Layers of captured graphs: kernels and bubbles of each"},
    {.sheet = "GraphReplays", .meaning = "Replays of captured graphs: their times and parts"},
    {.sheet = "HcclAllRankStats", .meaning = "Communication operators by type, over all ranks"},
    {.sheet = "HcclGroupNameMap", .meaning = "Names of process groups"},
    {.sheet = "HcclPerRankStats", .meaning = "Communication operators by type, on each rank"},
    {.sheet = "HcclTopOpStats", .meaning = "The longest communication operators"},
    {.sheet = "HEAD_ADVICE", .meaning = "What to do about the head overhead"},
    {.sheet = "HEAD_CALL", .meaning = "Each call of a graph: the parts of its head"},
    {.sheet = "HEAD_CHILD", .meaning = "What the host did within the head"},
    {.sheet = "HEAD_STEP", .meaning = "The head overhead of each step"},
    {.sheet = "HEAD_SUMMARY", .meaning = "Quantiles of the parts of the head"},
    {.sheet = "HostInfo", .meaning = "Names of the hosts"},
    {.sheet = "LateRanks", .meaning = "Ranks that came late to collectives, and how late"},
    {.sheet = "MemoryByStep", .meaning = "Allocated and reserved memory of each step"},
    {.sheet = "MemoryGrowth", .meaning = "Memory that grows from step to step, by operator"},
    {.sheet = "MemoryOverTime", .meaning = "What is allocated for what, over time"},
    {.sheet = "MemoryPeak", .meaning = "What was held at the peak, by operator"},
    {.sheet = "MemoryRanks", .meaning = "The peak of each rank, by category"},
    {.sheet = "MFUSummary", .meaning = "Utilization of the chip by class of kernels"},
    {.sheet = "MFUWaste", .meaning = "Kernels whose low utilization costs most"},
    {.sheet = "ModuleMFU", .meaning = "Utilization of the chip by module"},
    {.sheet = "ModuleStatistic", .meaning = "Kernels of each module, in the order of the model"},
    {.sheet = "MSTX_COMMUNICATION_OP", .meaning = "Communication operators of the marks"},
    {.sheet = "MSTXAllCannStats", .meaning = "Times of marked ranges in the CANN layer"},
    {.sheet = "MSTXAllDeviceStats", .meaning = "Times of marked ranges on the device"},
    {.sheet = "MSTXAllFrameworkStats", .meaning = "Times of marked ranges in the framework"},
    {.sheet = "MSTXMarkStats", .meaning = "Marked ranges: their times on the host and the device"},
    {.sheet = "OperatorMFU", .meaning = "Utilization of the chip by kernel"},
    {.sheet = "RankDeviceMap", .meaning = "Which device and host each rank runs on"},
    {.sheet = "RlBubbles", .meaning = "Times between the roles, in which devices are idle"},
    {.sheet = "RlIterations", .meaning = "Iterations: times and bubbles of each"},
    {.sheet = "RlRoles", .meaning = "Roles: how long each device runs them"},
    {.sheet = "RlRuns", .meaning = "Each run of a role on a device"},
    {.sheet = "ServingPhases", .meaning = "Prefill and decode: the parts of their steps"},
    {.sheet = "ServingSteps", .meaning = "Each step of the server"},
    {.sheet = "SlowEvents", .meaning = "Events that took longer than the threshold"},
    {.sheet = "SlowLinkOps",
     .meaning = "Collectives whose transfer takes longer than that of similar ones"},
    {.sheet = "SlowLinkSum", .meaning = "Slow transfers by link"},
    {.sheet = "SlowOpStats", .meaning = "How often each rank came last, by operator"},
    {.sheet = "SlowRank", .meaning = "How often the others waited for each rank"},
    {.sheet = "StackPaths", .meaning = "Time by call path, over all ranks"},
    {.sheet = "StackPathsOfRanks", .meaning = "Time by call path, on each rank"},
    {.sheet = "StepTaskInfo", .meaning = "Passes of the pipeline on each rank"},
    {.sheet = "TopEPTokensInfo", .meaning = "The kernels with the most tokens"},
    {.sheet = "TopKernels", .meaning = "The slowest kernels, over all ranks"},
    {.sheet = "TopKernelsOfRanks", .meaning = "The slowest kernels, on each rank"},
    {.sheet = "TopOperators", .meaning = "The slowest operators, over all ranks"},
    {.sheet = "TopOperatorsOfRanks", .meaning = "The slowest operators, on each rank"},
});

std::string_view PurposeNamed(std::string_view sheet) {
  const auto found = std::ranges::find(kPurposes, sheet, &SheetPurpose::sheet);
  return found == kPurposes.end() ? std::string_view() : Translated(found->meaning);
}

}  // namespace

std::string_view PurposeOf(std::string_view sheet) {
  sheet = sheet.substr(0, sheet.find(' '));  // a group of captures may follow
  constexpr std::string_view kOfRank = "CompareProfileReport";
  return PurposeNamed(sheet.starts_with(kOfRank) ? kOfRank : sheet);
}

}  // namespace mpa::writers
