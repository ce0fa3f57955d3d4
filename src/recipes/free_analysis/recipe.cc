// SPDX-License-Identifier: Apache-2.0
// The longest times in which the device of every rank was idle, and why.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "gaps.h"
#include "launch_delays.h"
#include "mpa/base/columns.h"
#include "mpa/base/error.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/collectives/check_collectives.h"
#include "mpa/collectives/lateness.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"

namespace mpa::recipes::free_analysis {

struct Idle {
  Interval time;
  std::int32_t step = -1;
  Edge from{}, to{};
  GapReason reason;
  GapAccount account;

  TimeNs Length() const { return time.end - time.begin; }
};

struct IdleOfRank {
  std::vector<Idle> longest;
  std::vector<TimeNs> categories;  ///< of all steps, by category
  EarlierTime earlier = {};
  RankCollectives collectives;
  LaunchDelays launches;
};

}  // namespace mpa::recipes::free_analysis

namespace mpa::recipes::free_analysis {
namespace {

using free_analysis::Edge;
using free_analysis::Gap;
using free_analysis::GapReason;
using free_analysis::Idle;
using free_analysis::IdleOfRank;
using free_analysis::IdleReason;

constexpr Option<std::size_t> kTopNum{"top_num", "N", "Idle times of each rank to explain", 10};
constexpr Option<bool> kAsCompat = CompatSwitch(
    "List the rows and columns of the Python tool: only times between two kernels or collectives,"
    " copies are within them");

void CheckIdle(const IdleOfRank& part) {
  CheckCollectives(part.collectives);
  bool holds = IsDuration(part.earlier.time);
  for (const Idle& idle : part.longest) holds = holds && IsDuration(idle.Length());
  for (const TimeNs time : part.categories) holds = holds && IsDuration(time);
  if (!holds) Fail(ErrorKind::kCorrupt, "an idle time is impossible");
  CheckLaunchDelays(part.launches);
}

IdleOfRank MapFreeAnalysis(const RankTrace& trace, const RecipeArguments& arguments) {
  const std::size_t most = arguments[kTopNum];
  const free_analysis::StepAccounts accounts(trace);
  IdleOfRank part;
  part.collectives = CollectivesOfRank(trace);
  const std::vector<Gap> gaps = arguments[kAsCompat]
                                    ? free_analysis::FindReferenceGaps(trace, most)
                                    : free_analysis::FindGaps(trace, accounts.Account(), most);
  for (const Gap& gap : gaps) {
    part.longest.push_back({gap.time, gap.step, gap.from, gap.to,
                            ReasonOf(gap, part.collectives.on_gpu ? "CUDA" : "CANN"),
                            accounts.Of(gap.time)});
  }
  part.earlier = accounts.Account().earlier;
  part.launches = LaunchDelaysOf(trace, accounts.Account().clock);
  const CategoryTimes categories = accounts.Categories();
  for (std::size_t category = 0; category < kTimeCategories; ++category) {
    part.categories.push_back(categories[static_cast<TimeCategory>(category)]);
  }
  return part;
}

std::vector<ColumnOf<RowOfRank<Idle>>> IdleColumns(bool compat) {
  using Item = RowOfRank<Idle>;
  std::vector<ColumnOf<Item>> columns = {
      CountColumn<&Item::rank, kRank>("rankId", 20, "The rank.", "Rank ID"),
      TextColumn<&Item::row, &Idle::time, &Interval::begin, MicrosecondsText>(
          "startTime(us)", 20, "When the device became idle, in us.", "Start Time(us)"),
      TextColumn<&Item::row, &Idle::time, &Interval::end, MicrosecondsText>(
          "endTime(us)", 20, "When the device worked again, or the step ended, in us.",
          "End Time(us)"),
      {NamedColumn("duration(us)", Format::kDecimals3, 20, "How long the device was idle, in us.",
                   "Duration(us)"),
       [](const Item& item) -> Cell { return InUs(item.row->time.end - item.row->time.begin); }},
      NumberColumn<&Item::row, &Idle::reason, &GapReason::framework_idle, kAsUs>(
          "pytorchIdleTime(us)", Format::kDecimals3, 20,
          "Time between the ends of the operators that launched the work before and after the gap,"
          " in us; empty where the capture does not say, or other tasks ran.",
          "Pytorch Idle Time(us)"),
      NumberColumn<&Item::row, &Idle::reason, &GapReason::runtime_idle, kAsUs>(
          "cannIdleTime(us)", Format::kDecimals3, 20,
          "Time between the ends of the CANN calls before and after the gap, in us.",
          "Cann Idle Time(us)"),
      TextColumn<&Item::row, &Idle::reason, &GapReason::text>(
          "reason", 20, "What the host did in this time, or else the device.", "Reason")};
  if (compat) return columns;
  return Joined<Item>(
      std::move(columns),
      {TextColumn<&Item::row, &Idle::account, &free_analysis::GapAccount::causes>(
           "causes", 20,
           "How the account of the step divides this time: leaves, the largest first.", "Causes"),
       TextColumn<&Item::row, &Idle::account, &free_analysis::GapAccount::place>(
           "place", 20,
           "What the host did longest, if for at least a tenth of this time, and the line of the"
           " program; empty where nothing is recorded.",
           "Place"),
       CountColumn<&Item::row, &Idle::step, kIfKnown>(
           "step", 8, "The step; empty: the capture has none.", "Step"),
       {NamedColumn("after", Format::kText, 20,
                    "What ended when the device became idle: kernel, collective, copy, or start of"
                    " the step.",
                    "After"),
        [](const Item& item) -> Cell { return std::string(NameOf(item.row->from, true)); }},
       {NamedColumn("before", Format::kText, 20,
                    "What began when the device worked again, or end of the step.", "Before"),
        [](const Item& item) -> Cell { return std::string(NameOf(item.row->to, false)); }}});
}

using Ranks = std::vector<OfRank<IdleOfRank>>;

// The categories of all ranks together.
CategoryTimes CategoriesOf(const Ranks& ranks) {
  CategoryTimes all;
  for (const auto& [id, part] : ranks) {
    for (std::size_t category = 0; category < std::min(kTimeCategories, part.categories.size());
         ++category) {
      all[static_cast<TimeCategory>(category)] += part.categories[category];
    }
  }
  return all;
}

// What causes free time, the largest first.
std::vector<std::pair<TimeNs, std::string_view>> CausesOf(const CategoryTimes& categories) {
  std::vector<std::pair<TimeNs, std::string_view>> causes;
  for (std::size_t i = 0; i < kTimeCategories; ++i) {
    const auto category = static_cast<TimeCategory>(i);
    if (IsFree(category) && categories[category] > 0)
      causes.push_back({categories[category], TitleOf(category)});
  }
  StableSort(causes, [](const auto& a, const auto& b) { return a.first > b.first; });
  return causes;
}

// The largest causes of the free time of all ranks.
void AddCauses(const CategoryTimes& categories, Report& report) {
  constexpr std::size_t kMax = 8;
  const auto causes = CausesOf(categories);
  if (causes.empty()) return;
  const TimeNs all = categories.SumOf(IsFree);
  report.lines.push_back(Say("causes, by their share of the free time of all ranks"));
  const auto add = [&](std::string_view name, TimeNs time) {
    report.lines.push_back(fmt::format("  {} {:>6.1f} %  {:>12.3f} ms",
                                       PaddedBehind(std::string(Translated(name)), 34),
                                       PercentOf(time, all), InMs(time)));
  };
  TimeNs rest = all;
  for (std::size_t i = 0; i < std::min(kMax, causes.size()); ++i) {
    add(causes[i].second, causes[i].first);
    rest -= causes[i].first;
  }
  if (rest > 0) add(ToTranslate("others"), rest);
}

// In words, and as many of them as a line of the screen holds.
std::string LargestCauses(const std::string& causes) {
  const std::size_t width = ScreenColumns() - 4;
  std::string text;
  for (const std::string_view piece : Split(causes, ',')) {
    const std::string_view cause = Trim(piece);
    const std::size_t blank = std::min(cause.find(' '), cause.size());
    const std::optional<TimeCategory> category = CategoryNamed(cause.substr(0, blank));
    const std::string words = fmt::format(
        "{}{}{}", text.empty() ? "" : Translated(", "),
        category ? Translated(TitleOf(*category)) : cause.substr(0, blank), cause.substr(blank));
    if (ColumnsOf(text) + ColumnsOf(words) + 5 > width) return text + ", ...";
    text += words;
  }
  return text;
}

// The longest of all ranks, of those that may have been busy or of the others.
const OfRank<IdleOfRank>* FindLongest(const Ranks& ranks, bool maybe_busy, const Idle*& longest) {
  const OfRank<IdleOfRank>* found = nullptr;
  for (const OfRank<IdleOfRank>& rank : ranks) {
    for (const Idle& idle : rank.part.longest) {
      if ((idle.reason.kind == IdleReason::kMaybeBusy) != maybe_busy) continue;
      if (found != nullptr && idle.Length() <= longest->Length()) continue;
      longest = &idle;
      found = &rank;
    }
  }
  return found;
}

std::string BoundsText(const Idle& idle) {
  const auto text = [](Edge edge, bool at_begin) {
    switch (edge) {
      case Edge::kKernel:
        return Translated("a kernel");
      case Edge::kCollective:
        return Translated("a collective");
      case Edge::kCopy:
        return Translated("a copy");
      case Edge::kStep:
        break;
    }
    return Translated(at_begin ? "the start of the step" : "the end of the step");
  };
  const std::string_view from = text(idle.from, true), to = text(idle.to, false);
  return idle.step < 0 ? Say("between {} and {}", from, to)
                       : Say("between {} and {}, in step {}", from, to, idle.step);
}

void AddLongest(const Ranks& ranks, bool compat, Report& report) {
  const auto add = [&](const std::string& text) {
    if (!text.empty()) report.lines.push_back("  " + CutEnd(Printable(text), ScreenColumns() - 4));
  };
  const Idle* idle = nullptr;
  if (const auto* rank = FindLongest(ranks, false, idle)) {
    const std::string length = AmountText(Quantity::kTime, idle->Length());
    report.lines.push_back(compat
                               ? Say("longest between two kernels or collectives: {} on {}", length,
                                     RankText(rank->rank))
                               : Say("longest idle time: {} on {}", length, RankText(rank->rank)));
    if (!compat) add(BoundsText(*idle));
    if (idle->reason.kind != IdleReason::kEdge) add(ReasonInWords(idle->reason.text));
    add(LargestCauses(idle->account.causes));
    add(ShortenName(idle->account.place, ScreenColumns() - 4));
  }
  if (const auto* rank = FindLongest(ranks, true, idle)) {
    report.lines.push_back(Say("{} on {} may not have been idle:",
                               AmountText(Quantity::kTime, idle->Length()), RankText(rank->rank)));
    add(BoundsText(*idle));
    add(Say("the work that ended it began long after its launch; earlier work was not recorded"));
  }
}

// The free time of all ranks by what causes it, as the screen lists it.
PageChart CauseChart(const CategoryTimes& categories) {
  PageChart chart{.kind = PageChart::Kind::kBars,
                  .title = Say("Free time of all ranks by its cause"),
                  .unit = "ms"};
  PageSeries& series = chart.series.emplace_back();
  series.tint = Tint::kFree;
  series.name = Say("free");
  for (const auto& [time, title] : CausesOf(categories)) {
    chart.labels.emplace_back(Translated(title));
    series.values.push_back(InMs(time));
  }
  return chart;
}

// Of the rank with the most free time what waits on its device, too.
void AddDrawings(const Ranks& ranks, Report& report) {
  std::vector<const LaunchDelays*> launches;
  const OfRank<IdleOfRank>* most = nullptr;
  double largest = -1;
  for (const OfRank<IdleOfRank>& rank : ranks) {
    launches.push_back(&rank.part.launches);
    const CategoryTimes categories = CategoriesOf({rank});
    const double free = PercentOf(categories.SumOf(IsFree), categories.Sum());
    if (rank.part.launches.waiting.empty() || free <= largest) continue;
    largest = free;
    most = &rank;
  }
  if (const CategoryTimes categories = CategoriesOf(ranks); categories.SumOf(IsFree) > 0)
    report.drawings.push_back(CauseChart(categories));
  if (auto chart = DelayChart(launches)) report.drawings.push_back(std::move(*chart));
  if (most == nullptr) return;
  if (auto chart = QueueChart(most->part.launches, most->rank))
    report.drawings.push_back(std::move(*chart));
}

void AddLines(const Ranks& ranks, bool compat, Report& report) {
  std::vector<RankValue> shares;
  for (const OfRank<IdleOfRank>& rank : ranks) {
    const CategoryTimes categories = CategoriesOf({rank});
    if (categories.Sum() == 0) continue;
    shares.push_back({rank.rank, PercentOf(categories.SumOf(IsFree), categories.Sum())});
  }
  if (shares.empty()) return;
  OutlierLines outliers;
  outliers.Add(Translated("free"), shares,
               [](double value) { return fmt::format("{:.1f} %", value); });
  const RankSpread spread = SpreadOf(std::move(shares));
  const CategoryTimes categories = CategoriesOf(ranks);
  const auto causes = CausesOf(categories);
  const std::string text =
      Say("the device is free {:.1f} % of the time: min {:.1f} %, max {:.1f} %"
          " ({})",
          spread.median, spread.min.value, spread.max.value, RankText(spread.max.rank));
  AddSentence(causes.empty() ? text
                             : Say("{}; {:.0f} % of it: {}", text,
                                   PercentOf(causes.front().first, categories.SumOf(IsFree)),
                                   Translated(causes.front().second)),
              report.lines);
  AddCauses(categories, report);
  AddLongest(ranks, compat, report);
  std::vector<EarlierTime> earlier;
  for (const auto& rank : ranks) earlier.push_back(rank.part.earlier);
  AddEarlierTimeLine(earlier, report.lines);
  outliers.AppendTo(report.lines);
}

void AddNotes(const Ranks& ranks, Report& report) {
  std::size_t unknown = 0, layers = 0;
  bool on_gpu = false;
  for (const auto& [id, part] : ranks) {
    if (CategoriesOf({{id, part}}).Sum() == 0) report.notes.push_back(NoDeviceWorkNote(id));
    on_gpu = on_gpu || part.collectives.on_gpu;
    for (const Idle& idle : part.longest) {
      unknown += idle.reason.kind == IdleReason::kUnknown ? 1 : 0;
      layers += idle.reason.kind == IdleReason::kHost ? 1 : 0;
    }
  }
  if (unknown > 0) {
    report.notes.push_back(Say(
        "the capture does not say what dispatched the work around {} idle times; collect with"
        " activities {}; work of captured graphs and of compiled models is not dispatched one by"
        " one",
        unknown, Translated(on_gpu ? "CPU and CUDA" : "CPU and NPU and profiler_level=Level1")));
  }
  if (layers > 0) {
    report.notes.push_back(
        Say("the operators of {} idle times were not recorded; collect with the activity"
            " CPU to separate the framework from {}",
            layers, on_gpu ? Translated("the runtime") : "CANN"));
  }
}

void ReduceFreeAnalysis(const Ranks& ranks, const RecipeArguments& arguments,
                        OutputSelection wanted, Report& report) {
  const bool compat = arguments[kAsCompat];
  if (wanted.sheets) {
    ItemSheet list({"FreeAnalysis", ToTranslate("The longest idle times of the device, and why")},
                   IdleColumns(compat), {"free_analysis", TextFile::Unit::kAsTheyAre});
    list.sheet.charts = {{.kind = Chart::Kind::kBars,
                          .title = "The longest free times of each rank together",
                          .labels = {"rankId"},
                          .values = {{"duration(us)", Tint::kFree}},
                          .measured = Measured::kUs,
                          .same = Chart::SameLabel::kSum,
                          .of_ranks = true}};
    AddRowsOfRanks(ranks, &IdleOfRank::longest, std::move(list), report);
    AddDrawings(ranks, report);
  }
  AddNotes(ranks, report);
  if (wanted.screen == Detail::kNone) return;
  AddLines(ranks, compat, report);
  JobCollectives collectives;
  for (const auto& rank : ranks) collectives.emplace_back(rank.part.collectives);
  AddLatenessLines(FindLateness(collectives, report.absent), kShownLateRanks, report.lines);
}

Verdict JudgeFreeAnalysis(const RankFacts& facts) {
  return JudgeReadable(facts)
      .Refuse(facts.recorded.device_tasks == Recorded::kNo, "no device work was recorded",
              DeviceSetting(facts))
      .AddLack(facts.recorded.host_ops == Recorded::kNo,
               "no operators of the host; the framework cannot be separated from CANN",
               "activities=[CPU, NPU]");
}

}  // namespace

Recipe FreeAnalysis() {
  return MakeRecipe<MapFreeAnalysis, ReduceFreeAnalysis, CheckIdle>(
      {.name = "free_analysis",
       .folder = "FreeAnalysis",
       .summary = "the longest idle times of the device, and why",
       .needs = kAccountTables | Tables::kOverlaps | Tables::kScheduleKernels | Tables::kOpStacks |
                Tables::kThreadStates | kLatenessTables,
       .options = {kTopNum, kAsCompat},
       .can_run = JudgeFreeAnalysis});
}

}  // namespace mpa::recipes::free_analysis
