// SPDX-License-Identifier: Apache-2.0
// How long what the program marked itself (mstx) took on the host and on the device. Repeated names
// are numbered, so spans are grouped when all ranks are there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/screen_list.h"
#include "mstx_spans.h"

namespace mpa::recipes::mstx {
namespace {

using Time = std::optional<TimeNs>;
using sums::GroupRow;

double Percent(double part, double whole) { return whole != 0 ? 100 * part / whole : 0; }

enum Level : std::size_t { kFramework, kCann, kDevice, kLevels };

// A span with the name that all ranks have for it.
struct SpanItem {
  RankIndex rank;  // position
  RankId rank_id;
  std::int64_t index = 0;
  std::int32_t step = 0;
  std::string name;
  std::array<Time, kLevels> times;
  std::array<TimeNs, kLevels> totals{};  // of the rank

  double Share(std::size_t level) const {
    return Percent(static_cast<double>(times[level].value_or(0)),
                   static_cast<double>(totals[level]));
  }
};

using StepName = std::pair<std::int32_t, std::string>;

// Names that occur more than once in a step of any rank are numbered there on every rank, so that
// the number says which one it is.
std::vector<SpanItem> NumberedSpans(const MarkedRanks& ranks) {
  std::map<StepName, int> most;
  const auto count = [](const MarkedSpans& part, const auto& visit) {
    std::map<std::pair<std::int32_t, std::uint32_t>, int> counts;
    for (const MarkedSpan& span : part.spans) visit(span, counts[{span.step, span.name}]++);
  };
  for (const auto& rank : ranks) {
    count(rank.part, [&, &part = rank.part](const MarkedSpan& span, int before) {
      int& known = most[{span.step, part.names[span.name]}];
      known = std::max(known, before + 1);
    });
  }
  std::vector<SpanItem> items;
  for (std::size_t position = 0; position < ranks.size(); ++position) {
    const MarkedSpans& part = ranks[position].part;
    std::array<TimeNs, kLevels> totals{};
    for (const MarkedSpan& span : part.spans) {
      totals[kFramework] += span.framework.value_or(0);
      totals[kCann] += span.cann;
      totals[kDevice] += span.device.value_or(0);
    }
    count(part, [&](const MarkedSpan& span, int before) {
      const std::string& name = part.names[span.name];
      SpanItem& item = items.emplace_back();
      item.rank = position;
      item.rank_id = ranks[position].rank;
      item.step = span.step;
      item.name = most[{span.step, name}] > 1 ? fmt::format("{}_{}", name, before) : name;
      item.times = {span.framework, span.cann, span.device};
      item.totals = totals;
    });
  }
  return items;
}

template <Level kLevel>
void AddLevel(const std::string& name, const char* meaning, SheetColumns<SpanItem>& columns) {
  columns.push_back({NamedColumn(name + "DurationNs", Format::kInteger, 14, meaning),
                     [](const SpanItem& item) -> Cell {
                       const Time& time = item.times[kLevel];
                       return time ? Cell(*time) : Cell(NoNumber::kUnknown);
                     }});
  columns.push_back({NamedColumn(name + "DurationRatio(%)", Format::kDecimals2, 14,
                                 "Share of this duration in the sum over the rank, in percent."),
                     [](const SpanItem& item) -> Cell {
                       return item.times[kLevel] ? Cell(item.Share(kLevel))
                                                 : Cell(NoNumber::kUnknown);
                     }});
}

SheetColumns<SpanItem> SpanColumns() {
  SheetColumns<SpanItem> columns = {
      CountColumn<&SpanItem::index>("index", 14, "The number of the row."),
      TextColumn<&SpanItem::name>(
          "Name", 40,
          "What was marked, within the ranges around it; repetitions in a step are numbered.")};
  AddLevel<kFramework>("Framework",
                       "Time from the operator that set the first mark to the one that set the"
                       " second, in ns; 0 for ranges.",
                       columns);
  AddLevel<kCann>("Cann", "Duration on the host, in ns.", columns);
  AddLevel<kDevice>(
      "Device", "Duration on the stream, in ns; empty where nothing was recorded there.", columns);
  columns.push_back(CountColumn<&SpanItem::rank_id, kRank>("Rank", 14, "The rank."));
  columns.push_back(CountColumn<&SpanItem::step>(
      "StepId", 14, "The step in which the marked time began; 0: none."));
  return columns;
}

// The largest share of its rank first.
Sheet SpanSheet(std::vector<SpanItem> items) {
  StableSort(items,
             [](const SpanItem& a, const SpanItem& b) { return a.Share(kCann) > b.Share(kCann); });
  ItemSheet list(
      {"MSTXMarkStats", ToTranslate("Marked ranges: their times on the host and the device")},
      SpanColumns(), {"mark_stats", TextFile::Unit::kMilliseconds, /*without=*/"index"});
  list.sheet.charts = {LargestBars(
      "Mean length of marked times", {"Name"},
      {{"FrameworkDurationNs"}, {"CannDurationNs"}, {"DeviceDurationNs", Tint::kCompute}},
      Measured::kNs, Chart::SameLabel::kMean)};
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].index = static_cast<std::int64_t>(i);
    list.Add(items[i], items[i].rank);
  }
  return std::move(list.sheet);
}

