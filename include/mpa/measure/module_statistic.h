// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpa/measure/module_ranges.h"
#include "mpa/measure/op_tree.h"
#include "mpa/model/rank_trace.h"

namespace mpa {

/// An operator at its place in a module, summed over all calls of the module that ran the same
/// operators, where it launched the same kernels.
struct ModuleStatisticRow {
  std::string parent;  ///< modules around the module, joined by '/'; empty for the outermost
  std::string module;  ///< "Linear", "[Backward]Linear", "Linear_1" (see VariantNaming)
  std::string op;
  std::string kernels;  ///< names, joined by ", "
  TimeNs total = 0;     ///< of the kernels and collectives
  TimeNs computed = 0;  ///< of the kernels alone
  double average = 0;   ///< of the operator's calls
  std::int64_t count = 0;
  std::string mfu;  ///< of each kernel, see AverageMfu(); empty unless it was asked for
  /// The kernels of one call of the operator after the other, as many of each as `kernels` names.
  std::vector<DeviceWork> work;
};

/// How calls of one module that run different operators are told apart, by "_0", "_1", ...
enum class VariantNaming : std::uint8_t {
  kPerRun,  ///< where rows of several variants follow one another, counted anew each time
  kOnce,    ///< one number for each variant in the rank
};

struct ModuleStatisticOptions {
  /// Take kernels for the same that a counter in the name tells apart (trans_TransData_17).
  bool without_counters = false;
  /// Take the backward pass of a module's call for one call, also where the backward pass of other
  /// modules runs in between; otherwise each part is a call.
  bool whole_backward = false;
  VariantNaming variants = VariantNaming::kPerRun;
  /// With the modules of the backward pass.
  bool backward = true;
};

/// Where the time of the device's kernels went. Collectives do not count as kernels.
struct ModuleCoverage {
  TimeNs in_modules = 0;
  TimeNs outside_modules = 0;  ///< their operators run in no module
  TimeNs without_op = 0;       ///< no operator is known to have launched them
  TimeNs collectives = 0;      ///< of all places, with the kernels that arrange them
};

struct ModuleStatistic {
  ModuleSource source = ModuleSource::kNone;
  std::vector<ModuleStatisticRow> rows;  ///< in order of their first operators
  ModuleCoverage coverage;
  std::size_t straddlers = 0;  ///< operators that begin in a module and end behind it
};

/// What SumModules() and FindOpWork() need.
constexpr Tables kModuleTables = Tables::kHostOps | Tables::kLaunches | Tables::kKernels |
                                 Tables::kScheduleKernels | Tables::kCommunications |
                                 Tables::kMstx | Tables::kPythonCalls | Tables::kBackwardLinks |
                                 Tables::kQueuedWork;

/// What the modules of a rank ran.
ModuleStatistic SumModules(const RankTrace& trace, const ThreadGroups& groups,
                           const AllOpWork& work, const ModuleStatisticOptions& options = {});

}  // namespace mpa
