// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer_sheets.h"

namespace mpa {

/// Adds the sheets of products of matrices, of attention and of vector kernels that could use their
/// units better, or use them well. Returns what they say in short.
std::vector<AnalyzerNote> AddPerfSheets(const std::vector<DiagnosedRank>& ranks,
                                        const Diagnosis& diagnosis, Language language,
                                        Report& report);

}  // namespace mpa
