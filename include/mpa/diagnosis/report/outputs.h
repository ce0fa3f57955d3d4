// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/report/page.h"
#include "mpa/report/report.h"

namespace mpa {

/// What to type after the first screen, as words for a shell.
struct NextQuestion {
  std::string finding = "1";     ///< its number on the screen, or its key
  std::string captures = "DIR";  ///< with the options that choose among them
};

/// The first screen: at most 25 lines of 80 columns, but for the command at its end.
std::vector<std::string> DiagnosisScreen(const Diagnosis& diagnosis, std::size_t findings,
                                         const NextQuestion& next = {});

/// Its lines above the findings, and what is left of the step without them.
std::vector<std::string> DiagnosisHead(const Diagnosis& diagnosis);

/// What the JSON document of a diagnosis holds.
struct DiagnosisJsonOptions {
  std::size_t findings = 20;
  std::size_t evidence = 5;   ///< of each finding
  std::size_t max_chars = 0;  ///< 0: as long as it is; else 600 or more
};

/// One object of schema mpa.diagnosis/1; see docs/diagnosis.schema.json. A document that is
/// too long loses, in this order: places but the first of each finding, accounts but the median
/// one, notes, what could not be judged, metrics, the ends of long lists and texts, findings from
/// the last one on. "omitted" counts what went.
std::string DiagnosisJson(const Diagnosis& diagnosis, const DiagnosisJsonOptions& options);

/// What the page of a diagnosis says. `captures`: of the commands that tell more.
Page DiagnosisPage(const Diagnosis& diagnosis, std::string_view captures = "DIR");

/// Adds the sheets of the workbook, most of which have the names of the Python tool's: the faults
/// as "problems", the other ones as "other findings", what has no price as "observations", the
/// shown account as "Overall Summary", that of every rank and step as "Step Accounting", and those
/// of AddAnalyzerSheets(). The summary says what the screen says: see DiagnosisSummary().
void AddProblemSheets(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
                      Report& report);

/// The findings of these names have their rows in that order.
inline constexpr std::string_view kProblemsSheet = "problems", kOthersSheet = "other findings";

/// The first sheet of the workbook: the head of the screen, a row for each finding with what it
/// costs and a link to its row, section by section, and the parts of the step.
WorkbookSummary DiagnosisSummary(const Diagnosis& diagnosis);

/// Where to look for a finding: positions of ranks and of the step.
struct FindingScene {
  std::vector<std::size_t> ranks;  ///< the culprits, or those whose places show it, and a peer
  std::size_t step = 0;  ///< in which it costs most; the longest one where that is not known
};
FindingScene SceneOf(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
                     const Finding& finding);

/// "timeline_rank.late_r5.json": the key with _ in place of what no file name holds.
std::string TimelineName(const Finding& finding);

/// The names of the kernels that tuning may make shorter, as the tuning tools read them: of those
/// that leave cores idle and of those without bound the ten that hold the longest kernels, on any
/// rank. Empty where there is no such kernel.
std::string TuningList(const std::vector<DiagnosedRank>& ranks);

/// The chain of evidence of one finding of the diagnosis: what was measured, on which ranks and in
/// which steps, where it shows (at most so many places), what hides it, and what to do.
std::vector<std::string> WhyLines(const Diagnosis& diagnosis, const Finding& finding,
                                  std::size_t places);

}  // namespace mpa
