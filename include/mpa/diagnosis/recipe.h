// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpa/recipe/recipe.h"

namespace mpa {

/// The diagnosis as a recipe: it condenses every rank, and says of all of them what costs the step.
/// `advisor` runs it. Arguments: "language" (en, cn), "top" and "evidence" (how many findings and
/// places the JSON document holds), "max_chars" (its size), "dimension" (all, schedule,
/// computation), "key" (a finding to explain) and "json". The document is the only one of the
/// report's documents.
Recipe DiagnosisRecipe();

/// The name of the report's document.
inline constexpr std::string_view kDiagnosisDocument = "diagnosis.json";

}  // namespace mpa
