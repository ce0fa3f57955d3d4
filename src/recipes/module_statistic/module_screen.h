// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpa/measure/module_statistic.h"

namespace mpa {

/// The modules as a tree with bars for their share of the device time, the largest first, for the
/// screen; modules too small for `most_lines` lines are counted in the last one.
std::vector<std::string> ModuleScreen(const std::vector<ModuleStatisticRow>& rows,
                                      std::size_t most_lines);

}  // namespace mpa
