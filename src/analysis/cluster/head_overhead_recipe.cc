// SPDX-License-Identifier: Apache-2.0
// Who owns the time between the start of a compiled graph's call and its first kernel.
#include <charconv>
#include <utility>

#include "../head/analyse.h"
#include "../head/call_children.h"
#include "../head/head_part.h"
#include "../head/head_sheets.h"
#include "mpa/analysis/recipe.h"

namespace mpa::recipes {
namespace {

using head::HeadOptions;
using head::HeadPart;
using head::Policy;

constexpr std::string_view kPolicies[] = {"auto", "entry", "step", "device_idle"};

// The value of an option, empty when it was not given. Numbers were checked by the command line.
std::string_view Given(const RecipeArguments& arguments, std::string_view name) {
  const auto found = arguments.find(name);
  return found != arguments.end() ? std::string_view(found->second) : std::string_view();
}

template <typename Number>
std::optional<Number> GivenNumber(const RecipeArguments& arguments, std::string_view name) {
  const std::string_view text = Given(arguments, name);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

HeadOptions OptionsOf(const RecipeArguments& arguments) {
  HeadOptions options;
  for (std::size_t i = 0; i < std::size(kPolicies); ++i) {
    if (Given(arguments, "policy") == kPolicies[i]) options.policy = static_cast<Policy>(i);
  }
  if (const auto gap = GivenNumber<double>(arguments, "max_gap")) {
    options.max_gap = static_cast<TimeNs>(*gap * 1e6);
  }
  options.step = GivenNumber<std::int32_t>(arguments, "step_id");
  return options;
}

std::any Map(const RankTrace& trace, const RecipeArguments& arguments) {
  head::HeadAnalysis analysis(trace, OptionsOf(arguments));
  const head::ChildFinder finder(trace, analysis);
  std::vector<std::vector<head::Child>> children;
  children.reserve(analysis.calls.size());
  for (std::size_t i = 0; i < analysis.calls.size(); ++i) {
    children.push_back(finder.Of(i));
    CountConversions(children.back(), analysis.calls[i]);
  }
  HeadPart part;
  const std::vector<head::Scope> scopes = head::FindScopes(analysis.calls, analysis.graphs);
  part.summary = head::Summarise(analysis.calls, scopes, analysis.steps);
  part.children = head::SumChildren(analysis.calls, children, scopes, head::Phase::kSteady);
  part.steps = head::SumSteps(analysis.calls, analysis.steps);
  part.calls = std::move(analysis.calls);
  part.graphs = std::move(analysis.graphs);
  return part;
}

RecipeResult Reduce(const std::vector<RankPart>& parts, const RecipeArguments&) {
  RecipeResult result;
  std::vector<head::RankHead> ranks;
  for (const RankPart& part : parts) {
    ranks.push_back({part.rank, &std::any_cast<const HeadPart&>(part.part)});
  }
  result.tables = HeadSheets(ranks, /*for_people=*/false);
  return result;
}

}  // namespace

Recipe HeadOverhead() {
  using Value = RecipeParameter::Value;
  Recipe recipe;
  recipe.name = "head_overhead";
  recipe.folder = "HeadOverhead";
  recipe.summary =
      "who owns the time before a compiled graph's first kernel (torch.compile with "
      "TorchAir)";
  recipe.needs = Tables::kHostOps | Tables::kQueuedWork | Tables::kHostCalls | Tables::kDeviceRuns |
                 Tables::kModelIterations | Tables::kGarbageCollections | Tables::kSteps;
  recipe.parameters = {
      {"policy",
       "NAME",
       "Where the front end's time begins. auto: where the call before ended, in its step; entry: "
       "where the compiled model is entered; step: as auto, the first call of a step with it; "
       "device_idle: where the device ran out of work [default: auto]",
       Value::kChoice,
       {std::begin(kPolicies), std::end(kPolicies)}},
      {"max_gap", "MS",
       "Without steps: a longer wait before a call is no work of the platform [default: 100]",
       Value::kPositive}};
  recipe.map = Map;
  recipe.reduce = Reduce;
  recipe.always_prints = true;
  recipe.empty_is_answer = true;
  recipe.cuts_steps = true;
  return recipe;
}

}  // namespace mpa::recipes
