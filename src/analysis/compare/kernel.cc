// SPDX-License-Identifier: Apache-2.0
#include "compare_sheet.h"
#include "mpa/analysis/comparison.h"

namespace mpa::comparisons {
namespace {

void Run(const CompareInput&, Report&) {}

}  // namespace

Comparison Kernel() { return {"kernel", "", Tables::kNone, Run}; }

}  // namespace mpa::comparisons
