// SPDX-License-Identifier: Apache-2.0
// Times of every rank by call path, as files for flame graphs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/measure/accounting.h"
#include "mpa/measure/call_paths.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/screen_list.h"
#include "stacks.h"

namespace mpa::recipes::export_stacks {

struct StacksOfRank {
  Metric metric{};
  PathTree tree;
  bool has_python = false;
  bool written = false;  ///< the file is
};

template <class Archive>
void serialize(Archive& archive, StacksOfRank& part) {
  archive(part.metric, part.tree.frames, part.tree.nodes, part.has_python, part.written);
  if (!part.tree.IsValid()) Fail(ErrorKind::kCorrupt, "the part holds a broken tree");
}

}  // namespace mpa::recipes::export_stacks

namespace mpa::recipes::export_stacks {
namespace {

using export_stacks::Metric;
using export_stacks::StacksOfRank;
using Ranks = std::vector<OfRank<StacksOfRank>>;

constexpr Option<Metric> kMetric{
    .name = "metric",
    .type_name = "NAME",
    .help =
        "Which time: device, of device work by what launched it; host, of the threads that"
        " issue work; free, in which the device had nothing to do, by what the host did;"
        " self_cpu_time_total, self_npu_time_total, of operators by their call stacks, as"
        " torch_npu's export_stacks() has them",
    .choices = export_stacks::kMetrics};

StacksOfRank MapExportStacks(const RankTrace& trace, const RecipeArguments& arguments) {
  StacksOfRank part;
  part.metric = arguments[kMetric];
  part.tree = export_stacks::StacksOf(trace, part.metric);
  part.has_python = HasPythonFrames(trace);
  return part;
}

TextDocument FileOfRank(const StacksOfRank& part, const std::string& rank) {
  return {fmt::format("stacks_{}_rank{}.txt", NameOf(part.metric), rank), FoldedStacks(part.tree)};
}

std::vector<TextDocument> TakeDocuments(RankPart& part) {
  StacksOfRank taken = *static_cast<const StacksOfRank*>(part.part.get());
  if (taken.tree.Total() == 0) return {};
  std::vector<TextDocument> documents = {FileOfRank(taken, RankFileName(part.rank))};
  taken.written = true;
  part.part = std::make_shared<const StacksOfRank>(std::move(taken));
  return documents;
}

// A path in a table; files have all paths, tables the longest.
struct PathItem {
  RankId rank;
  std::string_view metric;
  std::string path;
  TimeNs time = 0, total = 0;
  std::int64_t count = 0;
  double Share() const { return PercentOf(time, total); }
};

SheetColumns<PathItem> PathColumns(bool with_rank) {
  SheetColumns<PathItem> columns = {
      TextColumn<&PathItem::metric>("metric", 10, "What is divided: device, host or free."),
      TextColumn<&PathItem::path>(
          "path", 100, "Frames from the outermost to the innermost, with ';' between them."),
      CountColumn<&PathItem::time>("timeNs", 16, "Time of the path without longer ones, in ns."),
      NumberColumn<&PathItem::Share>("share(%)", Format::kDecimals2, 10,
                                     "Share of the time of all paths, in percent."),
      CountColumn<&PathItem::count>("count", 12,
                                    "Pieces of device work or free time, or calls of the host.")};
  if (with_rank) {
    columns.insert(columns.begin(), CountColumn<&PathItem::rank, kRank>("rankId", 10, "The rank."));
  }
  return columns;
}

void AddPaths(const PathTree& tree, Metric metric, RankId rank, std::size_t row_rank,
              ItemSheet<PathItem>& sheet) {
  constexpr std::size_t kMax = 1000;
  const std::vector<std::int32_t> longest = LongestPaths(tree);
  PathItem rest{rank, NameOf(metric), "", 0, tree.Total(), 0};
  for (std::size_t i = 0; i < longest.size(); ++i) {
    const PathNode& node = tree.nodes[static_cast<std::size_t>(longest[i])];
    if (i < kMax) {
      sheet.Add({rank, rest.metric, PathText(tree, longest[i]), node.time, rest.total, node.count},
                row_rank);
    } else {
      rest.time += node.time;
      rest.count += node.count;
    }
  }
  if (longest.size() <= kMax) return;
  rest.path = fmt::format("[{} more paths]", longest.size() - kMax);
  sheet.Add(rest, row_rank);
}

std::string_view TitleOf(Metric metric) {
  switch (metric) {
    case Metric::kDevice:
      return Translated("device work");
    case Metric::kHost:
      return Translated("thread time of the host");
    case Metric::kSelfCpu:
      return Translated("own time of operators with a call stack");
    case Metric::kSelfNpu:
      return Translated("device work of operators with a call stack");
    default:
      return Translated("free time of the device");
  }
}

void AddLines(const Ranks& ranks, const PathTree& all, Metric metric, Report& report) {
  const std::vector<std::int32_t> longest = LongestPaths(all);
  const TimeNs total = all.Total();
  const auto node = [&](std::size_t i) -> const PathNode& {
    return all.nodes[static_cast<std::size_t>(longest[i])];
  };
  constexpr std::size_t kShown = 10;
  report.lines.push_back(
      CutEnd(Say("{:.1f} % of the {} ({}, {}): {}", PercentOf(node(0).time, total), TitleOf(metric),
                 AmountText(Quantity::kTime, total),
                 Counted(static_cast<std::int64_t>(ranks.size()), "rank"),
                 InnermostFirst(all, longest[0])),
             ScreenColumns()));
  const ScreenList list(0, {ScreenPercent("share", 7), ScreenMs("ms", 12), ScreenNumber("count", 8),
                            ScreenText("path, innermost first")});
  report.lines.push_back(list.Heading());
  for (std::size_t i = 0; i < std::min(kShown, longest.size()); ++i) {
    const std::string path = InnermostFirst(all, longest[i]);
    const std::size_t around = std::min(path.find(" < "), path.size());
    report.lines.push_back(list.Line(PercentOf(node(i).time, total), node(i).time, node(i).count,
                                     CutEnd(path.substr(0, around), NameColumns(48))));
    if (around < path.size())
      report.lines.push_back("   " + CutEnd(path.substr(around), ScreenColumns() - 4));
  }
  AddMoreLine(longest.size(), kShown, "path", report.lines);
  if (ranks.size() > 1) {
    std::vector<RankValue> times;
    for (const auto& [rank, part] : ranks) times.push_back({rank, InMs(part.tree.Total())});
    const RankSpread spread = SpreadOf(times);
    report.lines.push_back(Say("ms of a rank: min {:.3f} ({}), median {:.3f}, max {:.3f} ({})",
                               spread.min.value, RankText(spread.min.rank), spread.median,
                               spread.max.value, RankText(spread.max.rank)));
    OutlierLines outliers;
    outliers.Add(TitleOf(metric), times, [](double ms) { return fmt::format("{:.3f} ms", ms); });
    outliers.AppendTo(report.lines);
  }
  const auto without =
      std::ranges::count_if(ranks, [](const auto& rank) { return !rank.part.has_python; });
  if (without > 0) {
    report.lines.push_back(
        Say("{}: no Python functions, so paths begin with operators; set with_stack=True",
            without == static_cast<std::int64_t>(ranks.size()) ? Say("all ranks")
                                                               : Counted(without, "rank")));
  }
  report.lines.push_back(
      Say("ExportStacks/stacks_{}.txt holds all paths in ns: flamegraph.pl, speedscope",
          NameOf(metric)));
}

void ReduceExportStacks(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                        Report& report) {
  ItemSheet of_ranks({"StackPathsOfRanks", ToTranslate("Time by call path, on each rank")},
                     PathColumns(true)),
      sums({"StackPaths", ToTranslate("Time by call path, over all ranks")}, PathColumns(false));
  const Metric metric = ranks.front().part.metric;
  PathTreeBuilder all;
  for (const auto& [rank, part] : ranks) {
    const std::size_t row_rank = BeginRank(rank, report);
    if (part.tree.Total() == 0) {
      report.notes.push_back(
          Say("{}: no {} was recorded, so it has no paths", RankText(rank), TitleOf(metric)));
      continue;
    }
    all.Merge(part.tree);
    if (wanted.sheets) AddPaths(part.tree, metric, rank, row_rank, of_ranks);
    if (!wanted.documents || part.written) continue;
    report.documents.push_back(FileOfRank(part, RankFileName(rank)));
  }
  if (all.tree().Total() == 0) return;
  if (wanted.documents)
    report.documents.push_back(
        {fmt::format("stacks_{}.txt", NameOf(metric)), FoldedStacks(all.tree())});
  if (wanted.screen != Detail::kNone) AddLines(ranks, all.tree(), metric, report);
  if (!wanted.sheets) return;
  std::string title =
      Say("{} of {} by call path: {}; a click widens a frame",
          AmountText(Quantity::kTime, all.tree().Total()),
          ranks.size() == 1 ? RankText(ranks.front().rank)
                            : Counted(static_cast<std::int64_t>(ranks.size()), "rank"),
          TitleOf(metric));
  report.drawings.push_back(export_stacks::FlameChart(all.tree(), metric, std::move(title)));
  AddPaths(all.tree(), metric, -1, 0, sums);
  report.sheets.push_back(std::move(sums.sheet));
  report.sheets.push_back(std::move(of_ranks.sheet));
}

}  // namespace

Recipe ExportStacks() {
  Recipe recipe = MakeRecipe<MapExportStacks, ReduceExportStacks>(
      {.name = "export_stacks",
       .folder = "ExportStacks",
       .summary = "time of the device or the host by call path, as files for flame graphs",
       .needs = kAccountTables | Tables::kOpStacks,
       .options = {kMetric},
       .can_run = JudgeReadable,
       .documents_always = true});
  recipe.take_documents = TakeDocuments;
  return recipe;
}

}  // namespace mpa::recipes::export_stacks
