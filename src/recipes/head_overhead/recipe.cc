// SPDX-License-Identifier: Apache-2.0
// Who owns the time between the start of a compiled graph's call and its first kernel.
#include "mpa/recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "advice.h"
#include "analyse.h"
#include "call_children.h"
#include "head_part.h"
#include "head_screen.h"
#include "head_sheets.h"
#include "mpa/base/error.h"
#include "mpa/recipe/arguments.h"
#include "picture.h"

namespace mpa::recipes {
namespace {

using head::HeadOptions;
using head::HeadPart;
using head::Policy;

constexpr double kMostMilliseconds = 1e12;  // fits into a time
constexpr std::string_view kPolicies[] = {"auto", "entry", "step", "device_idle"};

// The value of an option, empty when it was not given.
std::string_view Given(const RecipeArguments& arguments, std::string_view name) {
  const auto found = arguments.find(name);
  return found != arguments.end() ? std::string_view(found->second) : std::string_view();
}

HeadOptions OptionsOf(const RecipeArguments& arguments) {
  HeadOptions options;
  for (std::size_t i = 0; i < std::size(kPolicies); ++i) {
    if (Given(arguments, "policy") == kPolicies[i]) options.policy = static_cast<Policy>(i);
  }
  if (const auto gap = NumberArgument<double>(arguments, "max_gap")) {
    options.max_gap = std::llround(std::min(*gap, kMostMilliseconds) * 1e6);
  }
  options.step = NumberArgument<std::int32_t>(arguments, "step_id");
  return options;
}

// Steady calls, unless there are none or others were asked for.
head::Phase PhaseToShow(const RecipeArguments& arguments, const std::vector<head::Call>& calls) {
  const std::string_view given = Given(arguments, "phase");
  if (!given.empty()) return given == "compile" ? head::Phase::kCompile : head::Phase::kSteady;
  const auto any = [&](head::Phase phase) {
    return std::any_of(calls.begin(), calls.end(), [&](const head::Call& call) {
      return call.Counts() && call.phase == phase;
    });
  };
  const bool compiles_only = !any(head::Phase::kSteady) && any(head::Phase::kCompile);
  return compiles_only ? head::Phase::kCompile : head::Phase::kSteady;
}

// Of all steps with calls. The rows of a step, one for each thread, follow one another.
TimeNs TimeOf(const std::vector<head::StepRow>& steps) {
  TimeNs sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i == 0 || steps[i].step != steps[i - 1].step) sum += steps[i].duration;
  }
  return sum;
}

std::string ProblemOfThresholds(const std::string& value) {
  head::Thresholds thresholds;
  return head::SetThresholds(value, thresholds);
}

std::string ProblemOfCall(const std::string& value) {
  const bool digits = !value.empty() && value.size() < 10 &&
                      value.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "give the number of a call, from 0";
}

void CheckStep(const Steps& steps, std::int32_t step) {
  if (std::find(steps.id.begin(), steps.id.end(), step) != steps.id.end()) return;
  if (steps.Empty()) {
    Fail(ErrorKind::kInput, "the capture has no step markers; leave --step_id out");
  }
  Fail(ErrorKind::kInput, "step {} not found; available steps: {}", step,
       fmt::join(steps.id, ", "));
}

// The page for --picture; empty when it was not asked for or there is no such call.
std::string Picture(const RankTrace& trace, const RecipeArguments& arguments,
                    const head::HeadAnalysis& analysis, const std::vector<head::Scope>& scopes,
                    head::Phase phase) {
  if (!arguments.contains("picture")) return {};
  const auto call = arguments.contains("call") ? NumberArgument<std::size_t>(arguments, "call")
                                               : CallToPicture(analysis.calls, scopes, phase);
  return call && *call < analysis.calls.size() ? PictureOf(trace, analysis, *call) : std::string();
}

