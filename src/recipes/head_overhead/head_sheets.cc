// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "head_part.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/recipe/rank_lines.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"

namespace mpa::head {
namespace {

Column Number(const char* name, const char* meaning) {
  return NamedColumn(name, Format::kInteger, 10, meaning);
}
Column Words(const char* name, double width, const char* meaning) {
  return NamedColumn(name, Format::kText, width, meaning);
}
Column Ratio(const char* name, const char* meaning) {
  return NamedColumn(name, Format::kDecimals4, 12, meaning);
}
// In ns; workbooks show microseconds.
Column Time(const char* name, const char* meaning) {
  Column column = NamedColumn(name, Format::kInteger, 14, meaning);
  column.in_workbook = {.title = std::string(name) + "(us)", .unit = Unit::kNsShownAsUs};
  return column;
}

// Cells of a call, by the measure that they show.
template <Measure kMeasure>
Cell TimeOf(const Call& item) {
  return CellOf(item.Of(kMeasure));
}
template <Measure kMeasure>
Cell IdleOf(const Call& item) {
  return CellOf(item.IdleOf(kMeasure));
}
// Of calls that are known by their start alone, nothing else is.
template <auto kMember>
Cell IfKnown(const Call& item) {
  return item.KnowsHead() ? Member<kMember>(item) : Cell();
}

// Ends the members that lead to a cell: a number with few decimals.
template <int kDecimals>
constexpr auto kRounded =
    [](std::optional<double> value) { return value ? Cell(Rounded(*value, kDecimals)) : Cell(); };

// "launch", or "launch, iteration" where task and kernel were found in different ways.
std::string SourceText(const Call& call) {
  std::string text(NameOf(call.task_source));
  if (call.kernel_source != call.task_source && call.kernel_source != KernelSource::kNone) {
    text += (text.empty() ? "" : ", ") + std::string(NameOf(call.kernel_source));
  }
  return text;
}

SheetColumns<Call> CallColumns() {
  using Item = Call;
  return {
      {Number("callId", "Number of the call on the rank, from 0."), Member<&Item::id>},
      {Number("parentCallId", "Number of the call around this call."),
       Member<&Call::parent, kIfKnown>},
      {Number("step", "Step of the call."), Member<&Call::step, kIfKnown>},
      {Number("pid", "Process."), Member<&Call::pid>},
      {Number("tid", "Thread."), Member<&Call::tid>},
      {Number("deviceId", "Device that ran the first kernel."), Member<&Call::device, kIfKnown>},
      {Words("graphKey", 24, "Name of the graph."), Member<&Item::graph>},
      {Words("engine", 12, "What executes the graph, such as GE_STATIC or ACLGRAPH."),
       Member<&Call::engine>},
      {Words("phase", 10, "steady or compile."), Member<&Call::phase>},
      {Words("kind", 8, "The event by which the call was found."), Member<&Call::kind>},
      {Number("w0Ns", "When the time of the platform begins."), IfKnown<&Call::frontend_begin>},
      {Number("e0Ns", "When the compiled model is entered."), IfKnown<&Call::entered>},
      {Number("t1Ns", "When the Python part of TorchAir begins."), IfKnown<&Call::python_begin>},
      {Number("t2Ns", "When the C++ part of TorchAir begins."), Member<&Call::cpp_begin>},
      {Number("t3Ns", "When GE or the replay begins."), Member<&Call::ge_begin>},
      {Number("t4Ns", "When the call ends."), IfKnown<&Call::end>},
      {Time("platform", "Time of the platform or script before the call."),
       TimeOf<Measure::kPlatform>},
      {Time("platformWait", "Part of platform spent waiting for the device."),
       TimeOf<Measure::kPlatformWait>},
      {Time("serving",
            "Time of a serving framework before the call; empty: no event belongs to one."),
       TimeOf<Measure::kServing>},
      {Time("servingWait", "Part of serving spent waiting for the device."),
       TimeOf<Measure::kServingWait>},
      {Time("dynamo", "Time of PyTorch Dynamo."), TimeOf<Measure::kDynamo>},
      {Time("lookup", "Part of dynamo spent looking up the compiled graph."),
       TimeOf<Measure::kLookup>},
      {Time("dynamoCompile", "Part of dynamo spent compiling."), TimeOf<Measure::kDynamoCompile>},
      {Time("regionOther", "Part of dynamo in the rest of the compiled region."),
       TimeOf<Measure::kRegionOther>},
      {Time("frontend", "Time from w0Ns to t1Ns."),
       [](const Item& item) -> Cell {
         return item.KnowsHead() ? Cell(item.python_begin - item.frontend_begin) : Cell();
       }},
      {Time("torchairPy", "Time of the Python part of TorchAir."), TimeOf<Measure::kTorchairPy>},
      {Time("torchairCpp", "Time of the C++ part of TorchAir."), TimeOf<Measure::kTorchairCpp>},
      {Time("ge", "Time from t3Ns to t4Ns: GE and the epilogue, or the replay."),
       [](const Item& item) -> Cell { return CellOf(item.Of(item.Parts().back())); }},
      {Time("geExec", "Part of ge in which GE executes the graph."), TimeOf<Measure::kGeExec>},
      {Time("epilogueCpp", "Part of ge in the C++ epilogue of TorchAir."),
       TimeOf<Measure::kEpilogueCpp>},
      {Time("epiloguePy", "Part of ge in the Python epilogue of TorchAir."),
       TimeOf<Measure::kEpiloguePy>},
      {Time("head", "Time from w0Ns to t4Ns."), TimeOf<Measure::kHead>},
      {Time("compile", "Part of head spent compiling or loading the graph."),
       TimeOf<Measure::kCompile>},
      {Time("headNet", "The head without compiling or loading the graph."),
       TimeOf<Measure::kHeadNet>},
      {Number("fk0Ns", "When the first task starts on the device."), Member<&Call::first_task>},
      {Number("fk1Ns", "When the first kernel starts."), Member<&Call::first_kernel>},
      {Words("fkSource", 16, "How task and kernel were found; time is a guess."),
       [](const Item& item) -> Cell { return SourceText(item); }},
      {Time("firstTaskLatency", "Time from t3Ns to the first task."),
       TimeOf<Measure::kFirstTaskLatency>},
      {Time("firstKernelLatency", "Time from t3Ns to the first kernel."),
       TimeOf<Measure::kFirstKernelLatency>},
      {Time("headToFirstKernel", "Time from w0Ns to the first kernel."),
       TimeOf<Measure::kHeadToFirstKernel>},
      {Time("entryToFirstKernel", "Time from e0Ns to the first kernel."),
       [](const Item& item) -> Cell {
         return item.KnowsHead() ? CellOf(Since(item.first_kernel, item.entered)) : Cell();
       }},
      {Time("deviceIdleBeforeFirstKernel",
            "Idle time of the device from w0Ns to the first kernel."),
       IdleOf<Measure::kHead>},
      {Time("exposedPlatform", "Part of platform in which the device was idle."),
       IdleOf<Measure::kPlatform>},
      {Time("exposedServing", "Part of serving in which the device was idle."),
       IdleOf<Measure::kServing>},
      {Time("exposedDynamo", "Part of dynamo in which the device was idle."),
       IdleOf<Measure::kDynamo>},
      {Time("exposedPy", "Part of torchairPy in which the device was idle."),
       IdleOf<Measure::kTorchairPy>},
      {Time("exposedCpp", "Part of torchairCpp in which the device was idle."),
       IdleOf<Measure::kTorchairCpp>},
      {Time("exposedGe", "Part of ge in which the device was idle."),
       [](const Item& item) -> Cell { return CellOf(item.IdleOf(item.Parts().back())); }},
      {Time("exposedLag", "Idle time of the device between t4Ns and the first kernel."),
       IdleOf<Measure::kLag>},
      {Number("nConstruct", "Tensors that TorchAir builds."), IfKnown<&Call::tensors_built>},
      {Number("nContiguous", "Inputs made contiguous."), IfKnown<&Call::contiguous>},
      {Number("nClone", "Inputs cloned."), IfKnown<&Call::clones>},
      {Number("nTo", "Inputs copied to the device or another type."), IfKnown<&Call::copies>},
      {Number("nLaunch", "Launches within the call."), Member<&Call::launches>},
      {Words("flags", 30, "Notes on the numbers, joined by |."),
       [](const Item& item) -> Cell { return FlagText(item); }}};
}

std::optional<double> Coverage(const StepRow& step) {
  if (step.duration <= 0) return std::nullopt;
  return static_cast<double>(step.head) / static_cast<double>(step.duration);
}

SheetColumns<StepRow> StepColumns() {
  using Item = StepRow;
  return {
      {Number("step", "The step."), Member<&Item::step>},
      {Number("tid", "The thread."), Member<&Item::tid>},
      {Number("calls", "Calls of graphs."), Member<&Item::calls>},
      {Number("compileCalls", "Calls that compile or load."), Member<&Item::compile_calls>},
      {Time("platform", "Time of the platform or script."), Member<&Item::parts, kAt<0>>},
      {Time("serving", "Time of a serving framework before calls; empty: no event belongs to one."),
       [](const Item& item) -> Cell {
         return item.knows_serving ? Member<&Item::parts, kAt<1>>(item) : Cell();
       }},
      {Time("dynamo", "Time of PyTorch Dynamo."), Member<&Item::parts, kAt<2>>},
      {Time("torchairPy", "Time of the Python part of TorchAir."), Member<&Item::parts, kAt<3>>},
      {Time("torchairCpp", "Time of the C++ part of TorchAir."), Member<&Item::parts, kAt<4>>},
      {Time("ge", "Time of GE and the epilogue, or of the replay."), Member<&Item::parts, kAt<5>>},
      {Time("tail", "Time from the end of the last call to the end of the step."),
       Member<&Item::tail>},
      {Time("stepDuration", "Duration of the step."), Member<&Item::duration>},
      {Time("exposedTotal", "Time within the heads in which the device was idle."),
       Member<&Item::exposed>},
      {Ratio("coverage", "Share of the step that heads take, 1 is all."),
       [](const Item& item) -> Cell { return CellOf(Coverage(item)); }},
      {Time("outside", "Time that belongs to no call and not to the tail."),
       Member<&Item::outside>}};
}

SheetColumns<SummaryRow> SummaryColumns() {
  using Item = SummaryRow;
  return {
      {Words("scope", 24, "all, or a graph."), Member<&Item::scope>},
      {Words("phase", 10, "steady or compile."), Member<&Item::phase>},
      {Words("segment", 20, "The time that the row describes."), Member<&Item::measure>},
      {Number("count", "Number of calls that have this time."),
       Member<&Item::spread, &CallSpread::count>},
      {Time("mean", "Mean over the calls."), Member<&Item::spread, &CallSpread::mean>},
      {Time("p50", "Median over the calls."), Member<&Item::spread, &CallSpread::p50>},
      {Time("p90", "90th percentile over the calls."), Member<&Item::spread, &CallSpread::p90>},
      {Time("max", "Longest over the calls."), Member<&Item::spread, &CallSpread::max>},
      {Time("sum", "Sum over the calls."), Member<&Item::spread, &CallSpread::sum>},
      {Ratio("share", "Share of the sum of heads, 1 is all."), Member<&Item::share, kRounded<6>>},
      {Ratio("shareOfStep", "Share of the time of the steps with such calls."),
       Member<&Item::share_of_step, kRounded<6>>},
      {Time("exposedSum", "Part of sum in which the device was idle."), Member<&Item::exposed_sum>},
      {Ratio("exposedShare", "Share of the idle time before first kernels."),
       Member<&Item::exposed_share, kRounded<6>>}};
}

// The mean over the calls, those without such a child included.
double PerCall(std::int64_t sum, const ChildRow& row) {
  return static_cast<double>(sum) / static_cast<double>(row.calls);
}

SheetColumns<ChildRow> ChildColumns() {
  using Item = ChildRow;
  return {{Words("scope", 24, "all, or a graph."), Member<&Item::scope>},
          {Words("segment", 14, "The part of the head."), Member<&Item::part>},
          {Words("class", 20, "Kind of work; of_which_... is counted in another row, too."),
           Member<&Item::kind>},
          {Words("name", 40, "The operator, call or gap."), Member<&Item::name>},
          {Number("count", "Events; empty for time without an event."),
           [](const Item& item) -> Cell { return item.count > 0 ? Cell(item.count) : Cell(); }},
          {Ratio("countPerCall", "Events in a call."),
           [](const Item& item) -> Cell {
             return item.count > 0 ? Cell(Rounded(PerCall(item.count, item), 4)) : Cell();
           }},
          {Time("total", "Time in all calls."), Member<&Item::total>},
          {Time("mean", "Mean time in a call, over all calls."),
           [](const Item& item) -> Cell { return std::llround(PerCall(item.total, item)); }},
          {Time("max", "Longest time in one call."), Member<&Item::max>},
          {Ratio("shareOfSegment", "Share of the part of the head, 1 is all."),
           Member<&Item::share, kRounded<6>>},
          {Time("exposed", "Part of total in which the device was idle before the first kernel."),
           Member<&Item::exposed>}};
}

SheetColumns<AdviceRow> AdviceColumns() {
  using Item = AdviceRow;
  return {{Words("ruleId", 10, "The rule."), Member<&Item::rule>},
          {Words("severity", 10, "info, warn or high."), Member<&Item::severity>},
          {Words("scope", 24, "all, or a graph."), Member<&Item::scope>},
          {Words("owner", 34, "Whom to ask."), Member<&Item::owner>},
          {Words("text", 100, "What was measured, and what to do."), Member<&Item::text>},
          {Words("metric", 34, "What the value and the threshold measure."), Member<&Item::metric>},
          {Ratio("value", "The measured value."), Member<&Item::value, kRounded<4>>},
          {Ratio("threshold", "The value from which the rule applies."),
           Member<&Item::threshold, kRounded<4>>},
          {Time("exposedPerStep", "The most that a fix saves in a step."),
           Member<&Item::exposed_per_step>},
          {Number("calls", "Number of calls with the problem."), Member<&Item::calls>}};
}

// A sheet of the rows of ranks, each behind its rank.
template <typename Item>
void AddSheet(const SheetTitle& title, SheetColumns<Item> columns,
              std::vector<Item> HeadPart::*rows, const std::vector<OfRank<HeadPart>>& ranks,
              Report& report, std::vector<Chart> charts = {}) {
  ItemSheet list(title, std::move(columns));
  Sheet& sheet = list.sheet;
  sheet.charts = std::move(charts);
  sheet.of_rank = {"head_overhead", std::string(title.name)};
  sheet.columns.insert(sheet.columns.begin(), Number("rankId", "The rank."));
  for (RankIndex rank; rank < ranks.size(); ++rank) {
    for (const Item& item : ranks[rank].part.*rows) {
      list.Add(item, rank);
      std::vector<Cell>& cells = sheet.rows.back().cells;
      cells.insert(cells.begin(), RankCell(ranks[rank].rank));
    }
  }
  report.sheets.push_back(std::move(sheet));
}

}  // namespace

void AddHeadSheets(const std::vector<OfRank<HeadPart>>& ranks, Report& report) {
  for (const auto& rank : ranks) BeginRank(rank.rank, report);
  AddSheet({"HEAD_CALL", ToTranslate("Each call of a graph: the parts of its head")}, CallColumns(),
           &HeadPart::calls, ranks, report);
  AddSheet({"HEAD_STEP", ToTranslate("The head overhead of each step")}, StepColumns(),
           &HeadPart::steps, ranks, report,
           {{.kind = Chart::Kind::kStacked,
             .title = "Where the heads of the calls of a step spend their time",
             .labels = {"rankId", "step"},
             .values = {{"platform"},
                        {"serving"},
                        {"dynamo"},
                        {"torchairPy"},
                        {"torchairCpp"},
                        {"ge"},
                        {"tail"}},
             .measured = Measured::kNs,
             .same = Chart::SameLabel::kSum}});
  Chart segments = LargestBars("How long each segment of a call takes: median, 90th percentile",
                               {"rankId", "phase", "segment"}, {{"p50"}, {"p90"}}, Measured::kNs);
  segments.only_in = "scope";
  segments.only = "all";
  AddSheet({"HEAD_SUMMARY", ToTranslate("Quantiles of the parts of the head")}, SummaryColumns(),
           &HeadPart::summary, ranks, report, {std::move(segments)});
  AddSheet({"HEAD_CHILD", ToTranslate("What the host did within the head")}, ChildColumns(),
           &HeadPart::children, ranks, report,
           {LargestBars("What runs within the segments, all calls", {"segment", "name"},
                        {{"total"}}, Measured::kNs, Chart::SameLabel::kSum)});
  AddSheet({"HEAD_ADVICE", ToTranslate("What to do about the head overhead")}, AdviceColumns(),
           &HeadPart::advice, ranks, report);
}

namespace {

using Ranks = std::vector<OfRank<HeadPart>>;

const SummaryRow* HeadOf(const HeadPart& part) {
  return FindRow(part.summary, part.phase, Measure::kHead);
}

std::string HeadText(double time) { return fmt::format("{:.1f} us", time / 1e3); }

void AddSpread(std::string_view what, const std::vector<RankValue>& values, ScreenLines& lines) {
  if (values.empty()) return;
  const RankSpread spread = SpreadOf(values);
  lines.push_back(Say("  {} of {} ranks: min {} ({}), median {}, max {} ({})", Translated(what),
                      values.size(), HeadText(spread.min.value), RankText(spread.min.rank),
                      HeadText(spread.median), HeadText(spread.max.value),
                      RankText(spread.max.rank)));
}

}  // namespace

std::size_t LongestHead(const Ranks& ranks) {
  std::size_t longest = 0;
  TimeNs most = -1;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const SummaryRow* head = HeadOf(ranks[i].part);
    if (head == nullptr || head->spread.p50 <= most) continue;
    most = head->spread.p50;
    longest = i;
  }
  return longest;
}

