// SPDX-License-Identifier: Apache-2.0
// The slowest kernels and operators of every rank, and every event beyond a threshold.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/measure/accounting.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/amount.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"
#include "mpa/report/screen_list.h"
#include "top.h"

namespace mpa::recipes::top_operators {
namespace {

constexpr std::size_t kShownKernels = 5, kShownOperators = 3, kShownEvents = 4;

std::string ShortName(const std::string& name, std::size_t columns) {
  return CutEnd(Printable(ShortFunctionName(name)), columns);
}

std::string BoundText(const Top& top) {
  const UnitLoads loads = top.Loads();
  if (BusiestLoad(loads) <= 0) return "-";
  return fmt::format("{} {:.0f} %", BusiestUnit(loads), BusiestLoad(loads) / 10.0);
}

// "4096,4096 by aten::mm at model.py:12"; what is unknown is left out.
std::string PlaceText(const std::string& shapes, const std::string& launched_by,
                      const std::string& call_site) {
  std::string text = CutEnd(Printable(shapes), NameColumns(36));
  const auto add = [&](std::string_view word, const std::string& more) {
    if (more.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", word, Printable(more));
  };
  add(Translated("by"), launched_by);
  add(Translated("at"), call_site);
  return CutEnd(text, ScreenColumns() - 4);
}

// "43.1 % of requests hit the L2 cache; main_mem_read_bw 812.3"
std::string CountersLine(const Top& top) {
  std::string text;
  if (const auto hits = top.HitRate())
    text = Say("{:.1f} % of requests hit the L2 cache", 100 * *hits);
  // Busy units say more than what is counted beside them.
  const std::string counters = BusiestLoad(top.Loads()) > 0 ? "" : top.CountersText();
  if (!text.empty() && !counters.empty()) text += "; ";
  return CutEnd(Printable(text + counters), ScreenColumns() - 4);
}

void AddTop(const std::vector<Top>& all, std::size_t shown, TimeNs steps, const char* title,
            Report& report) {
  if (all.empty()) return;
  const bool with_busy = all.front().kind != Kind::kOperator;
  // As wide as the names are, where the screen has room.
  constexpr std::size_t kColumns = 22;
  std::vector<std::string> names;
  std::size_t columns = kColumns;
  for (std::size_t i = 0; i < std::min(shown, all.size()); ++i) {
    const std::string& name = all[i].type.empty() ? all[i].name : all[i].type;
    names.push_back(ShortenName(Printable(ShortFunctionName(name)), NameColumns(kColumns)));
    columns = std::max(columns, ColumnsOf(names.back()));
  }
  // "busy" stands on the right: as a text, behind two blanks, it would not fit on the screen.
  const ScreenList list(
      0, {ScreenText(title, columns), ScreenNumber("calls", 7), ScreenMs("total ms", 10),
          ScreenUs("mean us", 9), ScreenUs("max us", 9), ScreenNumber("% step", 6, 1),
          ScreenNumber(with_busy ? "busy" : "", 0)});
  report.lines.push_back(list.Heading());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Top& top = all[i];
    report.lines.push_back(list.Line(names[i], top.calls, top.total, top.Mean(), top.max,
                                     PercentOf(top.in_steps, steps),
                                     with_busy ? BoundText(top) : ""));
    const std::string place = PlaceText(top.shapes, top.launched_by, top.call_site);
    if (!place.empty()) report.lines.push_back("    " + place);
    if (const std::string counters = CountersLine(top); !counters.empty())
      report.lines.push_back("    " + counters);
  }
}

void AddEvents(const Ranks& ranks, TimeNs over, Report& report) {
  std::vector<std::pair<RankId, const SlowEvent*>> events;
  std::int64_t count = 0;
  for (const auto& [rank, part] : ranks) {
    count += static_cast<std::int64_t>(part.events.size()) + part.events_left_out;
    for (const SlowEvent& event : part.events) events.push_back({rank, &event});
  }
  const std::string threshold = AmountText(Quantity::kTime, over);
  if (events.empty()) {
    report.lines.push_back(Say("no event is longer than {}", threshold));
    return;
  }
  StableSort(events, [](const auto& a, const auto& b) { return a.second->dur > b.second->dur; });
  report.lines.push_back(
      Say("{} longer than {}; the longest (all: SlowEvents)", Counted(count, "event"), threshold));
  // Of lanes of the host the longest each: they hold each other, and functions all of the program.
  std::set<Kind> lanes;
  std::size_t others = 0;
  std::erase_if(events, [&](const auto& event) {
    const Kind kind = event.second->kind;
    if (kind <= Kind::kOperator) return others++ >= kShownEvents;
    return !event.second->is_innermost || !lanes.insert(kind).second;
  });
  const ScreenList list(0, {ScreenNumber("rank", 6), ScreenNumber("step", 6), ScreenMs("ms", 11),
                            ScreenText("kind", 13), ScreenText("name")});
  report.lines.push_back(list.Heading());
  for (const auto& [rank, event] : events) {
    const std::string site =
        event->call_site.empty()
            ? ""
            : Say(" at {}", ShortenName(Printable(event->call_site), NameColumns(40) / 2));
    const std::string name = ShortName(event->name, NameColumns(39) - ColumnsOf(site)) + site;
    report.lines.push_back(list.Line(RankName(rank), kIfKnown(event->step), event->dur,
                                     Translated(NameOf(event->kind)), name));
  }
}

// Ranks on which one of the slowest kernels takes another time than on the others.
void AddOutliers(const Ranks& ranks, const std::vector<Top>& kernels, Report& report) {
  constexpr std::size_t kCompared = 3;
  OutlierLines outliers;
  for (std::size_t i = 0; i < std::min(kCompared, kernels.size()); ++i) {
    const Top& wanted = kernels[i];
    std::vector<RankValue> times;
    for (const auto& [rank, part] : ranks) {
      const auto same = std::ranges::find_if(part.kernels, [&](const Top& top) {
        return top.kind == wanted.kind && top.type == wanted.type && top.shapes == wanted.shapes &&
               top.core == wanted.core;
      });
      if (same != part.kernels.end()) times.push_back({rank, InMs(same->total)});
    }
    if (!times.empty())
      outliers.Add(ShortName(wanted.type, 30), times,
                   [](double ms) { return fmt::format("{:.3f} ms", ms); });
  }
  outliers.AppendTo(report.lines);
}

void AddLines(const Ranks& ranks, std::size_t top, TimeNs over, Report& report) {
  const std::vector<Top> kernels = Together(ranks, &TopOfRank::kernels);
  const std::vector<Top> operators = Together(ranks, &TopOfRank::operators);
  TimeNs steps = 0, busy = 0;
  bool has_python = false, has_shapes = false, has_loads = false, is_gpu = false;
  for (const auto& [rank, part] : ranks) {
    steps += part.steps;
    busy += part.busy;
    has_python = has_python || part.has_python;
    has_shapes = has_shapes || part.has_shapes;
    has_loads = has_loads || part.has_loads;
    is_gpu = is_gpu || part.is_gpu;
  }
  if (!kernels.empty()) {
    const Top& first = kernels.front();
    report.lines.push_back(Say("{} takes most: {} of {} of device work, {}",
                               ShortName(first.type, 24), AmountText(Quantity::kTime, first.total),
                               AmountText(Quantity::kTime, busy),
                               Counted(static_cast<std::int64_t>(ranks.size()), "rank")));
  }
  AddTop(kernels, std::min(top, kShownKernels), steps, "kernels", report);
  AddTop(operators, std::min(top, kShownOperators), steps, "operators, own kernels", report);
  AddEvents(ranks, over, report);
  AddOutliers(ranks, kernels, report);
  std::string missing;
  const auto add = [&](bool known, const char* what, const char* setting) {
    if (!known) {
      if (!missing.empty()) missing += Translated(", ");
      missing += Say("{} ({})", Translated(what), setting);
    }
  };
  add(has_python, ToTranslate("call sites"), "with_stack=True");
  add(has_shapes, ToTranslate("shapes"), "record_shapes=True");
  add(has_loads || is_gpu, ToTranslate("busy units"), "aic_metrics=PipeUtilization");
  if (!missing.empty()) AddSentence(Say("not recorded: {}", missing), report.lines);
}

struct TopItem {
  RankId rank;
  const Top* top = nullptr;
  TimeNs steps = 0;  // of all ranks that it is of
};

std::vector<ColumnOf<TopItem>> TopColumns(bool with_rank, bool of_operators) {
  using Item = TopItem;
  std::vector<ColumnOf<Item>> columns;
  const auto add = [&](ColumnOf<Item> column) { columns.push_back(std::move(column)); };
  if (with_rank) add(CountColumn<&Item::rank, kRank>("rankId", 10, "The rank."));
  if (of_operators) {
    add(TextColumn<&Item::top, &Top::name>("name", 36, "The operator."));
  } else {
    add(TextColumn<&Item::top, &Top::kind>("kind", 14, "kernel, communication or copy."));
    add(TextColumn<&Item::top, &Top::name>(
        "name", 36, "Name of the kernel in the longest call; for communication, its type."));
    add(TextColumn<&Item::top, &Top::type>(
        "type", 24, "Type of the kernel; calls with equal type, shapes and core form one row."));
    add(TextColumn<&Item::top, &Top::core>("core", 16, "The kind of core."));
  }
  add(TextColumn<&Item::top, &Top::shapes>("inputShapes", 36,
                                           "Shapes of the inputs; empty: unknown."));
  add(CountColumn<&Item::top, &Top::calls>(
      "calls", 10,
      of_operators ? "Calls that launched device work." : "Number of times the kernel ran."));
  add(CountColumn<&Item::top, &Top::total>(
      "totalNs", 16,
      of_operators
          ? "Device time of the kernels and collectives that the operator itself launched, in ns."
          : "Total time of these calls on the device, in ns."));
  add(NumberColumn<&Item::top, &Top::Mean>("meanNs", Format::kDecimals2, 16,
                                           "Mean time of a call on the device, in ns."));
  add(CountColumn<&Item::top, &Top::max>("maxNs", 16,
                                         "Time of the longest call on the device, in ns."));
  add({NamedColumn("stepShare(%)", Format::kDecimals2, 12,
                   "Time within the steps as a share of their length, in percent; work that runs at"
                   " the same time counts in each row."),
       [](const Item& item) -> Cell {
         if (item.steps <= 0) return {};
         return 100 * static_cast<double>(item.top->in_steps) / static_cast<double>(item.steps);
       }});
  if (of_operators) {
    add(CountColumn<&Item::top, &Top::host>(
        "hostNs", 16, "Time of these calls on the host, with the operators inside them, in ns."));
  }
  if (!of_operators) {
    add({NamedColumn("bound", Format::kText, 10,
                     "What the busiest unit of the cores does, if it is busy for more than 80 % of"
                     " the time: cube, vector, memory or scalar; else none. Empty: not measured."),
         [](const Item& item) -> Cell {
           const UnitLoads loads = item.top->Loads();
           return std::string(IsUnbound(loads) ? "none" : BusiestUnit(loads));
         }});
    add({NamedColumn("busiestUnit", Format::kText, 10,
                     "Kind of work of the busiest unit of the cores."),
         [](const Item& item) -> Cell { return std::string(BusiestUnit(item.top->Loads())); }});
    add({NamedColumn("busiestShare(%)", Format::kDecimals2, 12,
                     "Share of the time in which the busiest unit works, in percent: the mean of"
                     " all calls, weighted by time."),
         [](const Item& item) -> Cell {
           const std::int16_t load = BusiestLoad(item.top->Loads());
           return load > 0 ? Cell(load / 10.0) : Cell();
         }});
    add({NamedColumn("cacheHitRate(%)", Format::kDecimals2, 12,
                     "Share of requests that hit the L2 cache, in percent: the mean of all calls,"
                     " weighted by time; empty: not recorded (l2_cache=True or"
                     " aic_metrics=L2Cache)."),
         [](const Item& item) -> Cell {
           const auto rate = item.top->HitRate();
           return rate ? Cell(100 * *rate) : Cell();
         }});
    add({NamedColumn("counters", Format::kText, 40,
                     "Other recorded counters, such as those of aic_metrics=Memory: the mean of all"
                     " calls (rates weighted by time), in the unit of the profiler."),
         [](const Item& item) -> Cell { return item.top->CountersText(); }});
    add(TextColumn<&Item::top, &Top::attributes>(
        "attributes", 30,
        "Attributes of the operator in the longest call (op_attr=True); empty: unknown."));
    add(TextColumn<&Item::top, &Top::launched_by>(
        "operator", 30, "The operator that launched the longest call; empty: unknown."));
  }
  add(TextColumn<&Item::top, &Top::call_site>(
      "callSite", 30, "The line of the program behind the longest call; empty: unknown."));
  return columns;
}

using EventItem = RowOfRank<SlowEvent>;

std::vector<ColumnOf<EventItem>> EventColumns() {
  using Item = EventItem;
  return {
      CountColumn<&Item::rank, kRank>("rankId", 10, "The rank."),
      CountColumn<&Item::row, &SlowEvent::step, kIfKnown>("step", 8, "The step; empty: none."),
      TextColumn<&Item::row, &SlowEvent::kind>(
          "kind", 14, "kernel, communication, copy, operator, task queue, runtime call or Python."),
      CountColumn<&Item::row, &SlowEvent::start>("startNs", 22, "Start of the event, in ns."),
      CountColumn<&Item::row, &SlowEvent::dur>(
          "durationNs", 16,
          "Duration of the event, in ns: on the device, or on a thread of the host."),
      TextColumn<&Item::row, &SlowEvent::name>("name", 36, "Name of the event."),
      TextColumn<&Item::row, &SlowEvent::shapes>("inputShapes", 36,
                                                 "Shapes of the inputs; empty: unknown."),
      TextColumn<&Item::row, &SlowEvent::launched_by>(
          "operator", 30,
          "The operator that launched or queued the event, or in which it ran; empty: unknown."),
      TextColumn<&Item::row, &SlowEvent::call_site>("callSite", 30,
                                                    "The line of the program; empty: unknown."),
      CountColumn<&Item::row, &SlowEvent::thread, kIfKnown>(
          "thread", 10, "The thread of the host; empty: an event of the device.")};
}

void AddTop(const SheetTitle& title, const SheetTitle& of_ranks, const Ranks& ranks,
            std::size_t top, std::vector<Top> TopOfRank::*list, Report& report) {
  const bool of_operators = list == &TopOfRank::operators;
  ItemSheet all(title, TopColumns(false, of_operators));
  ItemSheet each(of_ranks, TopColumns(true, of_operators));
  TimeNs steps = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const TopOfRank& part = ranks[i].part;
    steps += part.steps;
    for (std::size_t row = 0; row < std::min(top, (part.*list).size()); ++row)
      each.Add({ranks[i].rank, &(part.*list)[row], part.steps}, i);
  }
  all.sheet.charts = {{.kind = Chart::Kind::kBars,
                       .title = of_operators ? Say("Device time of the operators that take most")
                                             : Say("Time of the kernels that take most"),
                       .labels = {"name", "inputShapes"},
                       .values = {{"totalNs", Tint::kCompute}},
                       .measured = Measured::kNs}};
  const std::vector<Top> together = Together(ranks, list);
  for (std::size_t row = 0; row < std::min(top, together.size()); ++row)
    all.Add({-1, &together[row], steps});
  report.sheets.push_back(std::move(all.sheet));
  report.sheets.push_back(std::move(each.sheet));
}

void AddSheets(const Ranks& ranks, std::size_t top, Report& report) {
  AddTop({"TopKernels", ToTranslate("The slowest kernels, over all ranks")},
         {"TopKernelsOfRanks", ToTranslate("The slowest kernels, on each rank")}, ranks, top,
         &TopOfRank::kernels, report);
  AddTop({"TopOperators", ToTranslate("The slowest operators, over all ranks")},
         {"TopOperatorsOfRanks", ToTranslate("The slowest operators, on each rank")}, ranks, top,
         &TopOfRank::operators, report);
  ItemSheet events({"SlowEvents", ToTranslate("Events that took longer than the threshold")},
                   EventColumns());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    for (const SlowEvent& event : ranks[i].part.events) events.Add({ranks[i].rank, &event}, i);
  }
  events.sheet.charts = {LargestBars("The longest events", {"name", "kind", "rankId"},
                                     {{"durationNs"}}, Measured::kNs)};
  report.sheets.push_back(std::move(events.sheet));
}

