// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer_sheets.h"
#include "mpa/diagnosis/findings/catalogue.h"

namespace mpa {

inline constexpr Wording kClockSheet{"AI Core Frequency Issues", "AIcore频率"};

/// Adds the lists of kernels that make little use of their cores, and of those that ran while the
/// clock was low. Returns what they say in short.
std::vector<AnalyzerNote> AddKernelSheets(const std::vector<DiagnosedRank>& ranks,
                                          const Diagnosis& diagnosis, Language language,
                                          Report& report);

}  // namespace mpa
