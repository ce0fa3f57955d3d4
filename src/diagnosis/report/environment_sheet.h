// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer_sheets.h"

namespace mpa {

/// Adds the environment variables that cost time, on the ranks that have them: those of findings
/// and those whose value is seldom wanted. Returns what they say in short.
std::vector<AnalyzerNote> AddEnvironmentSheet(const std::vector<DiagnosedRank>& ranks,
                                              const Diagnosis& diagnosis, Language language,
                                              Report& report);

}  // namespace mpa
