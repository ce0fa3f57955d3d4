// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/report/report.h"

namespace mpa {

/// The first sheet of the workbook of two captures: the verdict of the screen, the ten largest
/// changes with the rows that have their details, and the parts of the step. Without a verdict, the
/// ten rows of a sheet that differ most. `report` holds the story, the change and all sheets.
WorkbookSummary SummariseComparison(const Report& report);

}  // namespace mpa
