// SPDX-License-Identifier: Apache-2.0
// The lines below the table: what changed, and what has changed most.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/change/account_change.h"
#include "mpa/change/account_names.h"
#include "mpa/change/long_step.h"
#include "mpa/change/step_account.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/memory_growth.h"
#include "mpa/measure/op_tree.h"
#include "mpa/measure/quantiles.h"
#include "mpa/model/step_bounds.h"
#include "mpa/report/amount.h"
#include "overall.h"

namespace mpa {
namespace {

bool AnyKernelHasType(const RankTrace& trace) {
  const std::vector<StringId>& types = trace.kernels.op_type;
  return std::ranges::any_of(types, [](StringId type) { return type != StringId::kEmpty; });
}

// How often kernels ran in the median step, by type or name.
TimesByName CountKernels(const RankTrace& trace, const RankAccount& account, bool by_type,
                         bool together) {
  StepTable counts(together ? 1 : account.steps.size());
  const StepBounds bounds(trace, account.clock.offset);
  const Kernels& kernels = trace.kernels;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const auto step =
        trace.steps.Empty() ? 0 : bounds.OfDeviceWork(kernels.link[i], kernels.start[i]);
    if (!step || *step >= account.steps.size()) continue;
    const bool typed = by_type && kernels.op_type[i] != StringId::kEmpty;
    counts.Add(trace.strings.View(typed ? kernels.op_type[i] : kernels.name[i]),
               together ? 0 : *step, 0);
  }
  return counts.Medians();
}

// "dp" of "dp (data parallel, 8 ranks)", unless there are others of that name.
std::string ShortMeaning(std::string meaning) {
  const bool numbered = meaning.find('#') != std::string::npos;
  return numbered ? meaning : meaning.substr(0, meaning.find(Translated(" (")));
}

// What the groups of a side are called for both.
using GroupNames = std::map<std::string_view, std::string>;

GroupNames NameGroups(const OverallMetrics& base, const OverallMetrics& comparison, Side side) {
  GroupNames names;
  if (std::max(base.groups.size(), comparison.groups.size()) < 2) return names;
  for (const GroupPair& pair : MatchAllGroups(base, comparison)) {
    const GroupTime* group = side == Side::kBase ? pair.base : pair.comparison;
    if (group == nullptr) continue;
    names[group->name] = ShortMeaning(GroupMeaning(base, comparison, pair));
  }
  return names;
}

// Where the time of the median step of a side went.
struct SideAccount {
  AccountTimes times;
  TimeNs step = 0;
  std::size_t steps = 0;  // 0: all device work is one
};

std::vector<TimeNs> LengthsOf(const RankAccount& account) {
  std::vector<TimeNs> lengths;
  for (const StepAccount& step : account.steps)
    lengths.push_back(step.window.end - step.window.begin);
  return lengths;
}

SideAccount AccountSide(const RankTrace& trace, const RankAccount& account,
                        const GroupNames& groups, bool by_type, bool together) {
  const auto group_of = [&](std::size_t row) -> std::string {
    const std::int32_t group = trace.communications.group[row];
    if (group < 0) return "";
    const auto found =
        groups.find(trace.strings.View(trace.comm_groups.name[static_cast<std::size_t>(group)]));
    return found == groups.end() ? "" : found->second;
  };
  SideAccount side;
  side.times =
      MedianAccount(trace, account, 0, {.kernel_types = by_type, .group = group_of}, together);
  side.times.kernels = CountKernels(trace, account, by_type, together);
  side.steps = static_cast<std::size_t>(
      std::ranges::count_if(account.steps, [](const StepAccount& step) { return step.id >= 0; }));
  const std::vector<TimeNs> lengths = LengthsOf(account);
  side.step =
      together ? std::accumulate(lengths.begin(), lengths.end(), TimeNs{0}) : Median(lengths);
  return side;
}

std::string StepsText(std::size_t base, std::size_t comparison) {
  const auto text = [](std::size_t steps) -> std::string {
    return steps == 0 ? Say("all device work") : Counted(steps, "step");
  };
  if (std::max(base, comparison) <= 1 || std::min(base, comparison) == 0) {
    return base == comparison ? (base == 1 ? "step" : text(base))
                              : Say("{} instead of {}", text(comparison), text(base));
  }
  if (base == comparison) return Say("median of {}", text(base));
  return Say("median step ({} instead of {})", text(comparison), text(base));
}

// One step that takes much longer than the others, on one side alone; empty: there is none.
std::string LongStepLine(const CompareInput& input, const std::array<RankAccount, 2>& accounts) {
  const auto found = FindLongStep(LengthsOf(accounts[0]), LengthsOf(accounts[1]));
  if (!found) return "";
  const std::size_t side = found->in_comparison ? 1 : 0;
  const RankAccount& account = accounts[side];
  return LongStepText(*found, account.steps[found->position].id,
                      CauseOfStep(input.Trace(kSides[side]), account, found->position));
}

ChangeNode StepChange(const CompareInput& input, const OverallMetrics& base,
                      const OverallMetrics& comparison, std::array<RankAccount, 2> accounts,
                      std::string& long_step) {
  const RankTrace& base_trace = input.Trace(Side::kBase);
  const RankTrace& comparison_trace = input.Trace(Side::kComparison);
  const bool by_type = AnyKernelHasType(base_trace) && AnyKernelHasType(comparison_trace);
  // A capture without steps is compared with all steps of the other one.
  const bool together = base_trace.steps.Empty() || comparison_trace.steps.Empty();
  if (!together) long_step = LongStepLine(input, accounts);
  // One after the other: the lines of the program take much memory while they are looked up.
  std::array<SideAccount, 2> sides;
  for (std::size_t i = 0; i < kSides.size(); ++i) {
    sides[i] = AccountSide(input.Trace(kSides[i]), std::exchange(accounts[i], {}),
                           NameGroups(base, comparison, kSides[i]), by_type, together);
  }
  ChangeNode whole =
      AccountChange(StepsText(sides[0].steps, sides[1].steps), sides[0].times, sides[1].times);
  whole.base = sides[0].step;
  whole.comparison = sides[1].step;
  // Medians of parts need not add up to the median step.
  if (!together && std::max(sides[0].steps, sides[1].steps) > 1)
    AddRest(kRemainder, "other", whole);
  if (base_trace.device != comparison_trace.device) {
    // Kernels of an NPU and of a GPU have no names in common.
    for (ChangeNode& part : whole.children) {
      if (part.name == kComputing) part.children.clear();
    }
  }
  return whole;
}

// "memory grows by 12.3 MB a step (base 0.0)"; empty where both sides grow alike.
std::string MemoryGrowthLine(const CompareInput& input) {
  constexpr std::int64_t kLeast = 1'000'000;
  const auto base = AllocatedGrowth(input.Trace(Side::kBase));
  const auto comparison = AllocatedGrowth(input.Trace(Side::kComparison));
  if (!base || !comparison) return "";
  const std::int64_t before = std::max<std::int64_t>(0, *base);
  const std::int64_t after = std::max<std::int64_t>(0, *comparison);
  if (std::abs(after - before) < kLeast) return "";
  const AmountScale scale(Quantity::kBytes, std::max(before, after));
  return Say("memory grows by {} {} a step (base {})", scale.Text(scale.Rounded(after)),
             scale.unit(), scale.Text(scale.Rounded(before)));
}

// --- Operators of one side only ---

std::set<std::string_view> NamesOfOps(const RankTrace& trace) {
  std::set<std::string_view> names;
  for (const StringId name :
       std::set<StringId>(trace.host_ops.name.begin(), trace.host_ops.name.end())) {
    const std::string_view text = trace.strings.View(name);
    if (!IsStepMark(text) && !IsRuntimeCall(text)) names.insert(text);
  }
  return names;
}

// "12 operators only in the comparison, 4 only in the base"; empty when both sides have the same.
std::string OneSidedOps(const CompareInput& input) {
  const auto base = NamesOfOps(input.Trace(Side::kBase));
  const auto comparison = NamesOfOps(input.Trace(Side::kComparison));
  if (base.empty() || comparison.empty()) return "";
  const auto alone = [](const auto& names, const auto& others) {
    return std::ranges::count_if(names,
                                 [&](std::string_view name) { return !others.contains(name); });
  };
  const auto in_base = alone(base, comparison), in_comparison = alone(comparison, base);
  if (in_comparison == 0)
    return in_base == 0 ? "" : Say("{} only in the base", Counted(in_base, "operator"));
  const std::string operators = Counted(in_comparison, "operator");
  return in_base == 0 ? Say("{} only in the comparison", operators)
                      : Say("{} only in the comparison, {} only in the base", operators, in_base);
}

}  // namespace