// "1ms", "1.5 s": ns. Throws Error.
TimeNs DurationOf(const std::string& text) {
  constexpr double kLargest = 1e18;
  double number = -1;
  const char* const end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  auto unit = std::string_view(text).substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const double ns = unit == "ns"   ? 1
                    : unit == "us" ? 1e3
                    : unit == "ms" ? 1e6
                    : unit == "s"  ? 1e9
                                   : -1;
  if (ns < 0 || !(number >= 0) || number * ns > kLargest)
    Fail(ErrorKind::kUsage, "give a time with its unit, such as 1ms, 500us or 2s");
  return std::llround(number * ns);
}

constexpr Option<std::size_t> kTop{"top", "N", "Kernels and operators to list", 10};
constexpr Option<TimeNs> kOver{.name = "over",
                               .type_name = "TIME",
                               .help = "List every event that takes longer, such as 1ms or 500us",
                               .usual = 1'000'000,
                               .usual_text = "1ms",
                               .read = DurationOf};

TopOfRank MapTopOperators(const RankTrace& trace, const RecipeArguments& arguments) {
  return TopOf(trace, arguments[kOver]);
}

void ReduceTopOperators(const Ranks& ranks, const RecipeArguments& arguments,
                        OutputSelection wanted, Report& report) {
  const std::size_t top = arguments[kTop];
  for (const auto& [rank, part] : ranks) {
    BeginRank(rank, report);
    if (part.kernels.empty()) report.notes.push_back(NoDeviceWorkNote(rank));
    if (part.events_left_out > 0) {
      report.notes.push_back(
          Say("{}: SlowEvents has the {} longest events; {} shorter ones are left out, a"
              " larger --over lists fewer",
              RankText(rank), part.events.size(), part.events_left_out));
    }
  }
  if (wanted.sheets) AddSheets(ranks, top, report);
  if (wanted.screen != Detail::kNone) AddLines(ranks, top, arguments[kOver], report);
}

}  // namespace
}  // namespace mpa::recipes::top_operators

namespace mpa::recipes::top_operators {

using namespace top_operators;

Recipe TopOperators() {
  return MakeRecipe<MapTopOperators, ReduceTopOperators>(
      {.name = "top_operators",
       .folder = "TopOperators",
       .summary = "the slowest kernels and operators, and every event beyond a threshold",
       .needs = kAccountTables | Tables::kOpDetails | Tables::kOpStacks | Tables::kKernelCounters |
                Tables::kKernelLoads,
       .options = {kTop, kOver},
       .can_run = JudgeReadable,
       .answers_from_kernels = true});
}

}  // namespace mpa::recipes::top_operators
