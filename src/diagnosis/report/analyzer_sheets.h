// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/report/report.h"

namespace mpa {

/// What an analyzer found that no finding prices: a row of "problems" without a gain.
struct AnalyzerNote {
  std::string category, description, suggestion;
  std::int64_t count = 0;
  TimeNs time = 0;
};

/// Adds the lists that the Python tool's advisor has, too, those without a row left out: slow ranks
/// and links, kernels on the AI CPU, compiled operators, garbage collections, sizes of transfers,
/// operators and sequences of kernels that can be fused. Returns what they say in short.
std::vector<AnalyzerNote> AddAnalyzerSheets(const std::vector<DiagnosedRank>& ranks,
                                            const Diagnosis& diagnosis, Language language,
                                            Report& report);

/// The category that the Python tool has for a finding, its title where it has none.
std::string ProblemOf(const Finding& finding, Language language);

/// Adds the environment variables that cost time, on the ranks that have them: those of findings
/// and those whose value is seldom wanted. Returns what they say in short.
std::vector<AnalyzerNote> AddEnvironmentSheet(const std::vector<DiagnosedRank>& ranks,
                                              const Diagnosis& diagnosis, Language language,
                                              Report& report);

/// Adds the lists of transfers: sizes that are not aligned, small packets, those that were sent
/// again, and those that computing slowed down. Returns what they say in short.
std::vector<AnalyzerNote> AddTransferSheets(const std::vector<DiagnosedRank>& ranks,
                                            const Diagnosis& diagnosis, Language language,
                                            Report& report);

/// Adds the lists of kernels: those that one call could replace; those that make little use of
/// their cores or ran while the clock was low; products of matrices, attention and vector kernels
/// that could use their units better, or use them well; sequences that could be fused, wait for the
/// host or move data. Returns what they say in short.
std::vector<AnalyzerNote> AddKernelSheets(const std::vector<DiagnosedRank>& ranks,
                                          const Diagnosis& diagnosis, Language language,
                                          Report& report);

}  // namespace mpa
