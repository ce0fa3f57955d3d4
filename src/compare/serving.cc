// SPDX-License-Identifier: Apache-2.0
// Two captures of servers, by what their steps do.
#include "serving.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare_sheet.h"
#include "mpa/base/parallel.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/change/account_change.h"
#include "mpa/change/step_account.h"
#include "mpa/measure/quantiles.h"
#include "mpa/report/amount.h"
#include "mpa/report/change_tree.h"

namespace mpa {
namespace {

constexpr std::array kSidesInOrder = {Side::kBase, Side::kComparison};

AccountTimes Scaled(AccountTimes account, double factor) {
  if (factor == 1) return account;
  for (TimesByName* times : {&account.parts, &account.places}) {
    for (auto& [name, time] : *times) {
      time.ns = std::llround(static_cast<double>(time.ns) * factor);
    }
  }
  return account;
}

}  // namespace

ServingChanges::ServingChanges(const CompareInput& input) : input_(input) {
  for (const Side side : kSidesInOrder) {
    if (input.Trace(side).serving_marks.Empty()) return;
  }
  ParallelFor(kSidesInOrder.size(), [&](std::size_t side) {
    const RankTrace& trace = input.Trace(kSidesInOrder[side]);
    accounts_[side] = AccountServingSteps(trace);
    steps_[side] = AccountServing(trace, accounts_[side]);
  });
  if (steps_[0].empty() || steps_[1].empty()) return;
  for (std::size_t side = 0; side < kSidesInOrder.size(); ++side) {
    for (const auto& [phase, steps] : StepsByPhase(steps_[side])) {
      phases_[phase][side] = Measure(side, steps);
    }
  }
}

ServingChanges::OneSide ServingChanges::Measure(std::size_t side,
                                                const std::vector<std::size_t>& steps) const {
  OneSide measured{.steps = steps};
  std::vector<TimeNs> lengths, per_token;
  for (const std::size_t i : steps) {
    const ServingAccount& step = steps_[side][i];
    lengths.push_back(step.Length());
    if (const TimeNs time = step.TimePerToken(); time >= 0) per_token.push_back(time);
    for (std::size_t part = 0; part < kServingParts; ++part) {
      measured.times[part] += step.times[part];
    }
  }
  measured.median = Median(std::move(lengths));
  measured.per_token = per_token.empty() ? -1 : Median(std::move(per_token));
  return measured;
}

// "decode, 32 requests"
std::string ServingChanges::NameOfPhase(const BothSides& sides) const {
  const std::size_t side = sides[0].steps.empty() ? 1 : 0;
  const ServingBatch& batch = steps_[side][sides[side].steps.front()].batch;
  const std::string size = SizeText(batch);
  return fmt::format("{}{}{}", NameOf(batch.phase), size.empty() ? "" : ", ", size);
}

// What the median step is made of, as everywhere. `scaled`: the comparison's times by it, because
// its steps have more or fewer tokens.
std::vector<std::string> ServingChanges::Causes(const BothSides& sides, double scaled,
                                                Report& report) const {
  std::array<AccountTimes, 2> times;
  ParallelFor(kSidesInOrder.size(), [&](std::size_t side) {
    RankAccount account = accounts_[side];
    account.steps.clear();
    for (const std::size_t i : sides[side].steps) account.steps.push_back(accounts_[side].steps[i]);
    times[side] =
        MedianAccount(input_.Trace(kSidesInOrder[side]), account, 0, {.kernel_types = false});
  });
  times[1] = Scaled(std::move(times[1]), scaled);
  ChangeNode whole = AccountChange("step, " + NameOfPhase(sides), times[0], times[1]);
  whole.base = sides[0].median;
  whole.comparison = std::llround(static_cast<double>(sides[1].median) * scaled);
  AddRest(kRemainder, "other", whole);
  report.drawings.push_back(ChangeChart(whole));
  const AmountScale scale = AmountScale::ForPartsOf(std::max(whole.base, whole.comparison));
  constexpr std::size_t kIndent = 2, kMost = 4;
  std::vector<std::string> lines =
      ChangeLines(SummariseChange(whole, scale), scale, input_.options().screen_width - kIndent);
  if (lines.size() > kMost) lines.resize(kMost);
  for (std::string& line : lines) line.insert(0, kIndent, ' ');
  if (report.change.children.empty()) report.change = std::move(whole);  // of the longest phase
  return lines;
}

std::vector<std::string> ServingChanges::Describe(TimeNs base_e2e, TimeNs comparison_e2e,
                                                  Report& report) const {
  // The phases and sizes that take most time.
  constexpr std::size_t kMost = 6;
  std::vector<const BothSides*> common;
  std::array<std::vector<std::string>, 2> alone;
  for (const auto& [phase, sides] : phases_) {
    if (!sides[0].steps.empty() && !sides[1].steps.empty()) {
      common.push_back(&sides);
    } else {
      const std::size_t side = sides[0].steps.empty() ? 1 : 0;
      alone[side].push_back(
          fmt::format("{} ({})", NameOfPhase(sides),
                      Counted(static_cast<std::int64_t>(sides[side].steps.size()), "step")));
    }
  }
  std::ranges::stable_sort(common, [](const BothSides* a, const BothSides* b) {
    const auto time = [](const BothSides& sides) {
      return static_cast<std::int64_t>(sides[0].steps.size()) * sides[0].median;
    };
    return time(*a) > time(*b);
  });
  const AmountScale whole = AmountScale::ForPartsOf(std::max(base_e2e, comparison_e2e));
  std::vector<std::string> lines = {fmt::format(
      "end to end: {} -> {} {} ({})", whole.Text(whole.Rounded(base_e2e)),
      whole.Text(whole.Rounded(comparison_e2e)), whole.unit(), GrowthOf(base_e2e, comparison_e2e))};
  if (common.empty())
    lines.push_back("no phase and size of the steps is on both sides: nothing is compared");
  for (std::size_t i = 0; i < std::min(kMost, common.size()); ++i) {
    const OneSide &base = (*common[i])[0], &comparison = (*common[i])[1];
    const bool by_token = base.per_token > 0 && comparison.per_token >= 0;
    const TimeNs before = by_token ? base.per_token : base.median;
    const TimeNs after = by_token ? comparison.per_token : comparison.median;
    const AmountScale scale(Quantity::kTime, std::max(before, after));
    lines.push_back(fmt::format(
        "{}: {} -> {} {} a {} ({}), {}", NameOfPhase(*common[i]), scale.Text(scale.Rounded(before)),
        scale.Text(scale.Rounded(after)), scale.unit(), by_token ? "token" : "step",
        GrowthOf(before, after),
        base.steps.size() == comparison.steps.size()
            ? Counted(static_cast<std::int64_t>(base.steps.size()), "step")
            : fmt::format("{} steps instead of {}", comparison.steps.size(), base.steps.size())));
    // Steps of prefill have different numbers of tokens: those of the base count.
    const bool rescaled = by_token && comparison.median > 0 && comparison.per_token > 0;
    const double tokens_ratio = rescaled ? static_cast<double>(base.median) /
                                               static_cast<double>(base.per_token) /
                                               (static_cast<double>(comparison.median) /
                                                static_cast<double>(comparison.per_token))
                                         : 1.0;
    const bool same_tokens = std::abs(tokens_ratio - 1) < 0.001;
    for (std::string& line : Causes(*common[i], same_tokens ? 1.0 : tokens_ratio, report))
      lines.push_back(std::move(line));
  }
  if (common.size() > kMost)
    lines.push_back(fmt::format("and {} more, see the sheet ServingPhases", common.size() - kMost));
  for (std::size_t side = 0; side < kSidesInOrder.size(); ++side) {
    if (alone[side].empty()) continue;
    const std::size_t all = alone[side].size();
    if (all > kMost) alone[side].resize(kMost);
    lines.push_back(fmt::format("only in the {}:", side == 0 ? "base" : "comparison"));
    for (const std::string& name : alone[side]) lines.push_back("  " + name);
    AddMoreLine(all, alone[side].size(), "size", lines);
  }
  return lines;
}

Sheet ServingChanges::MakeSheet() const {
  std::vector<Column> columns = {
      Means(Text("Phase"), "prefill, decode, mixed, dummy or unknown."),
      Means(Text("Size", 24), "Steps of one phase and size are compared with each other.")};
  std::vector<Column> of_side = {
      Means(Text("Steps"), "Number of steps, without those of warm-up."),
      Means(Decimals("Median Duration(us)"), "Median of the time from step to step."),
      Means(Decimals("Time per Token(us)"),
            "Median of what a token takes: of decoding how long a request waits for one, of "
            "prefill the step by tokens of the prompts.")};
  for (std::size_t part = 0; part < kServingParts; ++part) {
    const std::string title(TitleOf(static_cast<ServingPart>(part)));
    of_side.push_back(
        Means(Decimals(fmt::format("{}(us)", title)), fmt::format("Of the mean step: {}.", title)));
  }
  AppendColumns(ForBothSides(of_side), columns);
  columns.push_back(Means(Growth("Diff Ratio"), RatioMeaning("Time per token, or else the step,")));
  Sheet sheet = CompareSheet("ServingPhases", std::move(columns), input_);
  for (const auto& [phase, sides] : phases_) {
    const std::size_t known = sides[0].steps.empty() ? 1 : 0;
    Row row{{std::string(NameOf(phase.first)),
             SizeText(steps_[known][sides[known].steps.front()].batch)}};
    for (const OneSide& side : sides) {
      if (side.steps.empty()) {
        row.cells.resize(row.cells.size() + of_side.size());
        continue;
      }
      const auto steps = static_cast<std::int64_t>(side.steps.size());
      AppendCells(row, steps, InUs(side.median),
                  side.per_token >= 0 ? Cell(InUs(side.per_token)) : Cell());
      for (const TimeNs time : side.times) {
        AppendCells(row, InUs(time) / static_cast<double>(steps));
      }
    }
    const bool both = !sides[0].steps.empty() && !sides[1].steps.empty();
    const bool by_token = sides[0].per_token > 0 && sides[1].per_token >= 0;
    const auto value = [&](const OneSide& side) {
      return static_cast<double>(by_token ? side.per_token : side.median);
    };
    row.cells.push_back(both && value(sides[0]) > 0 ? Cell(value(sides[1]) / value(sides[0]))
                                                    : Cell());
    sheet.rows.push_back(std::move(row));
  }
  return sheet;
}

}  // namespace mpa
