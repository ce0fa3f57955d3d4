// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "mpa/base/rank_state.h"
#include "mpa/change/job_causes.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// The diagnosis as a recipe: it condenses every rank, and says of all of them what costs the step.
/// `advisor` runs it. Arguments: "language" (en, cn), "top" and "evidence" (how many findings and
/// places the JSON document holds), "max_chars" (its size), "dimension" (all, schedule,
/// computation: which findings), "key" (a finding to explain, the only one in the document) and
/// "rules" (the text of a file of thresholds, see ParseThresholds()).
Recipe DiagnosisRecipe();

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