std::vector<std::string> DescribeChanges(const CompareInput& input, const OverallMetrics& base,
                                         const OverallMetrics& comparison,
                                         std::array<RankAccount, 2> accounts, Report& report) {
  if (base.e2e == 0 || comparison.e2e == 0) return {};
  std::string long_step;
  ChangeNode whole = StepChange(input, base, comparison, std::move(accounts), long_step);
  const std::vector<ChangeNode> changed = CategoriesOf(whole);
  const bool same =
      std::ranges::all_of(changed, [](const ChangeNode& node) { return node.Change() == 0; });
  std::string growth = MemoryGrowthLine(input);
  if (base.e2e == comparison.e2e && same) {
    std::vector<std::string> lines = {Say("end to end: no change")};
    if (!growth.empty()) lines.push_back(std::move(growth));
    return lines;
  }
  report.drawings.push_back(ChangeChart(whole));
  const AmountScale scale = AmountScale::ForPartsOf(std::max(base.e2e, comparison.e2e));
  std::vector<std::string> lines;
  const auto add = [&](std::string_view name, TimeNs before, TimeNs after) {
    lines.push_back(Say("{}: {} {} ({})", name, scale.Signed(scale.Rounded(after - before)),
                        scale.unit(), GrowthOf(before, after)));
  };
  if (whole.base == base.e2e && whole.comparison == comparison.e2e) {
    add(Translated("end to end"), base.e2e, comparison.e2e);
  } else {
    lines.push_back(Say("end to end: {} -> {} {} ({})", scale.Text(scale.Rounded(base.e2e)),
                        scale.Text(scale.Rounded(comparison.e2e)), scale.unit(),
                        GrowthOf(base.e2e, comparison.e2e)));
    add(Translated(whole.name), whole.base, whole.comparison);
  }
  if (!long_step.empty()) lines.push_back(std::move(long_step));
  if (!growth.empty()) lines.push_back(std::move(growth));
  constexpr std::size_t kIndent = 2;
  const std::size_t width = input.options().screen_width - kIndent;
  for (const std::string& line : ChangeLines(SummariseChange(whole, scale), scale, width)) {
    lines.push_back("  " + line);
  }
  if (const std::string ops = OneSidedOps(input); !ops.empty()) lines.push_back("  " + ops);
  report.change = std::move(whole);
  return lines;
}

}  // namespace mpa
