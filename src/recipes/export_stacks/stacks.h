// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mpa/measure/path_tree.h"
#include "mpa/model/rank_trace.h"
#include "mpa/report/page.h"

namespace mpa::recipes::export_stacks {

/// Which time is divided among the call paths.
enum class Metric : std::uint8_t {
  kDevice,  ///< in which the device worked, by what launched the work
  kHost,    ///< of the threads of the host
  kFree,    ///< in which the device had nothing to do, by what the host did
  // As export_stacks() of torch_npu divides it: of operators that have a call stack, by that.
  kSelfCpu,  ///< of the operator without operators within
  kSelfNpu,  ///< of the device work that it launched itself; what overlaps adds up
};
constexpr Metric LastOf(Metric) { return Metric::kSelfNpu; }

/// In the order of Metric.
inline constexpr std::string_view kMetrics[] = {"device", "host", "free", "self_cpu_time_total",
                                                "self_npu_time_total"};

inline std::string_view NameOf(Metric metric) { return kMetrics[static_cast<int>(metric)]; }

/// The paths of a rank. Those of kDevice and kFree add up to the account of its steps. The last
/// frame of a path of kDevice is the kernel, or an operation of communication or a copy with its
/// category of the account within; of kFree it is a category of the account.
PathTree StacksOf(const RankTrace& trace, Metric metric);

/// The paths of kSelfCpu, or of kSelfNpu if `of_device`: functions alone, which name neither the
/// operator nor the kernel.
PathTree OperatorStacks(const RankTrace& trace, bool of_device);

/// The same as a flame graph. Frames of less than 0.1 % of the whole are one in their caller, so
/// that it is bounded and the times add up to those of the tree.
/// Frames of work of the device, and of its free time, have the tint of that.
PageChart FlameChart(const PathTree& tree, Metric metric, std::string title);

}  // namespace mpa::recipes::export_stacks
