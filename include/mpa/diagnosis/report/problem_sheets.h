// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/report/report.h"

namespace mpa {

/// Adds the sheets of the workbook, which have the names of the Python tool's: the findings as
/// "problems", the shown account as "Overall Summary", that of every rank and step as "Step
/// Accounting", and those of AddAnalyzerSheets().
void AddProblemSheets(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
                      Language language, Report& report);

}  // namespace mpa
