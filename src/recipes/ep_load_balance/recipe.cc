// SPDX-License-Identifier: Apache-2.0
// How evenly the tokens of a model of experts are spread over the ranks.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/kernel_category.h"
#include "mpa/mfu/flops.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"
#include "mpa/report/screen_list.h"

namespace mpa::recipes::ep_load_balance {
namespace {

constexpr Option<std::string> kGroupName{"group_name", "NAME",
                                         "The job's name for the groups of experts", "exp"};
struct ExpertTokens {
  std::string ep_ranks;  // "0,1,2,3"; empty: the capture does not say
  std::int64_t tokens = 0;
  std::int64_t kernels = 0;  // with shapes that tell tokens
  std::int64_t skipped = 0;  // without
  bool knows_group = false;
  bool on_gpu = false;
};

std::string_view WithoutAround(std::string_view text, std::string_view characters) {
  const std::size_t begin = text.find_first_not_of(characters);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(characters) + 1 - begin);
}

// "100" of "100,64"; no shape has a larger size.
std::optional<std::int64_t> FirstDimension(std::string_view shape) {
  return WholeNumber<std::uint32_t>(WithoutAround(shape.substr(0, shape.find(',')), " "));
}

// The inputs but for the last two, which are not tokens: their first sizes together. Inputs without
// a shape do not count. Empty where the shapes do not tell.
std::optional<std::int64_t> TokensOf(std::string_view shapes) {
  std::vector<std::string_view> inputs;
  for (const std::string_view input : Split(WithoutAround(shapes, "\""), ';')) {
    if (!input.empty()) inputs.push_back(input);
  }
  if (inputs.size() < 2) return std::nullopt;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i + 2 < inputs.size(); ++i) {
    const auto size = FirstDimension(inputs[i]);
    if (!size) return std::nullopt;
    tokens += *size;
  }
  return tokens;
}

// Grouped products that are fused with other work order their inputs otherwise: only those of the
// plain operator and its versions tell their tokens.
std::optional<std::int64_t> ExpertTokensOf(const RankTrace& trace, std::size_t kernel) {
  const std::string_view type = trace.strings.View(trace.kernels.op_type[kernel]);
  if (FlopsFamilyOf(type) != FlopsFamily::kGroupedMatMul) return std::nullopt;
  return TokensOf(trace.strings.View(trace.kernels.shapes[kernel]));
}

ExpertTokens MapEpLoadBalance(const RankTrace& trace, const RecipeArguments& arguments) {
  ExpertTokens part;
  part.on_gpu = trace.device == DeviceKind::kGpu;
  const std::string wanted = arguments[kGroupName];
  for (const JobGroup& group : trace.job.groups) {
    if (group.name != wanted) continue;
    part.ep_ranks = RankNames(group.ranks, ",");
    part.knows_group = true;
    break;
  }
  const KernelClassifier classes(trace);
  for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
    if (classes.OwnClassOf(i) != KernelClass::kGroupedMatmul) continue;
    const auto tokens = ExpertTokensOf(trace, i);
    ++(tokens ? part.kernels : part.skipped);
    part.tokens += tokens.value_or(0);
  }
  return part;
}

using ExpertRank = OfRank<ExpertTokens>;
using Ranks = std::vector<ExpertRank>;

struct ExpertGroup {
  std::string ep_ranks;
  std::vector<RankValue> tokens;
  std::int64_t difference = 0;
};

// The greatest difference first.
std::vector<ExpertGroup> ExpertGroups(const Ranks& ranks) {
  std::map<std::string, std::vector<const ExpertRank*>> members;
  for (const ExpertRank& rank : ranks) {
    if (rank.part.kernels > 0) members[rank.part.ep_ranks].push_back(&rank);
  }
  std::vector<ExpertGroup> groups;
  for (const auto& [ep_ranks, of_group] : members) {
    ExpertGroup& group = groups.emplace_back();
    group.ep_ranks = ep_ranks;
    const auto [least, most] = std::minmax_element(
        of_group.begin(), of_group.end(),
        [](const ExpertRank* a, const ExpertRank* b) { return a->part.tokens < b->part.tokens; });
    group.difference = (*most)->part.tokens - (*least)->part.tokens;
    for (const ExpertRank* rank : of_group) {
      group.tokens.push_back({rank->rank, static_cast<double>(rank->part.tokens)});
    }
  }
  StableSort(groups, std::greater(), &ExpertGroup::difference);
  return groups;
}