// How far the longest is above the third quartile, as a share of the sum.
double Dispersion(const GroupRow& row) {
  const DurationStats& stats = row.stats;
  return Percent(static_cast<double>(stats.max) - stats.q3.value_or(0),
                 static_cast<double>(stats.sum));
}

SheetColumns<GroupRow> NameColumns() {
  auto columns = sums::WithStats(
      {sums::KeyColumn<0>("Name", 40, "What was marked; see MSTXMarkStats.")},
      {{NamedColumn(
            "Dispersion(%)", Format::kDecimals2, 14,
            "How far the longest duration is above the third quartile, as a share of the sum, in"
            " percent."),
        [](const GroupRow& row) -> Cell { return Dispersion(row); }},
       CountColumn<&GroupRow::key, &sums::Key::step>("StepId", 10, "The step; 0: none.")});
  const auto insert_behind = [&](std::string_view name, ColumnOf<GroupRow> column) {
    const auto at =
        std::ranges::find_if(columns, [&](const auto& known) { return known.column.name == name; });
    columns.insert(at + 1, std::move(column));
  };
  insert_behind("MinNs", sums::MinRankColumn());
  insert_behind("MaxNs", sums::MaxRankColumn());
  return columns;
}

// By name and step, of each rank: at the framework, at CANN, on the device.
std::vector<sums::Part> GroupsOfRanks(const std::vector<SpanItem>& items, std::size_t ranks) {
  std::vector<std::array<sums::DurationsByKey, kLevels>> of_ranks(ranks);
  for (const SpanItem& item : items) {
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (!item.times[level]) continue;
      of_ranks[item.rank][level][{item.step, {item.name}}].push_back(*item.times[level]);
    }
  }
  std::vector<sums::Part> parts(ranks);
  for (RankIndex rank; rank < ranks; ++rank) {
    for (sums::DurationsByKey& level : of_ranks[rank]) {
      parts[rank].by.push_back(sums::GroupsOf(std::move(level)));
    }
  }
  return parts;
}

std::vector<sums::SumSheet> NameSheets() {
  std::vector<sums::SumSheet> sheets;
  const auto add = [&](const SheetTitle& sheet, const char* file, const char* title) {
    sheets.push_back({sheet,
                      {file, TextFile::Unit::kMilliseconds, /*without=*/""},
                      sheets.size(),
                      /*each_rank=*/false,
                      NameColumns(),
                      [](const GroupRow& a, const GroupRow& b) {
                        return a.key.step != b.key.step ? a.key.step < b.key.step
                                                        : Dispersion(a) > Dispersion(b);
                      },
                      SIZE_MAX,
                      {BoxesOf(title, {"Name", "StepId"})}});
  };
  add({"MSTXAllFrameworkStats", ToTranslate("Times of marked ranges in the framework")},
      "all_fwk_stats", "How long marked times take in the framework");
  add({"MSTXAllCannStats", ToTranslate("Times of marked ranges in the CANN layer")},
      "all_cann_stats", "How long marked times take in CANN");
  add({"MSTXAllDeviceStats", ToTranslate("Times of marked ranges on the device")},
      "all_device_stats", "How long marked times take on the device");
  return sheets;
}

// MSTXMarkStats: every span. MSTXAllFrameworkStats, MSTXAllCannStats and MSTXAllDeviceStats: the
// spans of all ranks by name and step.
void AddMstxSheets(const MarkedRanks& ranks, Report& report) {
  std::vector<SpanItem> items = NumberedSpans(ranks);
  const std::vector<sums::Part> parts = GroupsOfRanks(items, ranks.size());
  report.sheets.push_back(SpanSheet(std::move(items)));
  sums::Ranks of_names;
  for (std::size_t i = 0; i < ranks.size(); ++i) of_names.push_back({ranks[i].rank, parts[i]});
  sums::SumTables(NameSheets(), of_names).AddSheets(report);
}

constexpr Option<bool> kAllRanges =
    Switch("all_ranges", "Also count ranges without a stream, which have no time on the device");

MarkedSpans MapMstxSum(const RankTrace& trace, const RecipeArguments& arguments) {
  return FindMarkedSpans(trace, arguments[kAllRanges]);
}

// The screen is about the device, where anything was recorded there.
bool HasDeviceTimes(const MarkedRanks& ranks) {
  return std::ranges::any_of(ranks, [](const auto& rank) {
    return std::ranges::any_of(rank.part.spans,
                               [](const MarkedSpan& span) { return span.device.has_value(); });
  });
}

