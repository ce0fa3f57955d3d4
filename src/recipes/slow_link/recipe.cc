// SPDX-License-Identifier: Apache-2.0
// Collectives whose transfer takes longer than that of others of the same type and size.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "link_classes.h"
#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/collectives/lateness.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/culprits.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/report/amount.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/report.h"

namespace mpa::recipes::slow_link {
namespace {

using slow_link::LinkClass;
using slow_link::LinkClasses;
using slow_link::LinkRow;
using Ranks = std::vector<OfRank<RankLoad>>;

constexpr Option<std::size_t> kTopNum{"top_num", "N", "Kinds of collectives to list", 15};

RankLoad MapSlowLink(const RankTrace& trace, const RecipeArguments&) { return LoadOfRank(trace); }

// A row of a class with what the cells need.
struct LinkItem {
  RankId rank;
  const LinkClass* same = nullptr;
  const LinkRow* row = nullptr;
  const RankRuns& part;
};
struct LinkSumItem {
  const LinkClass* same = nullptr;
  DurationStats stats{};
  RankId max_rank, min_rank;
};

std::vector<ColumnOf<LinkSumItem>> LinkSumColumns() {
  return Joined<LinkSumItem>(
      {{NamedColumn("opTypeRelatedRanksDataSize", Format::kText, 36,
                    "Type of the collectives, number of ranks that take part, and bytes."),
        [](const LinkSumItem& item) -> Cell {
          return fmt::format("{}{}_{}", item.same->type, item.same->ranks, item.same->bytes);
        }}},
      StatsColumns<LinkSumItem>(),
      {NumberColumn<&LinkSumItem::same, &LinkClass::offset>(
           "offsetRatio", Format::kDecimals2, 10,
           "Largest distance of a transfer time from the mean, in standard deviations."),
       CountColumn<&LinkSumItem::max_rank, kRank>(
           "maxRank", 10, "First rank of the collective with the longest transfer."),
       CountColumn<&LinkSumItem::min_rank, kRank>(
           "minRank", 10, "First rank of the collective with the shortest transfer.")});
}

std::vector<ColumnOf<LinkItem>> LinkColumns() {
  return {
      CountColumn<&LinkItem::rank, kRank>("rankId", 10, "The rank."),
      TextColumn<&LinkItem::row, &LinkRow::op, &CollectiveInstance::group>("groupName", 50,
                                                                           "The group."),
      {NamedColumn("communicationTime", Format::kInteger, 18,
                   "How long the rank ran the collective, in ns."),
       [](const LinkItem& item) -> Cell { return item.part.rows[item.row->member.row].dur; }},
      TextColumn<&LinkItem::row, &LinkRow::op, &CollectiveInstance::name>("opName", 36,
                                                                          "The collective."),
      TextColumn<&LinkItem::same, &LinkClass::type>("opType", 20, "Type of the collective."),
      {NamedColumn("dataType", Format::kText, 10, "Type of the elements."),
       [](const LinkItem& item) -> Cell {
         return item.part.texts[item.part.rows[item.row->member.row].data_type];
       }},
      CountColumn<&LinkItem::same, &LinkClass::bytes>("dataSize", 14,
                                                      "Size of the data, in bytes."),
      CountColumn<&LinkItem::row, &LinkRow::transmit>(
          "transmitTime", 14, "How long the transfer took: the shortest time of all ranks, in ns."),
      CountColumn<&LinkItem::same, &LinkClass::ranks>("relatedRanks", 10, "Ranks that take part.")};
}

// The classes with the farthest transfers first.
std::vector<const LinkClass*> Farthest(const LinkClasses& classes, std::size_t most) {
  std::vector<const LinkClass*> farthest;
  for (const LinkClass& same : classes.deviating) farthest.push_back(&same);
  StableSort(farthest, std::greater(), &LinkClass::offset);
  if (farthest.size() > most) farthest.resize(most);
  return farthest;
}

void AddLinkSheets(const Ranks& ranks, const LinkClasses& classes,
                   const std::vector<const LinkClass*>& top, Report& report) {
  ItemSheet sums({"SlowLinkSum", ToTranslate("Slow transfers by link")}, LinkSumColumns(),
                 {"slow_link_sum"});
  sums.sheet.charts = {BoxesOf("How long transfers of equal kind, ranks and size took",
                               {"opTypeRelatedRanksDataSize"})};
  ItemSheet ops({"SlowLinkOps",
                 ToTranslate("Collectives whose transfer takes longer than that of similar ones")},
                LinkColumns(), {"slow_link_ops"});
  for (const LinkClass* same : top) {
    sums.Add({same, same->stats, ranks[same->Longest().member.rank].rank,
              ranks[same->Shortest().member.rank].rank});
  }
  for (const LinkClass& same : classes.deviating) {
    for (const LinkRow& row : same.rows) {
      const auto& rank = ranks[row.member.rank];
      ops.Add({rank.rank, &same, &row, rank.part.collectives.runs});
    }
  }
  report.sheets = {std::move(sums.sheet), std::move(ops.sheet)};
}

// What single links moved, where the ranks at their ends are recorded.
void AddSlowLinkLines(const LinkSpeedsOfJob& speeds, ScreenLines& lines) {
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(kShown, speeds.slow.size()); ++i)
    lines.emplace_back(SlowLinkText(speeds.slow[i]));
  AddMoreLine(speeds.slow.size(), kShown, "slow link", lines);
  if (speeds.slow.empty() && speeds.links > 0)
    lines.emplace_back(Say("no slow link among {} between ranks", speeds.links));
}

// `told`: what single links move is known, and answers for all kinds of collectives.
void AddLinkLines(const LinkClasses& classes, const std::vector<const LinkClass*>& top, bool told,
                  Report& report) {
  const std::string kinds =
      Say("{} of collectives (type, bytes, ranks)", Counted(classes.count, "kind"));
  if (top.empty()) {
    if (told) return;
    report.lines.push_back(
        classes.count == 0 ? Say("no collectives can be compared: their sizes were not recorded")
                           : Say("no slow link in {}", kinds));
    return;
  }
  constexpr std::size_t kShown = 6;
  report.lines.push_back(
      Say("unusual transfer times in {} of {}:", classes.deviating.size(), kinds));
  for (std::size_t i = 0; i < std::min(kShown, top.size()); ++i) {
    const LinkClass& same = *top[i];
    const auto median = static_cast<std::int64_t>(same.stats.median.value_or(0) + 0.5);
    const AmountScale scale(Quantity::kTime, same.stats.max);
    const auto text = [&](std::int64_t time) { return scale.Text(scale.Rounded(time)); };
    report.lines.push_back(Say("  {}, {}, {} ranks: median {}, {} to {} {}",
                               ShortenName(Printable(same.type), NameColumns(24)),
                               AmountText(Quantity::kBytes, same.bytes), same.ranks, text(median),
                               text(same.stats.min), text(same.stats.max), scale.unit()));
    report.lines.push_back(Say("    the longest: {}",
                               ShortenName(Printable(same.Longest().op->name), NameColumns(60))));
  }
  AddMoreLine(top.size(), kShown, "kind", report.lines);
}

// The shortest time of the captured ranks is that of the transfer only if one of them came last.
void AddWaitLines(const Lateness& lateness, Report& report) {
  if (const std::string coverage = CoverageText(lateness); !coverage.empty())
    report.lines.push_back(coverage);
  for (const LateRanks& late : lateness.ranks) {
    if (late.captured) continue;
    report.lines.push_back(Say("transfer times include up to {1} of waiting for {0}",
                               LateRanksText(late.ranks, false, lateness.absent),
                               AmountText(Quantity::kTime, late.most)));
  }
  AddClockLines(lateness, report.lines);
}

void ReduceSlowLink(const Ranks& ranks, const RecipeArguments& arguments, OutputSelection wanted,
                    Report& report) {
  std::vector<const RankRuns*> parts;
  JobCollectives known;
  for (const auto& rank : ranks) {
    parts.push_back(&rank.part.collectives.runs);
    known.emplace_back(rank.part.collectives);
  }
  const bool on_gpu = ranks.front().part.collectives.on_gpu;
  const Lateness lateness = FindLateness(known, report.absent);
  const CollectiveInstances instances =
      KnownInstances("slow_link", lateness.instances, on_gpu, report);
  const LinkClasses classes = slow_link::FindLinkClasses(parts, instances);
  if (classes.unsized > 0) {
    report.notes.push_back(Say(
        "{} runs of collectives are left out: the type or number of their elements was"
        " not recorded; collect with {}",
        classes.unsized, Translated(on_gpu ? "PyTorch 2.3 or later" : "profiler_level=Level1")));
  }
  const auto top = Farthest(classes, arguments[kTopNum]);
  if (wanted.sheets) AddLinkSheets(ranks, classes, top, report);
  if (wanted.screen == Detail::kNone) return;
  const LinkSpeedsOfJob links = LinksOf(LoadedRanks(ranks));
  AddSlowLinkLines(links, report.lines);
  AddLinkLines(classes, top, links.links > 0, report);
  AddWaitLines(lateness, report);
}

}  // namespace

Recipe SlowLink() {
  return MakeRecipe<MapSlowLink, ReduceSlowLink, CheckLoad>(
      {.name = "slow_link",
       .folder = "SlowLink",
       .summary = "collectives whose transfer takes longer than that of similar ones",
       .needs = kLoadTables,
       .options = {kTopNum},
       .can_run = JudgeCollectives,
       .next = kDiagnosisNext,
       .empty_is_answer = true});
}

}  // namespace mpa::recipes::slow_link
