// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "mpa/base/amounts.h"
#include "mpa/base/time.h"
#include "mpa/measure/earlier_time.h"
#include "mpa/measure/kernel_category.h"

namespace mpa {

struct HostClock;

/// A kernel that computes and communicates at once.
struct Mc2Kernel {
  std::string name;
  TimeAndCount total;
  TimeNs computing = 0;         ///< max(matrix unit, loads) of the cube core + vector core
  bool knows_computing = true;  ///< false: the units of a call were not measured
  TimeNs communication = 0;  ///< between the pairs of C_CORE_SQE events that end inside the kernel
};

/// A rank belongs to some dozens. Each pair of groups is looked at.
inline constexpr std::size_t kMaxGroups = 512;

/// Communication of one group that no computing hides.
struct GroupTime {
  std::string name, process_group;
  TimeNs exposed = 0;
  /// Part of `exposed` in which the rank waited for members that had not come yet; the accounting
  /// of the step calls it comm.wait_peer and comm.bubble.
  TimeNs wait = 0;
  std::int32_t ranks = 0;  ///< how many belong to the group; 0: unknown

  TimeNs transmit() const { return exposed - wait; }
};

/// Time in which two groups communicated at once and nothing was computed.
struct GroupOverlap {
  std::string first, second;  ///< process groups' names, or else the groups'
  TimeNs time = 0;
};

/// The overall picture of one rank. computing + exposed_communication + lccl + free = e2e, and
/// before_first + e2e + behind_last = step.
struct OverallMetrics {
  DeviceKind device = DeviceKind::kNpu;
  bool minimal_profiling = false;
  /// False when the capture does not tell cube from vector for most kernels (text captures at
  /// Level0, a trace alone): then there are no categories.
  bool has_categories = false;
  /// False when no task of a collective was recorded with its name (GPU): waits are unknown then.
  bool has_waits = false;
  /// There are more groups than a rank can belong to (kMaxGroups): they are not told apart, waits
  /// are unknown.
  bool has_too_many_groups = false;

  TimeNs computing = 0, exposed_communication = 0;
  TimeNs e2e = 0;   ///< from the first to the last device task
  TimeNs free = 0;  ///< of e2e; other than the free time of an account it holds copies
  /// All windows of FindStepWindows() together, and how far they reach beyond the first and the
  /// last device task; negative where work lies outside of all steps. 0 where nothing was recorded.
  TimeNs step = 0, before_first = 0, behind_last = 0;
  EarlierTime earlier = {};  ///< before those windows
  std::size_t steps = 0;     ///< 0: the capture has no steps, `step` is all of it
  std::array<TimeAndCount, kCategories> categories{};
  std::vector<Mc2Kernel> mc2;  ///< in order of first launch
  TimeAndCount lccl;
  TimeAndCount sdma;        ///< copies on compute streams
  TimeNs sdma_in_free = 0;  ///< part of the free time in which they ran
  std::vector<GroupTime> groups;
  std::vector<GroupOverlap> group_overlaps;
  /// The most that the allocators reserved together, and the names of these; the most that the
  /// process took. -1: not recorded.
  std::int64_t peak_memory_bytes = -1;
  std::set<std::string> allocators;
  bool only_shared_allocators = false;  ///< the other capture of a comparison lacks some of them
  std::int64_t process_memory_bytes = -1;
  Traffic rdma_traffic, sdma_traffic;

  TimeAndCount Of(Category category) const {
    return categories[static_cast<std::size_t>(category)];
  }
  /// Cube and vector half of a family together; `cube_half` names the family.
  TimeAndCount Family(Category cube_half) const {
    return Of(cube_half) + categories[static_cast<std::size_t>(cube_half) + 1];
  }
  TimeAndCount Vector() const { return Of(Category::kVectorTrans) + Of(Category::kVectorNoTrans); }
  TimeNs Mc2Time() const;
  TimeNs Wait() const;
  TimeNs GroupOverlapTime() const;
  /// Number of categorised kernels, MC2 kernels left out as the tool we follow does.
  std::int64_t KernelCount() const;
  /// Computing that no category holds; never negative.
  TimeNs Other() const;
};

/// Computes the overall picture. Needs host operators, launches, kernels, device tasks,
/// communications with tasks, overlaps, memory samples, transfers, steps and host calls; what is
/// missing counts as 0. `compat`: times and peak memory are those of the Python tool, see
/// AnalysedActivitiesOf() and LargestMemorySample().
OverallMetrics ComputeOverall(const RankTrace& trace, const KernelMasks& masks = {},
                              bool compat = false);
/// The same with the clock of the rank, for callers that have it.
OverallMetrics ComputeOverall(const RankTrace& trace, const HostClock& clock,
                              const KernelMasks& masks = {}, bool compat = false);

/// Where two captures of one kind of device recorded memory, but not of the same allocators: the
/// peaks become those of the allocators that both have, and unknown where there are none.
void ShareAllocators(const RankTrace& base, const RankTrace& comparison, OverallMetrics& of_base,
                     OverallMetrics& of_comparison);

/// The communication part: groups with waits, and their overlaps. `exposed` is the time in which
/// nothing but communication runs.
void ComputeGroupTimes(const RankTrace& trace, const std::vector<struct Interval>& exposed,
                       OverallMetrics& metrics);

}  // namespace mpa
