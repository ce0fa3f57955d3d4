// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/diagnosis/diagnosis.h"
#include "mpa/report/report.h"

namespace mpa {

/// Adds the findings as the list "problems" and the accounting as "Overall Summary", as the Python
/// tool calls them.
void AddProblemSheets(const Diagnosis& diagnosis, Language language, Report& report);

}  // namespace mpa