// By name alone, the largest sum first.
std::vector<sums::GroupRow> NamesOnScreen(const MarkedRanks& ranks, bool device) {
  std::vector<sums::Part> parts;
  for (const auto& rank : ranks) {
    sums::DurationsByKey durations;
    for (const MarkedSpan& span : rank.part.spans) {
      const auto time = device ? span.device : std::optional(span.cann);
      if (time) durations[{0, {rank.part.names[span.name]}}].push_back(*time);
    }
    parts.push_back({{sums::GroupsOf(std::move(durations))}});
  }
  sums::Ranks of_names;
  for (std::size_t i = 0; i < ranks.size(); ++i) of_names.push_back({ranks[i].rank, parts[i]});
  return RowsOf({.title = "", .each_rank = false, .before = sums::LargestSumFirst}, of_names);
}

void AddMstxLines(const MarkedRanks& ranks, Report& report) {
  const bool device = HasDeviceTimes(ranks);
  const std::vector<sums::GroupRow> names = NamesOnScreen(ranks, device);
  if (names.empty()) return;
  const sums::GroupRow& first = names.front();
  const std::string name = ShortenName(Printable(first.key.texts[0]), 30);
  const double sum = sums::Ms(static_cast<double>(first.stats.sum));
  AddSentence(Say("{} takes most of what the program marked: {:.3f} ms in {} on {}", name, sum,
                  Counted(first.stats.count, "range"), Counted(ranks.size(), "rank")),
              report.lines);
  report.lines.emplace_back(std::string(
      Translated(device ? "mean ms on the device, by name" : "mean ms on the host, by name")));
  AppendList(
      {.list = SpreadList({ScreenName("name", 30), ScreenNumber("count", 8)}, ScreenMs("", 10)),
       .cells =
           [](const sums::GroupRow& row) {
             return SpreadCells({row.key.texts[0], row.stats.count}, row.means);
           },
       .shown = 10,
       .noun = "name"},
      names, report);
  OutlierLines outliers;
  for (const sums::GroupRow& row : names) {
    outliers.Add(row.key.texts[0], row.means,
                 [](double ns) { return fmt::format("{:.3f} ms", sums::Ms(ns)); });
  }
  outliers.AppendTo(report.lines);
}

// What was not counted, once for all ranks.
void AddMstxNotes(const MarkedRanks& ranks, Report& report) {
  std::int64_t unpaired = 0, left_out = 0, outside = 0;
  std::string first;
  std::vector<RankId> without;
  for (const auto& [rank, part] : ranks) {
    if (unpaired == 0 && part.unpaired > 0) {
      first = Say("{} on {}", CutEnd(Printable(part.unpaired_mark), 40), RankText(rank));
    }
    unpaired += part.unpaired;
    left_out += part.left_out;
    outside += part.outside;
    if (part.spans.empty()) without.push_back(rank);
  }
  if (unpaired > 0) {
    report.notes.push_back(
        Say("marks x_start or x_stop without their other half: {}, the first is {}; set"
            " both on one thread and in one domain",
            unpaired, first));
  }
  if (left_out > 0) {
    report.notes.push_back(
        Say("ranges left out because they have no stream: {}; --all_ranges counts them", left_out));
  }
  if (outside > 0) {
    report.notes.push_back(
        Say("marks and ranges outside of all steps: {}; their StepId is 0", outside));
  }
  if (!without.empty()) {
    report.notes.push_back(Say(
        "{} of {} ranks have no pairs of marks and no ranges (first: {}); set mstx ranges in the"
        " program and collect with mstx=True",
        without.size(), ranks.size(), RankText(without.front())));
  }
}

void ReduceMstxSum(const MarkedRanks& ranks, const RecipeArguments&, OutputSelection wanted,
                   Report& report) {
  if (wanted.sheets) AddMstxSheets(ranks, report);
  if (wanted.screen != Detail::kNone) AddMstxLines(ranks, report);
  AddMstxNotes(ranks, report);
}

void CheckMarkedSpans(const MarkedSpans& part) {
  for (const MarkedSpan& span : part.spans) {
    if (span.name >= part.names.size())
      Fail(ErrorKind::kCorrupt, "the part names a span by a text that it does not contain");
  }
}

Verdict JudgeMstxSum(const RankFacts& facts) {
  return JudgeReadable(facts)
      .RefuseKineto(facts, "have no mstx marks")
      .Refuse(facts.recorded.mstx == Recorded::kNo, "the program set no marks and no ranges (mstx)",
              "mstx=True with marks or ranges in the program");
}

}  // namespace
}  // namespace mpa::recipes::mstx

namespace mpa::recipes::sums {

using namespace mstx;

Recipe MstxSum() {
  return MakeRecipe<MapMstxSum, ReduceMstxSum, CheckMarkedSpans>(
      {.name = "mstx_sum",
       .folder = "MstxSum",
       .summary = "how long the marks and ranges of the program took, on the host and the device",
       .needs = Tables::kMstx | Tables::kSteps | Tables::kLaunches | Tables::kQueuedWork,
       .options = {kAllRanges},
       .can_run = JudgeMstxSum,
       .only_with = "marks other than those of steps"});
}

}  // namespace mpa::recipes::sums
