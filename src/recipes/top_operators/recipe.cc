// SPDX-License-Identifier: Apache-2.0
// The slowest kernels and operators of every rank, and every event beyond a threshold.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "mpa/measure/accounting.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "top.h"

namespace mpa::recipes {
namespace {

using top_operators::Ranks;
using top_operators::TopOfRank;

constexpr std::string_view kTop = "top", kOver = "over";
constexpr std::int64_t kUsualTop = 10;
constexpr TimeNs kUsualOver = 1'000'000;

// "1ms", "1.5 s": ns; empty: it is none.
std::optional<TimeNs> DurationOf(std::string_view text) {
  constexpr double kLargest = 1e18;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const double ns = unit == "ns"   ? 1
                    : unit == "us" ? 1e3
                    : unit == "ms" ? 1e6
                    : unit == "s"  ? 1e9
                                   : -1;
  if (ns < 0 || number * ns > kLargest) return std::nullopt;
  return std::llround(number * ns);
}

std::string ProblemOfOver(const std::string& text) {
  return DurationOf(text) ? "" : "give a time with its unit, such as 1ms, 500us or 2s";
}

TimeNs OverOf(const RecipeArguments& arguments) {
  const auto given = arguments.find(kOver);
  return given == arguments.end() ? kUsualOver : DurationOf(given->second).value_or(kUsualOver);
}

TopOfRank MapTopOperators(const RankTrace& trace, const RecipeArguments& arguments) {
  return top_operators::TopOf(trace, OverOf(arguments));
}

void ReduceTopOperators(const Ranks& ranks, const RecipeArguments& arguments,
                        OutputSelection wanted, Report& report) {
  const auto top =
      static_cast<std::size_t>(NumberArgument<std::int64_t>(arguments, kTop).value_or(kUsualTop));
  for (const auto& [rank, part] : ranks) {
    BeginRank(rank, report);
    if (part.kernels.empty()) report.notes.push_back(NoDeviceWorkNote(rank));
    if (part.events_left_out > 0) {
      report.notes.push_back(
          fmt::format("{}: SlowEvents has the {} longest events; {} shorter ones are left out, a "
                      "larger --over names fewer",
                      RankText(rank), part.events.size(), part.events_left_out));
    }
  }
  if (wanted.sheets) top_operators::AddSheets(ranks, top, report);
  if (wanted.screen != Detail::kNone)
    top_operators::AddLines(ranks, top, OverOf(arguments), report);
}

}  // namespace

Recipe TopOperators() {
  using Value = RecipeParameter::Value;
  return MakeRecipe<MapTopOperators, ReduceTopOperators>(
      {.name = "top_operators",
       .folder = "TopOperators",
       .summary = "the slowest kernels and operators, and every event beyond a threshold",
       .needs = kAccountTables | Tables::kOpDetails | Tables::kKernelLoads,
       .parameters = {{kTop, "N", "Kernels and operators to list [default: 10]", Value::kCount},
                      {kOver,
                       "TIME",
                       "List every event that takes longer, such as 1ms or 500us [default: 1ms]",
                       Value::kText,
                       {},
                       ProblemOfOver}},
       .can_run = JudgeReadable});
}

}  // namespace mpa::recipes
