// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mpa/base/amounts.h"
#include "mpa/model/communication_summary.h"
#include "mpa/model/step_tables.h"
#include "mpa/raw/session.h"

/// What the profiler's parser sums up of a session in tables beside the timeline.
namespace mpa::raw {

/// What `Of<T>` is in sums: times as doubles, in ns.
template <typename T>
using InSum = std::conditional_t<std::is_same_v<T, TimeNs>, double, T>;

/// One row of step_trace_time.csv. The profiler sums epoch microseconds as doubles, here they are
/// exact.
struct StepTime : StepTimeFields<InSum> {
  std::int64_t device = 0;
};

/// kText sums the intervals of Session.overlaps, as step_trace_time.csv does; kDatabase those of
/// the operations, as the table StepTraceTime of analysis.db does. They differ in free and stage.
enum class StepTimeForm { kText, kDatabase };

/// In order of the steps.
std::vector<StepTime> StepTimes(const Session& session, StepTimeForm form);

/// The durations of operator_details.csv in ns; element i belongs to row i of Session.ops. "Self"
/// excludes the time of the operators inside.
struct OperatorTimes {
  std::vector<TimeNs> host_self, host_total;
  std::vector<double> device_self, device_total;
  /// Only of kernels whose core is AI_CORE.
  std::vector<double> cube_self, cube_total;
};

OperatorTimes SumOperatorTimes(const Session& session);

/// The kernels of one type on one kind of core of a device: a row of op_statistic.csv. Times in ns.
struct KernelStatistic {
  std::int64_t device = 0;
  StringId op_type{}, core{};
  Tally<double> durations;
  double average = 0;  ///< whole where all durations are whole, rounded down
};

/// By device, the longest total first. Kernels without a type and pieces of collectives are left
/// out.
std::vector<KernelStatistic> SumKernels(const Session& session);

/// One row of operator_memory.csv: the life of an allocation. Times in ns, sizes in bytes; -1: it
/// was not given back while the capture ran.
struct AllocationLife {
  StringId name{};    ///< in the strings of the session; empty: unknown
  bool cann = false;  ///< of an operator of CANN: named "cann::<name>", without active numbers
  std::int64_t bytes = 0;
  TimeNs allocated = -1, released = -1, active_released = -1;
  std::int64_t allocated_total = -1, reserved_total = -1, active_total = -1;  ///< when allocated
  std::int64_t released_total = -1, released_reserved = -1, released_active = -1;
  std::uint64_t stream = 0;
  std::int64_t device = 0;
  std::uint64_t address = 0;
  TensorRole role{};  ///< set by LivesWithRoles()
};

/// In the order of the profiler's table.
std::vector<AllocationLife> AllocationLives(const Session& session);

/// The same, with what the framework listed memory as. Behind them stands the listed memory from
/// before the capture, which is not allocated in it (-1); its name is that of the tensor.
std::vector<AllocationLife> LivesWithRoles(const Session& session);

/// One row of memory_record.csv. Sizes in bytes, -1: empty cell.
struct MemoryRecord {
  std::string_view component;  ///< PTA, GE, PTA+GE, WORKSPACE, APP, or a module of CANN
  TimeNs time = -1;
  std::int64_t allocated = -1, reserved = -1, active = -1;
  std::uint64_t stream = 0;
  bool has_stream = false;
  std::int64_t device = 0;
};

/// In the order of the profiler's table.
std::vector<MemoryRecord> MemoryRecords(const Session& session);

/// The future contents of communication.json, communication_matrix.json and the tables
/// CommAnalyzer* of analysis.db, before they are written.
std::vector<CommunicationStep> SummariseCommunication(const Session& session);

}  // namespace mpa::raw