std::any MapHeadOverhead(const RankTrace& trace, const RecipeArguments& arguments) {
  const HeadOptions options = OptionsOf(arguments);
  if (options.step) CheckStep(trace.steps, *options.step);
  head::HeadAnalysis analysis(trace, options);
  HeadPart part;
  part.facts = FactsOf(trace, analysis.forest);
  const std::vector<head::Scope> scopes = head::FindScopes(analysis.calls, analysis.graphs);
  part.phase = PhaseToShow(arguments, analysis.calls);
  const head::ChildFinder finder(trace, analysis);
  head::ChildSums sums(analysis.calls, scopes, part.phase);
  for (std::size_t i = 0; i < analysis.calls.size(); ++i) {
    const std::vector<head::Child> children = finder.Of(i);
    CountConversions(children, analysis.calls[i]);
    sums.Add(i, children);
  }
  part.children = sums.Rows();
  part.summary = head::Summarise(analysis.calls, scopes, analysis.steps);
  part.steps = head::SumSteps(analysis.calls, analysis.steps);
  head::Thresholds thresholds;
  head::SetThresholds(Given(arguments, "thresholds"), thresholds);
  part.advice = head::GiveAdvice({analysis.calls, analysis.graphs, scopes, part.summary,
                                  part.children, thresholds, TimeOf(part.steps)});
  part.picture = Picture(trace, arguments, analysis, scopes, part.phase);
  part.calls = std::move(analysis.calls);
  part.graphs = std::move(analysis.graphs);
  return part;
}

TimeNs TypicalHead(const HeadPart& part) {
  for (const head::SummaryRow& row : part.summary) {
    if (row.scope == "all" && row.phase == part.phase && row.measure == "head") {
      return row.spread.p50;
    }
  }
  return -1;
}

// All of the rank whose head is the longest, of the others the answer: one screen.
void AddScreen(const std::vector<head::RankHead>& ranks, std::string_view policy,
               RecipeResult& result) {
  const auto longest = std::max_element(ranks.begin(), ranks.end(),
                                        [](const head::RankHead& a, const head::RankHead& b) {
                                          return TypicalHead(*a.part) < TypicalHead(*b.part);
                                        });
  if (policy.empty()) policy = kPolicies[0];
  for (auto rank = ranks.begin(); rank != ranks.end(); ++rank) {
    const head::Detail detail = rank == longest ? head::Detail::kAll : head::Detail::kAnswer;
    for (std::string& line : HeadScreen(*rank->part, RankText(rank->rank), policy, detail)) {
      result.screen.push_back(std::move(line));
    }
  }
}

// That of the first rank which has one.
void AddPicture(const std::vector<head::RankHead>& ranks, const RecipeArguments& arguments,
                RecipeResult& result) {
  if (!arguments.contains("picture")) return;
  for (const auto& [rank, part] : ranks) {
    if (part->picture.empty()) continue;
    result.documents["picture"] = part->picture;
    return;
  }
  result.notes.push_back("--picture: no such call; no picture written");
}

RecipeResult ReduceHeadOverhead(const std::vector<RankPart>& parts,
                                const RecipeArguments& arguments) {
  RecipeResult result;
  std::vector<head::RankHead> ranks;
  for (const RankPart& part : parts) {
    const auto& of_rank = std::any_cast<const HeadPart&>(part.part);
    ranks.push_back({part.rank, &of_rank});
    if (of_rank.calls.empty()) continue;
    const std::string stem =
        part.rank >= 0 ? fmt::format("head_overhead_{}", part.rank) : std::string("head_overhead");
    result.workbooks.push_back({stem, head::HeadSheets({ranks.back()}, /*for_people=*/true)});
  }
  AddScreen(ranks, Given(arguments, "policy"), result);
  AddPicture(ranks, arguments, result);
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
       "Without steps: a longer wait before a call does not count as work of the platform "
       "[default: 100]",
       Value::kPositive},
      {"phase",
       "NAME",
       "Calls that the screen and HEAD_CHILD are about: steady or compile [default: steady, if "
       "there are any]",
       Value::kChoice,
       {"steady", "compile"}},
      {"thresholds",
       "LIST",
       "From where on to advise, such as lookup_us=500,built_tensors=4; a wrong name lists all",
       Value::kText,
       {},
       ProblemOfThresholds},
      {"picture", "FILE",
       "Write an HTML page with a picture of one call: the one with the largest head, of the graph "
       "that takes the most time",
       Value::kFile},
      {"call",
       "N",
       "The call to picture, by its callId in HEAD_CALL",
       Value::kText,
       {},
       ProblemOfCall}};
  recipe.map = MapHeadOverhead;
  recipe.reduce = ReduceHeadOverhead;
  recipe.always_prints = true;
  recipe.empty_is_answer = true;
  recipe.cuts_steps = true;
  return recipe;
}

}  // namespace mpa::recipes
