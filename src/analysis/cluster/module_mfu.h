// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kernel_mfu.h"
#include "module_statistic.h"

namespace mpa {

/// The utilisation of the row's kernels in their order, "54.61%,-": each the mean over the calls
/// for which it is known, `unknown` when it is known for none, or nothing where that is empty.
/// Empty when no kernel has one.
std::string AverageMfu(const ModuleStatisticRow& row, const RankMfu& mfu,
                       std::string_view unknown = "-");

}  // namespace mpa
