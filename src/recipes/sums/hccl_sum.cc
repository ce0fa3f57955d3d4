// SPDX-License-Identifier: Apache-2.0
// How long the communication operators of every rank ran, and which took longest.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/measure/collectives.h"
#include "mpa/recipe/job_collectives.h"
#include "sums.h"

namespace mpa::recipes::sums {
namespace {

using namespace sums;

constexpr Option<std::size_t> kTopNum{"top_num", "N", "Operators with the longest mean to list",
                                      15};
enum Grouping : std::size_t { kByType, kByName, kByGroup };

// "210" of hcom_allReduce__210_0_1; else the last digits of the group's hash.
std::string GroupIdOf(std::string_view op, std::string_view group) {
  const std::size_t mark = op.find("__");
  if (mark != std::string_view::npos) {
    const std::string_view rest = op.substr(mark + 2);
    const std::string_view id = rest.substr(0, rest.find('_'));
    if (!id.empty() && id.find_first_not_of("0123456789") == std::string_view::npos) {
      return std::string(id);
    }
  }
  return fmt::format("{:03}", GroupHash(group) % 1000);
}

// The groups of ranks, by id and name, without durations.
Groups CommGroups(const RankTrace& trace) {
  const Communications& ops = trace.communications;
  std::set<std::int32_t> seen;
  std::map<Key, DurationSample> groups;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    if (ops.group[i] < 0 || !seen.insert(ops.group[i]).second) continue;
    const auto row = static_cast<std::size_t>(ops.group[i]);
    const std::string_view name = BareGroupName(trace.strings.View(trace.comm_groups.name[row]));
    groups[{.texts = {GroupIdOf(trace.strings.View(ops.name[i]), name), std::string(name)}}];
  }
  return {groups.begin(), groups.end()};
}

Part MapHcclSum(const RankTrace& trace, const RecipeArguments&) {
  const Communications& ops = trace.communications;
  return {{GroupBy(
               ops.dur, [&](std::size_t i) { return OperatorTypeOf(trace, i); },
               [](const std::string& type) { return std::vector{type.empty() ? "N/A" : type}; }),
           GroupBy(
               ops.dur, [&](std::size_t i) { return ops.name[i]; },
               [&](StringId name) { return std::vector{std::string(trace.strings.View(name))}; }),
           CommGroups(trace)}};
}

Cell RanksOfGroup(const GroupRow& row) {
  std::set<RankId> ranks;
  for (const RankValue& mean : row.means) ranks.insert(mean.rank);
  return RankNames(ranks, ";");
}

std::vector<SumSheet> HcclSheets(const RecipeArguments& arguments) {
  const std::size_t most = arguments[kTopNum];
  const auto type = KeyColumn<0>("OpType", 36, "Type of the operator.");
  return {
      {{"HcclAllRankStats", ToTranslate("Communication operators by type, over all ranks")},
       {"all_stats"},
       kByType,
       /*each_rank=*/false,
       WithStats({type}),
       LargestSumFirst,
       SIZE_MAX,
       {LargestBars("Time of communication by type, all ranks", {"OpType"},
                    {{"SumNs", Tint::kUnsplit}}, Measured::kNs, Chart::SameLabel::kSum),
        BoxesOf("How long an operator takes", {"OpType"})}},
      {{"HcclPerRankStats", ToTranslate("Communication operators by type, on each rank")},
       {"rank_stats"},
       kByType,
       /*each_rank=*/true,
       WithStats({type}, {RankColumn()}),
       nullptr,
       SIZE_MAX,
       {SumsOfEachRank("Time of communication on each rank", Tint::kUnsplit)}},
      {{"HcclTopOpStats", ToTranslate("The longest communication operators")},
       {"top_op_stats"},
       kByName,
       /*each_rank=*/false,
       WithStats({KeyColumn<0>("OpName", 36, "The operator.")}, {MinRankColumn(), MaxRankColumn()}),
       [](const GroupRow& a, const GroupRow& b) { return a.stats.mean > b.stats.mean; },
       most,
       {BoxesOf("The operators that take longest", {"OpName"})}},
      {{"HcclGroupNameMap", ToTranslate("Names of process groups")},
       {"group_name_map"},
       kByGroup,
       /*each_rank=*/false,
       {KeyColumn<1>("GroupName", 50, "The group."),
        KeyColumn<0>("GroupId", 10, "The number of the group in the names of its operators."),
        {NamedColumn("Ranks", Format::kText, 30, "Captured ranks of the group, joined by ';'."),
         RanksOfGroup}}}};
}

void AddHcclLines(SumTables& tables, Report& report) {
  const std::vector<GroupRow>& all = tables.Rows(0);
  if (all.empty()) return;
  const LargestSum first = LargestOf(all);
  AddSentence(Say("{} takes most of the communication: {:.3f} of {:.3f} ms ({:.0f} %) on {}",
                  first.name, first.own, first.all, first.percent, tables.RankCountText()),
              report.lines);
  AppendList({.list = {2,
                       {ScreenName("type", 30), ScreenNumber("count", 8), ScreenMs("median ms", 12),
                        ScreenMs("max ms", 12), ScreenMs("sum ms", 12)}},
              .cells =
                  [](const GroupRow& row) {
                    return std::vector<Cell>{row.key.texts[0], row.stats.count,
                                             CellOf(row.stats.median), row.stats.max,
                                             row.stats.sum};
                  },
              .shown = 8,
              .noun = "type"},
             all, report);
  report.lines.emplace_back(
      Say("the longest operators, and the ranks with the shortest and the longest:"));
  constexpr std::size_t kShown = 6;
  const std::vector<GroupRow>& longest = tables.Rows(2);
  for (std::size_t i = 0; i < std::min(kShown, longest.size()); ++i) {
    const GroupRow& row = longest[i];
    report.lines.push_back(Say("  {} {:>10.3f} ms ({}) to {:>10.3f} ms ({})",
                               NameCell(row.key.texts[0], 34), InMs(row.stats.min),
                               RankName(row.min_ranks.front()), InMs(row.stats.max),
                               RankName(row.max_ranks.front())));
  }
}

}  // namespace

Recipe HcclSum() {
  return SumRecipe<MapHcclSum, HcclSheets, AddHcclLines, 1, 1, 2>(
      {.name = "hccl_sum",
       .folder = "HcclSum",
       .summary = "how long communication operators ran, and which took longest",
       .needs = Tables::kCommunications,
       .options = {kTopNum},
       .can_run = JudgeCommunication});
}

}  // namespace mpa::recipes::sums
