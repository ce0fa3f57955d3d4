// SPDX-License-Identifier: Apache-2.0
// How long the communication operators of every rank ran, and which took longest.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "mpa/measure/collectives.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/duration_sample.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/member_columns.h"

namespace mpa::recipes {
namespace {

constexpr std::string_view kTopNum = "top_num";

using Samples = std::vector<std::pair<std::string, DurationSample>>;

struct CollectiveOps {
  Samples by_type, by_name;
  std::vector<std::pair<std::string, std::string>> groups;  // name, id
};

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

Samples SamplesOf(std::map<std::string, std::vector<TimeNs>> durations) {
  Samples samples;
  for (auto& [key, values] : durations)
    samples.emplace_back(key, DurationSample(std::move(values)));
  return samples;
}

CollectiveOps MapHcclSum(const RankTrace& trace, const RecipeArguments&) {
  const Communications& ops = trace.communications;
  std::map<std::string, std::vector<TimeNs>> types, names;
  std::map<std::int32_t, std::string> ids;
  for (std::size_t i = 0; i < ops.Size(); ++i) {
    const std::string_view name = trace.strings.View(ops.name[i]);
    const std::string type = OperatorTypeOf(trace, i);
    types[type.empty() ? "N/A" : type].push_back(ops.dur[i]);
    names[std::string(name)].push_back(ops.dur[i]);
    const std::int32_t group = ops.group[i];
    if (group >= 0 && !ids.contains(group)) {
      const auto row = static_cast<std::size_t>(group);
      ids[group] = GroupIdOf(name, BareGroupName(trace.strings.View(trace.comm_groups.name[row])));
    }
  }
  CollectiveOps part{SamplesOf(std::move(types)), SamplesOf(std::move(names)), {}};
  for (const auto& [group, id] : ids) {
    const auto row = static_cast<std::size_t>(group);
    part.groups.emplace_back(BareGroupName(trace.strings.View(trace.comm_groups.name[row])), id);
  }
  return part;
}

struct OpItem {
  std::string key;
  DurationStats stats;
  std::int64_t rank = -1, min_rank = -1, max_rank = -1;
};
struct GroupItem {
  std::string name, id;
  std::set<std::int64_t> ranks;
};

std::vector<ColumnOf<OpItem>> OpColumns(const char* key, const char* meaning) {
  std::vector<ColumnOf<OpItem>> columns = {
      {NamedColumn(key, Format::kText, 36, meaning), Member<&OpItem::key>}};
  AddStatsColumns(columns);
  return columns;
}

ColumnOf<OpItem> RankColumn(const char* name, const char* meaning, Cell (*cell)(const OpItem&)) {
  return {NamedColumn(name, Format::kInteger, 10, meaning), cell};
}

std::vector<ColumnOf<GroupItem>> GroupColumns() {
  return {{NamedColumn("GroupName", Format::kText, 50, "The group."), Member<&GroupItem::name>},
          {NamedColumn("GroupId", Format::kText, 10,
                       "The number of the group in the names of its operators."),
           Member<&GroupItem::id>},
          {NamedColumn("Ranks", Format::kText, 30, "Its ranks that were captured, joined by ';'."),
           [](const GroupItem& item) -> Cell {
             return fmt::format("{}", fmt::join(item.ranks, ";"));
           }}};
}

using Ranks = std::vector<OfRank<CollectiveOps>>;

std::vector<OpItem> AllTypes(const Ranks& ranks) {
  std::map<std::string, DurationSample> samples;
  for (const auto& rank : ranks) {
    for (const auto& [type, sample] : rank.part.by_type) samples[type].Merge(sample);
  }
  std::vector<OpItem> items;
  for (const auto& [type, sample] : samples) items.push_back({type, StatsOf(sample)});
  std::stable_sort(items.begin(), items.end(),
                   [](const OpItem& a, const OpItem& b) { return a.stats.sum > b.stats.sum; });
  return items;
}

// The operators with the longest mean, with the first ranks that have the least and the most.
std::vector<OpItem> TopOps(const Ranks& ranks, std::size_t most) {
  struct Op {
    DurationSample sample;
    std::pair<TimeNs, std::int64_t> min, max;
  };
  std::map<std::string, Op> ops;
  for (const auto& rank : ranks) {
    for (const auto& [name, sample] : rank.part.by_name) {
      const TimeNs min = sample.Values().front().first, max = sample.Values().back().first;
      const auto [found, is_new] = ops.try_emplace(name);
      Op& op = found->second;
      if (is_new || min < op.min.first) op.min = {min, rank.rank};
      if (is_new || max > op.max.first) op.max = {max, rank.rank};
      op.sample.Merge(sample);
    }
  }
  std::vector<OpItem> items;
  for (const auto& [name, op] : ops) {
    items.push_back({name, StatsOf(op.sample), -1, op.min.second, op.max.second});
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const OpItem& a, const OpItem& b) { return a.stats.mean > b.stats.mean; });
  if (items.size() > most) items.resize(most);
  return items;
}

std::vector<GroupItem> GroupsOf(const Ranks& ranks) {
  std::map<std::pair<std::string, std::string>, GroupItem> groups;  // by id, name
  for (const auto& rank : ranks) {
    for (const auto& [name, id] : rank.part.groups) {
      GroupItem& group = groups[{id, name}];
      group.name = name;
      group.id = id;
      group.ranks.insert(rank.rank);
    }
  }
  std::vector<GroupItem> items;
  for (auto& [key, group] : groups) items.push_back(std::move(group));
  return items;
}

void AddSheets(const Ranks& ranks, const std::vector<OpItem>& all, const std::vector<OpItem>& top,
               Report& report) {
  const auto all_columns = OpColumns("OpType", "Type of the operator.");
  auto rank_columns = all_columns;
  rank_columns.push_back(RankColumn("Rank", "The rank.", Member<&OpItem::rank>));
  auto top_columns = OpColumns("OpName", "The operator.");
  top_columns.push_back(
      RankColumn("MinRank", "The first rank with the shortest.", Member<&OpItem::min_rank>));
  top_columns.push_back(
      RankColumn("MaxRank", "The first rank with the longest.", Member<&OpItem::max_rank>));
  const auto group_columns = GroupColumns();
  Sheet sums = SheetOf("HcclAllRankStats", all_columns, {"all_stats"});
  Sheet of_ranks = SheetOf("HcclPerRankStats", rank_columns, {"rank_stats"});
  Sheet tops = SheetOf("HcclTopOpStats", top_columns, {"top_op_stats"});
  Sheet groups = SheetOf("HcclGroupNameMap", group_columns, {"group_name_map"});
  for (const OpItem& item : all) AddRow(all_columns, item, 0, sums);
  for (const auto& [id, part] : ranks) {
    const std::size_t rank = BeginRank(id, report);
    for (const auto& [type, sample] : part.by_type) {
      AddRow(rank_columns, OpItem{type, StatsOf(sample), id}, rank, of_ranks);
    }
  }
  for (const OpItem& item : top) AddRow(top_columns, item, 0, tops);
  for (const GroupItem& item : GroupsOf(ranks)) AddRow(group_columns, item, 0, groups);
  report.sheets = {std::move(sums), std::move(of_ranks), std::move(tops), std::move(groups)};
}

void AddLines(const Ranks& ranks, const std::vector<OpItem>& all, const std::vector<OpItem>& top,
              Report& report) {
  const auto ms = [](double time) { return time / 1e6; };
  report.lines.push_back(fmt::format("communication operators of {} rank{}", ranks.size(),
                                     ranks.size() == 1 ? "" : "s"));
  report.lines.push_back(fmt::format("  {:<30} {:>8} {:>12} {:>12} {:>12}", "type", "count",
                                     "median ms", "max ms", "sum ms"));
  constexpr std::size_t kShownTypes = 8, kShownOps = 6;
  for (std::size_t i = 0; i < std::min(kShownTypes, all.size()); ++i) {
    const DurationStats& stats = all[i].stats;
    report.lines.push_back(fmt::format(
        "  {:<30.30} {:>8} {:>12.3f} {:>12.3f} {:>12.3f}", all[i].key, stats.count,
        ms(stats.median), ms(static_cast<double>(stats.max)), ms(static_cast<double>(stats.sum))));
  }
  if (all.size() > kShownTypes) {
    report.lines.push_back(fmt::format("  ... {} more types", all.size() - kShownTypes));
  }
  report.lines.push_back("the longest operators, and the ranks with the shortest and the longest:");
  for (std::size_t i = 0; i < std::min(kShownOps, top.size()); ++i) {
    const OpItem& op = top[i];
    report.lines.push_back(fmt::format("  {:<34.34} {:>10.3f} ms ({}) to {:>10.3f} ms ({})", op.key,
                                       ms(static_cast<double>(op.stats.min)), op.min_rank,
                                       ms(static_cast<double>(op.stats.max)), op.max_rank));
  }
}

void ReduceHcclSum(const Ranks& ranks, const RecipeArguments& arguments, Wanted wanted,
                   Report& report) {
  constexpr std::int64_t kUsualTop = 15;
  const auto most = static_cast<std::size_t>(
      NumberArgument<std::int64_t>(arguments, kTopNum).value_or(kUsualTop));
  const std::vector<OpItem> all = AllTypes(ranks);
  const std::vector<OpItem> top = TopOps(ranks, most);
  if (wanted.sheets) AddSheets(ranks, all, top, report);
  if (wanted.screen != Detail::kNone && !all.empty()) AddLines(ranks, all, top, report);
}

Verdict JudgeHcclSum(const RankFacts& facts) {
  Verdict verdict = JudgeReadable(facts);
  if (verdict.CannotRun()) return verdict;
  if (facts.recorded.communication == Recorded::kNo) {
    return CannotRun(NoCommunication(facts), "profiler_level=Level1");
  }
  verdict.AddUnknown(facts.recorded.communication, "communication");
  return verdict;
}

}  // namespace

Recipe HcclSum() {
  return MakeRecipe<MapHcclSum, ReduceHcclSum>(
      {.name = "hccl_sum",
       .folder = "HcclSum",
       .summary = "how long communication operators ran, and which took longest",
       .needs = Tables::kCommunications,
       .parameters = {{kTopNum, "N", "Operators with the longest mean to list [default: 15]",
                       RecipeParameter::Value::kCount}},
       .can_run = JudgeHcclSum});
}

}  // namespace mpa::recipes
