// SPDX-License-Identifier: Apache-2.0
// Captured graphs: their layers, what their replays spend time on, and what explains them.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/measure/accounting.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_spread.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "part.h"

namespace mpa::recipes::graph_replays {
namespace {

using graph_replays::Graph;
using graph_replays::Part;
using graph_replays::Place;

constexpr std::size_t kShownGraphs = 8, kShownPlaces = 3;

void CheckGraphs(const Part& part) {
  const auto require = [](bool holds) {
    if (!holds) Fail(ErrorKind::kCorrupt, "a graph has impossible times or layers");
  };
  for (const Graph& graph : part.graphs) {
    require(graph.layers == 0 || (graph.pattern > 0 && graph.layers_in_pattern > 0));
    for (const TimeNs time : {graph.attention, graph.matrix, graph.communication, graph.copies,
                              graph.other, graph.bubbles})
      require(IsDuration(time));
    for (const Place& place : graph.places)
      require(IsDuration(place.total) && IsDuration(place.bubble));
  }
}

Part MapGraphReplays(const RankTrace& trace, const RecipeArguments&) {
  return graph_replays::FindGraphs(trace);
}

using Ranks = std::vector<OfRank<Part>>;

struct GraphItem {
  RankId rank{};
  std::int64_t number = 0;
  const Graph* graph = nullptr;
};
struct PlaceItem {
  RankId rank{};
  std::int64_t number = 0;
  const Graph* graph = nullptr;
  const Place* place = nullptr;
};

template <TimeNs Graph::*kTime>
ColumnOf<GraphItem> ShareColumn(std::string_view name, std::string_view what) {
  return {NamedColumn(name, Format::kDecimals2, 16,
                      Say("Share of the replays in which {}, in percent.", Translated(what))),
          [](const GraphItem& item) -> Cell {
            return PercentOf(item.graph->*kTime, item.graph->Span());
          }};
}

double KernelsInLayer(const Graph& graph) {
  return static_cast<double>(graph.pattern) / static_cast<double>(graph.layers_in_pattern);
}

std::vector<ColumnOf<GraphItem>> GraphColumns() {
  return {
      CountColumn<&GraphItem::rank, kRank>("rankId", 10, "The rank."),
      CountColumn<&GraphItem::number>("graphId", 10,
                                      "The graph, by the time of its replays in the rank."),
      TextColumn<&GraphItem::graph, &Graph::name>(
          "graph", 24,
          "The captured graph as its capture calls it, or the number of the model; empty"
          " where nothing names it."),
      CountColumn<&GraphItem::graph, &Graph::replays>("replays", 10,
                                                      "Number of launches of the graph."),
      CountColumn<&GraphItem::graph, &Graph::kernels>(
          "kernels", 10, "Kernels, collectives and copies of one replay."),
      {NamedColumn("layers", Format::kInteger, 10,
                   "Layers, by the repeating pattern of the kernels; empty where none repeats."),
       [](const GraphItem& item) -> Cell {
         return item.graph->layers > 0 ? Cell(item.graph->layers) : Cell();
       }},
      {NamedColumn("kernelsPerLayer", Format::kDecimals2, 16,
                   "Kernels of a layer, on average where layers take turns."),
       [](const GraphItem& item) -> Cell {
         return item.graph->layers > 0 ? Cell(KernelsInLayer(*item.graph)) : Cell();
       }},
      {NamedColumn("layersPerPattern", Format::kInteger, 16,
                   "Layers after which the pattern repeats: 2 where two kinds take turns."),
       [](const GraphItem& item) -> Cell {
         return item.graph->layers > 0 ? Cell(item.graph->layers_in_pattern) : Cell();
       }},
      {NamedColumn("medianSpan(ns)", Format::kInteger, 16,
                   "Median time from the start of the first kernel to the end of the last, in ns."),
       [](const GraphItem& item) -> Cell {
         return static_cast<std::int64_t>(item.graph->median_span + 0.5);
       }},
      ShareColumn<&Graph::attention>("attention(%)", ToTranslate("attention runs")),
      ShareColumn<&Graph::matrix>("matrix(%)", ToTranslate("other matrix work runs")),
      ShareColumn<&Graph::communication>("communication(%)", ToTranslate("collectives run")),
      ShareColumn<&Graph::copies>("copies(%)", ToTranslate("copies run")),
      ShareColumn<&Graph::other>("other(%)", ToTranslate("other kernels run")),
      ShareColumn<&Graph::bubbles>("bubbles(%)", ToTranslate("nothing runs, between kernels")),
      {NamedColumn("matched(%)", Format::kDecimals2, 16,
                   "Share of the kernels whose names the captured graph has in their places, in"
                   " percent; empty without a captured graph."),
       [](const GraphItem& item) -> Cell {
         const std::int64_t kernels = item.graph->kernels * item.graph->replays;
         return item.graph->source.empty() ? Cell() : Cell(PercentOf(item.graph->matched, kernels));
       }},
      {NamedColumn("matchedBy", Format::kText, 12,
                   "What was compared with the captured graph: \"names\", or \"count\" where the"
                   " capture does not name its kernels."),
       [](const GraphItem& item) -> Cell {
         if (item.graph->source.empty()) return "";
         return item.graph->by_count ? "count" : "names";
       }},
      TextColumn<&GraphItem::graph, &Graph::source>(
          "source", 40,
          "The trace in which the graph was captured; empty where none explains it.")};
}

std::int64_t MeanOf(TimeNs total, std::int64_t count) {
  return count == 0 ? 0 : (total + count / 2) / count;
}

std::vector<ColumnOf<PlaceItem>> PlaceColumns() {
  return {CountColumn<&PlaceItem::rank, kRank>("rankId", 10, "The rank."),
          CountColumn<&PlaceItem::number>("graphId", 10, "The graph, as in GraphReplays."),
          TextColumn<&PlaceItem::place, &Place::part>(
              "part", 10,
              "\"layer\" for kernels of the repeating pattern, \"before\" and \"after\" for"
              " those around the layers, \"graph\" where nothing repeats."),
          CountColumn<&PlaceItem::place, &Place::position>("position", 10,
                                                           "Place in the part, from 1 on."),
          TextColumn<&PlaceItem::place, &Place::kernel>(
              "kernel", 50, "Kernel that runs in this place most often; on an NPU, its type."),
          CountColumn<&PlaceItem::place, &Place::others>(
              "otherKernels", 14, "Number of other kernels that run in this place in some layers."),
          TextColumn<&PlaceItem::place, &Place::op>(
              "operator", 30,
              "Operator that launched the kernel in the captured graph; empty where unknown."),
          TextColumn<&PlaceItem::place, &Place::module>(
              "module", 40,
              "Classes of the innermost six modules around the kernel, joined by '/'; empty where"
              " unknown."),
          CountColumn<&PlaceItem::place, &Place::kernels>("kernels", 10,
                                                          "Kernels in this place, of all replays."),
          {NamedColumn("meanDuration(ns)", Format::kInteger, 16,
                       "Mean time of these kernels, in ns, without the time in which an earlier"
                       " kernel still ran."),
           [](const PlaceItem& item) -> Cell {
             return MeanOf(item.place->total, item.place->kernels);
           }},
          {NamedColumn("share(%)", Format::kDecimals2, 12, "Share of the replays, in percent."),
           [](const PlaceItem& item) -> Cell {
             return PercentOf(item.place->total, item.graph->Span());
           }},
          {NamedColumn("meanBubbleBefore(ns)", Format::kInteger, 20,
                       "Mean time before these kernels in which nothing ran, in ns."),
           [](const PlaceItem& item) -> Cell {
             return MeanOf(item.place->bubble, item.place->kernels);
           }}};
}

std::string LayersText(const Graph& graph) {
  if (graph.layers == 0) return Say("nothing repeats");
  const double kernels = KernelsInLayer(graph);
  return Say(
      "{} layers of {:.{}f} kernels{}", graph.layers, kernels,
      kernels == static_cast<double>(graph.pattern / graph.layers_in_pattern) ? 0 : 1,
      graph.layers_in_pattern > 1 ? Say(" ({} kinds take turns)", graph.layers_in_pattern) : "");
}

// Parts that take time, with their shares.
std::string SharesText(const Graph& graph) {
  std::string text;
  const auto add = [&](const char* name, TimeNs time) {
    const double share = PercentOf(time, graph.Span());
    if (share >= 0.5)
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : Translated(", "), Translated(name),
                          share);
  };
  add(ToTranslate("attention"), graph.attention);
  add(ToTranslate("matrix work"), graph.matrix);
  add(ToTranslate("communication"), graph.communication);
  add(ToTranslate("copies"), graph.copies);
  add(ToTranslate("other"), graph.other);
  add(ToTranslate("bubbles"), graph.bubbles);
  return text;
}

void AddLine(std::string line, Report& report) {
  report.lines.push_back(CutEnd(Printable(line), ScreenColumns()));
}

void AddGraph(std::string_view rank, const Graph& graph, Report& report) {
  AddLine(Say("{}graph{} of {} kernels, {} of {:.3f} ms", rank,
              graph.name.empty() ? "" : " " + graph.name, graph.kernels,
              Counted(graph.replays, "replay"), graph.median_span / 1e6),
          report);
  AddLine("  " + LayersText(graph), report);
  AddLine("  " + SharesText(graph), report);
  std::vector<const Place*> slowest;
  for (const Place& place : graph.places) slowest.push_back(&place);
  StableSort(slowest, std::greater(), &Place::total);
  for (std::size_t i = 0; i < std::min(slowest.size(), kShownPlaces); ++i) {
    const Place& place = *slowest[i];
    const std::string launcher = place.op.empty() ? "" : place.op + ": ";
    AddLine(fmt::format("  {:>5.1f} %  {:>9.1f} us  {}{}", PercentOf(place.total, graph.Span()),
                        static_cast<double>(MeanOf(place.total, place.kernels)) / 1e3, launcher,
                        ShortFunctionName(place.kernel)),
            report);
  }
}

void AddSpread(const Ranks& ranks, Report& report) {
  std::vector<RankValue> spans, bubbles;
  for (const auto& [rank, part] : ranks) {
    if (part.graphs.empty()) continue;
    const Graph& longest = part.graphs.front();
    spans.push_back({rank, longest.median_span / 1e6});
    bubbles.push_back({rank, PercentOf(longest.bubbles, longest.Span())});
  }
  if (spans.size() < 2) return;
  const auto add = [&](const char* what, std::vector<RankValue> values, const char* unit) {
    const RankSpread spread = SpreadOf(std::move(values));
    AddLine(Say("  {}: min {:.3f}, median {:.3f}, max {:.3f} {} ({})", Translated(what),
                spread.min.value, spread.median, spread.max.value, unit, RankText(spread.max.rank)),
            report);
  };
  AddLine(Say("the graph that takes most time, of {} ranks:", spans.size()), report);
  add(ToTranslate("replay"), std::move(spans), "ms");
  add(ToTranslate("bubbles"), std::move(bubbles), "%");
}

void ReduceGraphReplays(const Ranks& ranks, const RecipeArguments&, OutputSelection wanted,
                        Report& report) {
  ItemSheet graphs(
      {"GraphReplays", ToTranslate("Replays of captured graphs: their times and parts")},
      GraphColumns());
  ItemSheet places(
      {"GraphLayers", ToTranslate("Layers of captured graphs: kernels and bubbles of each")},
      PlaceColumns());
  graphs.sheet.charts = {{.kind = Chart::Kind::kStacked,
                          .title = "What a replay of each graph spends its time on",
                          .labels = {"graphId", "rankId"},
                          .values = {{"attention(%)"},
                                     {"matrix(%)", Tint::kCompute},
                                     {"communication(%)", Tint::kUnsplit},
                                     {"copies(%)", Tint::kCopy},
                                     {"other(%)"},
                                     {"bubbles(%)", Tint::kFree}},
                          .measured = Measured::kPercent}};
  places.sheet.charts = {
      {.kind = Chart::Kind::kStacked,
       .title = "The kernels of a layer in their order, and the gaps before them",
       .labels = {"graphId", "part", "position", "kernel"},
       .values = {{"meanBubbleBefore(ns)", Tint::kFree}, {"meanDuration(ns)", Tint::kCompute}},
       .measured = Measured::kNs,
       .same = Chart::SameLabel::kMean}};
  for (Sheet* sheet : {&graphs.sheet, &places.sheet})
    sheet->of_rank = {"graph_replays", sheet->name};
  std::vector<RankId> without;
  const OfRank<Part>* first = nullptr;
  for (const auto& one : ranks) {
    const auto& [id, part] = one;
    if (part.graphs.empty()) without.push_back(id);
    if (part.graphs.empty()) continue;
    if (first == nullptr) first = &one;
    const RankIndex rank = BeginRank(id, report);
    std::int64_t number = 0;
    for (const Graph& graph : part.graphs) {
      ++number;
      graphs.Add({id, number, &graph}, rank);
      for (const Place& place : graph.places) places.Add({id, number, &graph, &place}, rank);
    }
  }
  if (!without.empty()) {
    const std::string rank = RankText(without.front());
    report.notes.push_back(
        without.size() == 1
            ? Say("{}: no captured or compiled graph was replayed", rank)
            : Say("{}: no captured or compiled graph was replayed, nor on {} other ranks", rank,
                  without.size() - 1));
  }
  if (wanted.sheets) {
    report.sheets.push_back(std::move(graphs.sheet));
    report.sheets.push_back(std::move(places.sheet));
  }
  if (wanted.screen == Detail::kNone) return;
  AddSpread(ranks, report);
  for (const auto& one : ranks) {
    if (wanted.screen != Detail::kAll && &one != first) continue;
    std::size_t shown = 0;
    for (const Graph& graph : one.part.graphs) {
      if (shown++ == kShownGraphs && wanted.screen != Detail::kAll) break;
      AddGraph(ranks.size() > 1 ? RankText(one.rank) + ": " : "", graph, report);
    }
    if (shown > kShownGraphs && wanted.screen != Detail::kAll)
      AddLine(
          Say("and {}", Counted(static_cast<std::int64_t>(one.part.graphs.size() - kShownGraphs),
                                "other graph")),
          report);
  }
}

Verdict JudgeGraphReplays(const RankFacts& facts) {
  return JudgeReadable(facts).Refuse(facts.recorded.device_tasks == Recorded::kNo,
                                     "no device work was recorded", DeviceSetting(facts));
}

}  // namespace

Recipe GraphReplaysOfRanks() {
  return MakeRecipe<MapGraphReplays, ReduceGraphReplays, CheckGraphs>(
      {.name = "graph_replays",
       .folder = "GraphReplays",
       .summary = "layers and bubbles of captured graphs, and the operators and modules of their"
                  " kernels",
       .needs = kAccountTables | Tables::kModelIterations,
       .can_run = JudgeGraphReplays,
       .empty_is_answer = true});
}

}  // namespace mpa::recipes::graph_replays
