// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "mpa/base/fields.h"
#include "mpa/model/rank_trace.h"

/// The list of the tables of a rank. Whatever goes through all of them goes through this list.
namespace mpa {

/// What of a table belongs to a step. "On the host" and "on the device": see SelectStep().
enum class OfStep : std::uint8_t {
  kAll,           ///< the whole run: other tables refer to its rows or look things up in it
  kNothing,       ///< sums of the whole run, which cannot be divided
  kStepId,        ///< rows that name the step
  kHostTime,      ///< rows whose time on the host, their start, is in the step
  kAroundHost,    ///< these, and rows that run when the step begins
  kMeanwhile,     ///< rows that run on the host from the begin of the step to its end on the device
  kHostCall,      ///< these, and calls that launched device work of the step
  kQueued,        ///< work that was put into the queue or done then
  kAllocation,    ///< what was allocated in the step, or by work that was queued in it
  kLaunch,        ///< launches of device work of the step
  kDeviceWork,    ///< work launched in the step; without a known launch, by its start on the device
  kOfKernels,     ///< row i goes with row i of the kernels
  kOfOperation,   ///< pieces go with their operation
  kHeldOnDevice,  ///< values that held while the device worked for the step
  kCutOnDevice,   ///< intervals, cut at the bounds of the step on the device; no free time
};

/// A table: where it is, what is asked for to have it filled, and what of it belongs to a step.
template <auto kMember, Tables kFilledBy, OfStep kOfStep>
struct RankTable {
  const char* name;

