// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/io/numbers.h"

namespace mpa {

namespace option {

std::string TextOf(std::int64_t count) { return fmt::format("{}", count); }
std::string TextOf(double number) { return fmt::format("{}", number); }

}  // namespace option

void RecipeArguments::Set(const RecipeOption& option, const std::string& text) {
  using Kind = RecipeOption::Kind;
  constexpr std::int64_t kEndless = 1'000'000'000'000'000'000;  // parts hold no larger number
  const auto fail = [&](const std::string& what) {
    Fail(ErrorKind::kUsage, "--{} {}: {}", option.name, text, what);
  };
  OptionValue value;
  if (option.kind == Kind::kCount) {
    const std::int64_t count = io::ParseInt(text).value_or(0);
    if (count <= 0) fail(Say("give a whole number above 0"));
    if (count < option.least) fail(Say("give {} or more", option.least));
    value.count = std::min(count, kEndless);
  } else if (option.kind == Kind::kNumber) {
    value.number = WholeNumber<double>(text).value_or(0);
    if (!std::isfinite(value.number) || value.number <= 0) fail(Say("give a number above 0"));
  } else if (option.kind == Kind::kChoice) {
    const auto choice = std::ranges::find(option.choices, text);
    if (choice == option.choices.end())
      fail(Say("give one of {}", fmt::join(option.choices, ", ")));
    value.count = choice - option.choices.begin();
    value.text = text;
  } else {
    value.text = text;
  }
  if (option.check) {
    try {
      option.check(text);
    } catch (const Error& error) {
      fail(error.what());
    }
  }
  given[std::string(option.name)] = std::move(value);
}

std::optional<std::int32_t> ChosenStep(const Steps& steps, const RecipeArguments& arguments) {
  const std::optional<std::int32_t> step = arguments.step;
  if (!step || std::ranges::find(steps.id, *step) != steps.id.end()) return step;
  if (steps.Empty()) {
    Fail(ErrorKind::kInput, "the capture has no step markers; leave --step_id out");
  }
  Fail(ErrorKind::kInput, "step {} not found; available steps: {}", *step,
       fmt::join(steps.id, ", "));
}

}  // namespace mpa
