// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/compare/comparison.h"

namespace mpa {

/// Appends ModuleCompareStatistic and ModuleCompare. False, with a note that says why, when the
/// captures have no modules.
bool CompareModules(const CompareInput& input, Report& report);

}  // namespace mpa
