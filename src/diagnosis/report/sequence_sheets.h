// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer_sheets.h"

namespace mpa {

/// Adds the sequences of kernels that could be fused, those that wait for the host and those that
/// move data. Returns what they say in short.
std::vector<AnalyzerNote> AddSequenceSheets(const std::vector<DiagnosedRank>& ranks,
                                            const Diagnosis& diagnosis, Language language,
                                            Report& report);

}  // namespace mpa
