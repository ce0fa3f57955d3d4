// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mpa/measure/module_statistic.h"
#include "mpa/mfu/kernel_mfu.h"
#include "mpa/report/report.h"

namespace mpa {

/// The utilisation of the row's kernels in their order, "54.61%,-": each the mean over the calls
/// for which it is known, `unknown` when it is known for none, or nothing where that is empty.
/// Empty when no kernel has one.
std::string AverageMfu(const ModuleStatisticRow& row, const RankMfu& mfu,
                       std::string_view unknown = "-");

/// How many kernels of a rank have a utilisation.
struct RatedKernels {
  std::int64_t count = 0;
  std::int64_t impossible = 0;  ///< above 100 %
};
RatedKernels CountRated(const RankMfu& mfu);

/// Notes that kernels of the rank ("rank 3") have a utilisation above 100 %, if any has: a number
/// that it is made of is wrong.
void AddImpossibleMfu(std::string_view rank, const RatedKernels& rated, Report& report);

}  // namespace mpa
