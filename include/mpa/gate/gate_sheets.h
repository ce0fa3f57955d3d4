// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/report/gate_report.h"
#include "mpa/report/report.h"

namespace mpa::gate {

/// The report of a gate: the sheets Metrics, Explanation and Mismatches for tables, and the whole
/// of it for the writers that show a gate in a form of their own. Notes are the gate's.
Report ReportOf(GateReport gate);

}  // namespace mpa::gate
