// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpa/base/error.h"

namespace mpa {

std::optional<std::int32_t> ChosenStep(const Steps& steps, const RecipeArguments& arguments) {
  const auto step = NumberArgument<std::int32_t>(arguments, kStepId);
  if (!step || std::ranges::find(steps.id, *step) != steps.id.end()) return step;
  if (steps.Empty()) {
    Fail(ErrorKind::kInput, "the capture has no step markers; leave --step_id out");
  }
  Fail(ErrorKind::kInput, "step {} not found; available steps: {}", *step,
       fmt::join(steps.id, ", "));
}

}  // namespace mpa
