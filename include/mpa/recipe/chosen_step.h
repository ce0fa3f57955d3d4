// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "mpa/model/step_tables.h"
#include "mpa/recipe/arguments.h"

namespace mpa {

/// The argument of recipes that cut steps themselves (RecipeInfo::cuts_steps).
inline constexpr std::string_view kStepId = "step_id";

/// The step that the user chose; empty: all. Throws Error (kInput) when the rank has no such step.
std::optional<std::int32_t> ChosenStep(const Steps& steps, const RecipeArguments& arguments);

}  // namespace mpa