void AddEpSheets(const Ranks& ranks, const std::vector<ExpertGroup>& groups, Report& report) {
  const std::vector<ColumnOf<ExpertRank>> rank_columns = {
      CountColumn<&ExpertRank::rank, kRank>("rank", 10, "The rank."),
      {NamedColumn("epRanks", Format::kText, 30,
                   "The ranks that share experts with this rank, joined by ','; empty where the"
                   " capture does not say."),
       [](const ExpertRank& rank) -> Cell { return rank.part.ep_ranks; }},
      {NamedColumn("inputShapesSummary", Format::kInteger, 18,
                   "The first sizes of the inputs of all GroupedMatmul kernels together, without"
                   " the last two of each: tokens with their padding."),
       [](const ExpertRank& rank) -> Cell { return rank.part.tokens; }}};
  const std::vector<ColumnOf<ExpertGroup>> group_columns = {
      TextColumn<&ExpertGroup::ep_ranks>("epRanks", 30, "The ranks that share experts."),
      CountColumn<&ExpertGroup::difference>(
          "tokensDiff", 14,
          "Tokens of the rank with the most minus those of the rank with the fewest.")};
  ItemSheet summary({"EPTokensSummary", ToTranslate("Tokens of the experts on each rank")},
                    rank_columns);
  ItemSheet top({"TopEPTokensInfo", ToTranslate("The kernels with the most tokens")},
                group_columns);
  summary.sheet.charts = {{.kind = Chart::Kind::kBars,
                           .title = "Tokens of each rank",
                           .labels = {"rank"},
                           .values = {{"inputShapesSummary", Tint::kCompute}},
                           .measured = Measured::kCount,
                           .counted = "tokens",
                           .of_ranks = true}};
  top.sheet.charts = {{.kind = Chart::Kind::kBars,
                       .title = "Tokens of the fullest rank beyond those of the emptiest, by group",
                       .labels = {"epRanks"},
                       .values = {{"tokensDiff"}},
                       .measured = Measured::kCount,
                       .counted = "tokens"}};
  for (const ExpertRank& rank : ranks) {
    if (rank.part.kernels > 0) summary.Add(rank, BeginRank(rank.rank, report));
  }
  constexpr std::size_t kTop = 20;
  for (std::size_t i = 0; i < std::min(kTop, groups.size()); ++i) top.Add(groups[i]);
  report.sheets = {std::move(summary.sheet), std::move(top.sheet)};
}

std::string GroupText(const ExpertGroup& group) {
  return group.ep_ranks.empty() ? "unknown" : group.ep_ranks;
}

void AddEpLines(const std::vector<ExpertGroup>& groups, Report& report) {
  if (groups.empty()) return;
  const RankSpread first = SpreadOf(groups.front().tokens);
  if (first.median > 0) {
    AddSentence(Say("{} has {:.2f} times the tokens of the median of its group",
                    RankText(first.max.rank), first.max.value / first.median),
                report.lines);
  }
  report.lines.push_back(Say("tokens of {} of ranks that share experts; the most uneven first:",
                             Counted(groups.size(), "group")));
  const ScreenList list(2, {ScreenName("ranks", 22), ScreenNumber("min", 11),
                            ScreenNumber("median", 11), ScreenNumber("max (rank)", 11),
                            ScreenNumber("", 5), ScreenNumber("max / median", 12, 2)});
  report.lines.push_back(list.Heading());
  constexpr std::size_t kShown = 10;
  OutlierLines outliers;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const ExpertGroup& group = groups[i];
    outliers.Add("tokens", group.tokens,
                 [](double tokens) { return fmt::format("{:.0f}", tokens); });
    if (i >= kShown) continue;
    const RankSpread spread = SpreadOf(group.tokens);
    std::vector<Cell> cells = SpreadCells({GroupText(group)}, group.tokens);
    cells.push_back(spread.median > 0 ? Cell(spread.max.value / spread.median) : Cell());
    report.lines.push_back(list.LineOf(cells));
  }
  AddMoreLine(groups.size(), kShown, "group", report.lines);
  outliers.AppendTo(report.lines);
}

void AddEpNotes(const Ranks& ranks, Report& report) {
  std::int64_t skipped = 0;
  std::vector<RankId> without_group, without_kernels;
  for (const auto& [rank, part] : ranks) {
    skipped += part.skipped;
    if (part.kernels == 0) without_kernels.push_back(rank);
    if (part.kernels > 0 && !part.knows_group) without_group.push_back(rank);
  }
  if (!without_kernels.empty()) {
    report.notes.push_back(
        Say("{} of {} ranks have no grouped matmul kernels with shapes (first: {}); {}",
            without_kernels.size(), ranks.size(), RankText(without_kernels.front()),
            Translated(ranks.front().part.on_gpu ? "kernels of GPUs have no shapes"
                                                 : "models without experts have none; shapes need"
                                                   " profiler_level=Level1")));
  }
  if (!without_group.empty()) {
    report.notes.push_back(
        Say("{} ranks name no group of experts (first: {}) and are compared as one group;"
            " --group_name gives its name if it is not exp",
            without_group.size(), RankText(without_group.front())));
  }
  if (skipped > 0) {
    report.notes.push_back(
        Say("grouped matmul kernels left out because their shapes show no tokens: {}", skipped));
  }
}

void ReduceEpLoadBalance(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                         Report& report) {
  const std::vector<ExpertGroup> groups = ExpertGroups(ranks);
  if (wanted.sheets) AddEpSheets(ranks, groups, report);
  if (wanted.screen != Detail::kNone) AddEpLines(groups, report);
  AddEpNotes(ranks, report);
}

Verdict JudgeEpLoadBalance(const RankFacts& facts) {
  return JudgeNpuKernels(facts, "kernels of GPUs have no shapes", "shapes")
      .Refuse(facts.recorded.kernel_types == Recorded::kNo, "kernels have no types and shapes",
              "profiler_level=Level1");
}

}  // namespace

Recipe EpLoadBalance() {
  return MakeRecipe<MapEpLoadBalance, ReduceEpLoadBalance>(
      {.name = "ep_load_balance",
       .folder = "EPLoadBalance",
       .summary = "how evenly tokens are spread over the ranks that share experts",
       .needs = Tables::kKernels | Tables::kJobInfo,
       .options = {kGroupName},
       .can_run = JudgeEpLoadBalance,
       .only_with = "layers of experts"});
}

}  // namespace mpa::recipes::ep_load_balance
