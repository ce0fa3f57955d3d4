// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mpa/base/rank.h"
#include "mpa/recipe/recipe.h"

namespace mpa {

/// The switch of recipes for the layout of the Python tool.
inline constexpr std::string_view kCompat = "compat";

/// The argument with which ranks of the run to compare with are condensed (RecipeInfo::baseline).
inline constexpr std::string_view kIsBaseline = "is_baseline";

/// The text given for an option, else `otherwise`.
inline std::string_view TextArgument(const RecipeArguments& arguments, std::string_view name,
                                     std::string_view otherwise = {}) {
  const auto found = arguments.find(name);
  return found != arguments.end() ? std::string_view(found->second) : otherwise;
}

/// The number given for an option, which the command line has checked; empty when there is none.
template <typename Number>
std::optional<Number> NumberArgument(const RecipeArguments& arguments, std::string_view name) {
  const auto found = arguments.find(name);
  if (found == arguments.end()) return std::nullopt;
  const std::string& text = found->second;
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

/// The argument of recipes that cut steps themselves (RecipeInfo::cuts_steps).
inline constexpr std::string_view kStepId = "step_id";

/// The step that the user chose; empty: all. Throws Error (kInput) when the rank has no such step.
std::optional<std::int32_t> ChosenStep(const Steps& steps, const RecipeArguments& arguments);

}  // namespace mpa