ScreenLines HeadSpreadLines(const Ranks& ranks) {
  if (ranks.size() < 2) return {};
  std::vector<RankValue> medians, idle;
  for (const auto& [rank, part] : ranks) {
    const SummaryRow* head = HeadOf(part);
    if (head == nullptr || head->spread.count == 0) continue;
    medians.push_back({rank, static_cast<double>(head->spread.p50)});
    if (!head->exposed_sum) continue;
    idle.push_back(
        {rank, static_cast<double>(*head->exposed_sum) / static_cast<double>(head->spread.count)});
  }
  ScreenLines lines;
  const std::string_view head = ToTranslate("p50 of the head"),
                         device_idle = ToTranslate("device idle for each call");
  AddSpread(head, medians, lines);
  AddSpread(device_idle, idle, lines);
  OutlierLines outliers;
  if (!medians.empty()) outliers.Add(Translated(head), medians, HeadText);
  if (!idle.empty()) outliers.Add(Translated(device_idle), idle, HeadText);
  ScreenLines far;
  outliers.AppendTo(far);
  for (const ScreenLine& line : far) lines.push_back("  " + line.Text());
  if (const std::size_t without = ranks.size() - medians.size(); without > 0) {
    lines.push_back(Say("  {} of {} ranks have no graph call", without, ranks.size()));
  }
  return lines;
}

}  // namespace mpa::head