  static constexpr auto kTable = kMember;
  static constexpr Tables kFilled = kFilledBy;
  static constexpr OfStep kRule = kOfStep;
};

inline constexpr std::tuple kRankTables{
    // Rows of other tables name threads, streams and planes by their row here.
    RankTable<&RankTrace::tracks, Tables::kNone, OfStep::kAll>{"tracks"},
    RankTable<&RankTrace::host_ops, Tables::kHostOps, OfStep::kHostTime>{"host_ops"},
    // Call stacks and the names of ranges go through what is around the step.
    RankTable<&RankTrace::python_calls, Tables::kPythonCalls, OfStep::kAroundHost>{"python_calls"},
    RankTable<&RankTrace::backward_links, Tables::kBackwardLinks, OfStep::kHostTime>{
        "backward_links"},
    RankTable<&RankTrace::mstx, Tables::kMstx, OfStep::kAroundHost>{"mstx"},
    RankTable<&RankTrace::queued_work, Tables::kQueuedWork, OfStep::kQueued>{"queued_work"},
    RankTable<&RankTrace::host_calls, Tables::kHostCalls, OfStep::kHostCall>{"host_calls"},
    RankTable<&RankTrace::call_stamps, Tables::kHostCalls, OfStep::kHostCall>{"call_stamps"},
    RankTable<&RankTrace::garbage_collections, Tables::kGarbageCollections, OfStep::kMeanwhile>{
        "garbage_collections"},
    RankTable<&RankTrace::launches, Tables::kLaunches, OfStep::kLaunch>{"launches"},
    RankTable<&RankTrace::unanswered_launches, Tables::kLaunches, OfStep::kHostTime>{
        "unanswered_launches"},
    RankTable<&RankTrace::named_launches, Tables::kNamedLaunches, OfStep::kHostTime>{
        "named_launches"},
    // Launches refer to its rows; only those are counted to which work of the step belongs.
    RankTable<&RankTrace::graph_replays, Tables::kLaunches, OfStep::kAll>{"graph_replays"},
    RankTable<&RankTrace::kernels, Tables::kKernels, OfStep::kDeviceWork>{"kernels"},
    RankTable<&RankTrace::kernel_loads, Tables::kKernelLoads, OfStep::kOfKernels>{"kernel_loads"},
    RankTable<&RankTrace::schedule_kernels, Tables::kScheduleKernels, OfStep::kDeviceWork>{
        "schedule_kernels"},
    RankTable<&RankTrace::listed_collectives, Tables::kKernels, OfStep::kDeviceWork>{
        "listed_collectives"},
    RankTable<&RankTrace::listed_kernels, Tables::kListedKernels, OfStep::kDeviceWork>{
        "listed_kernels"},
    // A chip is the same in every step.
    RankTable<&RankTrace::chips, Tables::kChips, OfStep::kAll>{"chips"},
    RankTable<&RankTrace::core_clocks, Tables::kCoreClocks, OfStep::kHeldOnDevice>{"core_clocks"},
    RankTable<&RankTrace::device_tasks, Tables::kDeviceTasks, OfStep::kDeviceWork>{"device_tasks"},
    RankTable<&RankTrace::device_runs, Tables::kDeviceRuns, OfStep::kDeviceWork>{"device_runs"},
    // Tells where a model begins anew, also for work that the step launched and that runs later.
    RankTable<&RankTrace::model_iterations, Tables::kModelIterations, OfStep::kAll>{
        "model_iterations"},
    // Collectives name their group by its row here.
    RankTable<&RankTrace::comm_groups, Tables::kCommunications, OfStep::kAll>{"comm_groups"},
    RankTable<&RankTrace::communications, Tables::kCommunications, OfStep::kDeviceWork>{
        "communications"},
    RankTable<&RankTrace::comm_tasks, Tables::kCommTasks, OfStep::kOfOperation>{"comm_tasks"},
    RankTable<&RankTrace::overlaps, Tables::kOverlaps, OfStep::kCutOnDevice>{"overlaps"},
    RankTable<&RankTrace::memory_samples, Tables::kMemorySamples, OfStep::kHostTime>{
        "memory_samples"},
    RankTable<&RankTrace::allocations, Tables::kAllocations, OfStep::kAllocation>{"allocations"},
    RankTable<&RankTrace::kernel_statistics, Tables::kKernelStatistics, OfStep::kNothing>{
        "kernel_statistics"},
    RankTable<&RankTrace::transfers, Tables::kTransfers, OfStep::kStepId>{"transfers"},
    RankTable<&RankTrace::steps, Tables::kSteps, OfStep::kStepId>{"steps"},
    RankTable<&RankTrace::serving_marks, Tables::kSteps, OfStep::kHostTime>{"serving_marks"},
    RankTable<&RankTrace::step_times, Tables::kStepTimes, OfStep::kStepId>{"step_times"},
    // A snapshot is of one time, and a server has no steps of training.
    RankTable<&RankTrace::memory_snapshots, Tables::kMemorySnapshot, OfStep::kAll>{
        "memory_snapshots"},
    RankTable<&RankTrace::memory_calls, Tables::kMemorySnapshot, OfStep::kAll>{"memory_calls"},
    RankTable<&RankTrace::memory_segments, Tables::kMemorySnapshot, OfStep::kAll>{
        "memory_segments"},
    RankTable<&RankTrace::memory_blocks, Tables::kMemorySnapshot, OfStep::kAll>{"memory_blocks"},
    RankTable<&RankTrace::memory_actions, Tables::kMemorySnapshot, OfStep::kAll>{"memory_actions"},
    RankTable<&RankTrace::thread_states, Tables::kThreadStates, OfStep::kMeanwhile>{
        "thread_states"},
    RankTable<&RankTrace::interrupts, Tables::kThreadStates, OfStep::kMeanwhile>{"interrupts"},
    RankTable<&RankTrace::system_calls, Tables::kSystemCalls, OfStep::kMeanwhile>{"system_calls"},
    RankTable<&RankTrace::lock_uses, Tables::kSystemCalls, OfStep::kMeanwhile>{"lock_uses"},
    RankTable<&RankTrace::function_counts, Tables::kFunctionCounts, OfStep::kMeanwhile>{
        "function_counts"},
    // Samples name their counter by its row here.
    RankTable<&RankTrace::counters, Tables::kCounters, OfStep::kAll>{"counters"},
    RankTable<&RankTrace::counter_samples, Tables::kCounters, OfStep::kHeldOnDevice>{
        "counter_samples"},
    RankTable<&RankTrace::server_requests, Tables::kServer, OfStep::kAll>{"server_requests"},
    RankTable<&RankTrace::server_batches, Tables::kServer, OfStep::kAll>{"server_batches"},
    RankTable<&RankTrace::server_cache, Tables::kServer, OfStep::kAll>{"server_cache"},
    RankTable<&RankTrace::server_load, Tables::kServer, OfStep::kAll>{"server_load"},
    RankTable<&RankTrace::server_transfers, Tables::kServer, OfStep::kAll>{"server_transfers"},
    RankTable<&RankTrace::communication_summary, Tables::kCommSummary, OfStep::kStepId>{
        "communication_summary"},
};

/// Calls visit(info, table) for every table of a rank, in the order of the list.
template <typename Trace, typename Visit>
void VisitRankTables(Trace& trace, Visit visit) {
  std::apply([&](const auto&... info) { (visit(info, trace.*info.kTable), ...); }, kRankTables);
}

/// How many rows a table has.
template <typename Table>
std::size_t RowsIn(const Table& table) {
  if constexpr (requires { table.Size(); }) {
    return table.Size();
  } else {
    return table.size();
  }
}

namespace rank_tables {

template <auto kA, auto kB>
constexpr bool Same() {
  if constexpr (std::is_same_v<decltype(kA), decltype(kB)>) {
    return kA == kB;
  } else {
    return false;
  }
}

template <typename Info, typename... All>
constexpr int Count(const std::tuple<All...>&) {
  return (0 + ... + static_cast<int>(Same<Info::kTable, All::kTable>()));
}

template <typename... All>
constexpr bool AreDistinct(const std::tuple<All...>& all) {
  return ((Count<All>(all) == 1) && ...);
}

}  // namespace rank_tables

static_assert(kFields<RankTables> == std::tuple_size_v<decltype(kRankTables)> &&
                  rank_tables::AreDistinct(kRankTables),
              "kRankTables lists every table of RankTables once: add the new one and say which of"
              " its rows belong to a step");

}  // namespace mpa
