// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/rank_state.h"
#include "mpa/change/job_causes.h"
#include "mpa/diagnosis/catalogue.h"
#include "mpa/diagnosis/findings/advice.h"
#include "mpa/diagnosis/findings/thresholds.h"
#include "mpa/recipe/arguments.h"

namespace mpa {

/// The diagnosis as a recipe: it condenses every rank, and says of all of them what costs the step.
/// `advisor` runs it, with these options.
Recipe DiagnosisRecipe();

/// Which findings.
inline constexpr std::string_view kQuestions[] = {"all", "schedule", "computation", "why",
                                                  "timeline"};
inline constexpr Option<std::string> kQuestion{
    .name = "dimension", .help = "Which findings", .usual = "all", .choices = kQuestions};
/// A finding to explain, the only one in the document.
inline constexpr Option<std::string> kFinding{.name = "key", .help = "The finding to explain"};
inline constexpr Option<std::optional<std::size_t>> kTopFindings{"top", "N", "Findings to show", "",
                                                                 "5, in JSON 20"},
    kEvidence{"evidence", "N", "Places to show for each finding", "", "5"};
inline constexpr Option<std::size_t> kMaxChars{
    .name = "max_chars",
    .type_name = "N",
    .help = "Maximum length of the JSON document; what is left out is counted",
    .usual_text = "unlimited, --agent 8000",
    .least = 600};
/// As the text of a file.
inline constexpr Option<Thresholds> kRules{
    .name = "rules",
    .type_name = "FILE",
    .help = "Thresholds of the findings, instead of the built-in ones; see --print_rules",
    .read = [](const std::string& text) { return ParseThresholds(text); }};

/// What costs the job time, from what the recipe made of its ranks. `absent`: ranks of the job
/// without a part. Empty where no device work was recorded. Throws Error (kCorrupt) for a damaged
/// part.
JobCauses CausesOf(const std::vector<RankPart>& parts, const AbsentRanks& absent);

/// The names of the report's documents; the list for tuning tools may follow them.
inline constexpr std::string_view kDiagnosisDocument = "diagnosis.json";
/// All findings without places, whatever the other document leaves out.
inline constexpr std::string_view kWholeDiagnosis = "diagnosis_whole.json";
/// Kernels that tuning may make shorter, for the tools that do.
inline constexpr std::string_view kTuningList = "operator_tuning_file.cfg";

}  // namespace mpa
