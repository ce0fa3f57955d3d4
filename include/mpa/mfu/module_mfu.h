// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "mpa/measure/module_statistic.h"
#include "mpa/mfu/kernel_mfu.h"

namespace mpa {

/// The utilisation of the row's kernels in their order, "54.61%,-": each the mean over the calls
/// for which it is known, `unknown` when it is known for none, or nothing where that is empty.
/// Empty when no kernel has one.
std::string AverageMfu(const ModuleStatisticRow& row, const RankMfu& mfu,
                       std::string_view unknown = "-");

}  // namespace mpa
