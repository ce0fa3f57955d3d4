// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <utility>

#include "head_screen.h"

namespace mpa::head {
namespace {

// A row of a table with the rank that it belongs to.
template <typename RowType>
struct Of {
  std::int64_t rank = -1;
  const RowType& row;
};
struct CallItem {
  std::int64_t rank = -1;
  const HeadPart& part;
  std::size_t position = 0;
  const Call& call = part.calls[position];
};

Cell OrEmpty(MaybeNs time) { return time ? Cell(*time) : Cell(); }
Cell OrEmpty(const std::optional<double>& ratio) {
  return ratio ? Cell(Rounded(*ratio, 6)) : Cell();
}
Cell IdOrEmpty(std::int64_t id) { return id >= 0 ? Cell(id) : Cell(); }
Cell Text(std::string_view text) { return std::string(text); }

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
template <typename Item>
ColumnOf<Item> RankColumn() {
  return {Number("rankId", "The rank; empty where the capture does not say."),
          [](const Item& item) -> Cell { return IdOrEmpty(item.rank); }};
}

// Of calls that are known by their start alone, nothing else is.
MaybeNs Known(const Call& call, TimeNs time) {
  return call.KnowsHead() ? MaybeNs(time) : std::nullopt;
}
Cell Count(const Call& call, std::int64_t number) {
  return call.KnowsHead() ? Cell(number) : Cell();
}

// "launch", or "launch, iteration" where task and kernel were found in different ways.
std::string SourceText(const Call& call) {
  std::string text(NameOf(call.task_source));
  if (call.kernel_source != call.task_source && call.kernel_source != KernelSource::kNone) {
    text += (text.empty() ? "" : ", ") + std::string(NameOf(call.kernel_source));
  }
  return text;
}

std::vector<ColumnOf<CallItem>> CallColumns() {
  using Item = CallItem;
  return {
      RankColumn<Item>(),
      {Number("callId", "Number of the call on the rank, from 0."),
       [](const Item& item) -> Cell { return static_cast<std::int64_t>(item.position); }},
      {Number("parentCallId", "The call that it is nested in."),
       [](const Item& item) -> Cell { return IdOrEmpty(item.call.parent); }},
      {Number("step", "Its step."),
       [](const Item& item) -> Cell { return IdOrEmpty(item.call.step); }},
      {Number("pid", "Process."), [](const Item& item) -> Cell { return item.call.pid; }},
      {Number("tid", "Thread."), [](const Item& item) -> Cell { return item.call.tid; }},
      {Number("deviceId", "Device that ran the first kernel."),
       [](const Item& item) -> Cell { return IdOrEmpty(item.call.device); }},
      {Words("graphKey", 24, "Name of the graph."),
       [](const Item& item) -> Cell { return item.part.graphs[item.call.graph]; }},
      {Words("engine", 12, "What executes the graph, such as GE_STATIC or ACLGRAPH."),
       [](const Item& item) -> Cell { return Text(NameOf(item.call.engine)); }},
      {Words("phase", 10, "steady or compile."),
       [](const Item& item) -> Cell { return Text(NameOf(item.call.phase)); }},
      {Words("kind", 8, "The event by which the call was found."),
       [](const Item& item) -> Cell { return Text(NameOf(item.call.kind)); }},
      {Number("w0Ns", "When the time of the platform begins."),
       [](const Item& item) -> Cell { return OrEmpty(Known(item.call, item.call.w0)); }},
      {Number("e0Ns", "When the compiled model is entered."),
       [](const Item& item) -> Cell { return OrEmpty(Known(item.call, item.call.e0)); }},
      {Number("t1Ns", "When the Python part of TorchAir begins."),
       [](const Item& item) -> Cell { return OrEmpty(Known(item.call, item.call.t1)); }},
      {Number("t2Ns", "When the C++ part of TorchAir begins."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.t2); }},
      {Number("t3Ns", "When GE or the replay begins."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.t3); }},
      {Number("t4Ns", "When the call ends."),
       [](const Item& item) -> Cell { return OrEmpty(Known(item.call, item.call.t4)); }},
      {Time("platform", "Time of the platform or script before the call."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.Of(Segment::kPlatform)); }},
      {Time("platformWait", "Of it, waiting for the device."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.platform_wait); }},
      {Time("dynamo", "Time of PyTorch Dynamo."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.Of(Segment::kDynamo)); }},
      {Time("lookup", "Of it, looking up the compiled graph."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.lookup); }},
      {Time("dynamoCompile", "Of it, compiling."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.dynamo_compile); }},
      {Time("regionOther", "Of it, the rest of the compiled region."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.region_other); }},
      {Time("frontend", "From w0Ns to t1Ns."),
       [](const Item& item) -> Cell {
         return OrEmpty(Known(item.call, item.call.t1 - item.call.w0));
       }},
      {Time("torchairPy", "Python part of TorchAir."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.Of(Segment::kTorchairPy)); }},
      {Time("torchairCpp", "C++ part of TorchAir."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.Of(Segment::kTorchairCpp)); }},
      {Time("ge", "From t3Ns to t4Ns: GE and the epilogue, or the replay."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.Of(Segment::kGe)); }},
      {Time("geExec", "Of it, the execution of the graph by GE."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.ge_exec); }},
      {Time("epilogueCpp", "Of it, the C++ epilogue of TorchAir."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.epilogue_cpp); }},
      {Time("epiloguePy", "Of it, the Python epilogue of TorchAir."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.epilogue_py); }},
      {Time("head", "From w0Ns to t4Ns."),
       [](const Item& item) -> Cell {
         return OrEmpty(Since(Known(item.call, item.call.t4), Known(item.call, item.call.w0)));
       }},
      {Time("compile", "Of the head, compiling or loading the graph."),
       [](const Item& item) -> Cell { return OrEmpty(Known(item.call, item.call.compile)); }},
      {Time("headNet", "The head without that."),
       [](const Item& item) -> Cell {
         return OrEmpty(Known(item.call, item.call.Head() - item.call.compile));
       }},
      {Number("fk0Ns", "When the first task starts on the device."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.first_task); }},
      {Number("fk1Ns", "When the first kernel starts."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.first_kernel); }},
      {Words("fkSource", 16, "How task and kernel were found; time is a guess."),
       [](const Item& item) -> Cell { return SourceText(item.call); }},
      {Time("firstTaskLatency", "From t3Ns to the first task."),
       [](const Item& item) -> Cell { return OrEmpty(Since(item.call.first_task, item.call.t3)); }},
      {Time("firstKernelLatency", "From t3Ns to the first kernel."),
       [](const Item& item) -> Cell {
         return OrEmpty(Since(item.call.first_kernel, item.call.t3));
       }},
      {Time("headToFirstKernel", "From w0Ns to the first kernel."),
       [](const Item& item) -> Cell {
         return OrEmpty(Since(item.call.first_kernel, Known(item.call, item.call.w0)));
       }},
      {Time("entryToFirstKernel", "From e0Ns to the first kernel."),
       [](const Item& item) -> Cell {
         return OrEmpty(Since(item.call.first_kernel, Known(item.call, item.call.e0)));
       }},
      {Time("deviceIdleBeforeFirstKernel",
            "Idle time of the device from w0Ns to the first kernel."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.idle); }},
      {Time("exposedPlatform", "Of platform, the device was idle."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.ExposedOf(Segment::kPlatform)); }},
      {Time("exposedDynamo", "Of dynamo, the device was idle."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.ExposedOf(Segment::kDynamo)); }},
      {Time("exposedPy", "Of torchairPy, the device was idle."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.ExposedOf(Segment::kTorchairPy)); }},
      {Time("exposedCpp", "Of torchairCpp, the device was idle."),
       [](const Item& item) -> Cell {
         return OrEmpty(item.call.ExposedOf(Segment::kTorchairCpp));
       }},
      {Time("exposedGe", "Of ge, the device was idle."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.ExposedOf(Segment::kGe)); }},
      {Time("exposedLag", "Idle time of the device between t4Ns and the first kernel."),
       [](const Item& item) -> Cell { return OrEmpty(item.call.exposed_lag); }},
      {Number("nConstruct", "Tensors that TorchAir builds."),
       [](const Item& item) -> Cell { return Count(item.call, item.call.tensors_built); }},
      {Number("nContiguous", "Inputs made contiguous."),
       [](const Item& item) -> Cell { return Count(item.call, item.call.contiguous); }},
      {Number("nClone", "Inputs cloned."),
       [](const Item& item) -> Cell { return Count(item.call, item.call.clones); }},
      {Number("nTo", "Inputs copied to the device or another type."),
       [](const Item& item) -> Cell { return Count(item.call, item.call.copies); }},
      {Number("nLaunch", "Launches within the call."),
       [](const Item& item) -> Cell { return item.call.launches; }},
      {Words("flags", 30, "Notes on the numbers, joined by |."),
       [](const Item& item) -> Cell { return FlagText(item.call); }}};
}

std::optional<double> Coverage(const StepRow& step) {
  if (step.duration <= 0) return std::nullopt;
  return static_cast<double>(step.head) / static_cast<double>(step.duration);
}

std::vector<ColumnOf<Of<StepRow>>> StepColumns() {
  using Item = Of<StepRow>;
  return {RankColumn<Item>(),
          {Number("step", "The step."),
           [](const Item& item) -> Cell { return std::int64_t{item.row.step}; }},
          {Number("tid", "The thread."), [](const Item& item) -> Cell { return item.row.tid; }},
          {Number("calls", "Calls of graphs."),
           [](const Item& item) -> Cell { return item.row.calls; }},
          {Number("compileCalls", "Calls that compile or load."),
           [](const Item& item) -> Cell { return item.row.compile_calls; }},
          {Time("platform", "Time of the platform or script."),
           [](const Item& item) -> Cell { return item.row.segments[0]; }},
          {Time("dynamo", "Time of PyTorch Dynamo."),
           [](const Item& item) -> Cell { return item.row.segments[1]; }},
          {Time("torchairPy", "Python part of TorchAir."),
           [](const Item& item) -> Cell { return item.row.segments[2]; }},
          {Time("torchairCpp", "C++ part of TorchAir."),
           [](const Item& item) -> Cell { return item.row.segments[3]; }},
          {Time("ge", "GE and the epilogue, or the replay."),
           [](const Item& item) -> Cell { return item.row.segments[4]; }},
          {Time("tail", "From the end of the last call to the end of the step."),
           [](const Item& item) -> Cell { return item.row.tail; }},
          {Time("stepDuration", "The step."),
           [](const Item& item) -> Cell { return item.row.duration; }},
          {Time("exposedTotal", "Of the heads, the device was idle."),
           [](const Item& item) -> Cell { return OrEmpty(item.row.exposed); }},
          {Ratio("coverage", "Share of the step that heads take, 1 is all."),
           [](const Item& item) -> Cell { return OrEmpty(Coverage(item.row)); }},
          {Time("outside", "Time that belongs to no call and not to the tail."),
           [](const Item& item) -> Cell { return item.row.outside; }}};
}

std::vector<ColumnOf<Of<SummaryRow>>> SummaryColumns() {
  using Item = Of<SummaryRow>;
  return {
      RankColumn<Item>(),
      {Words("scope", 24, "all, or a graph."),
       [](const Item& item) -> Cell { return item.row.scope; }},
      {Words("phase", 10, "steady or compile."),
       [](const Item& item) -> Cell { return Text(NameOf(item.row.phase)); }},
      {Words("segment", 20, "The time that the row describes."),
       [](const Item& item) -> Cell { return item.row.measure; }},
      {Number("count", "Calls that have it."),
       [](const Item& item) -> Cell { return item.row.spread.count; }},
      {Time("mean", "Mean over the calls."),
       [](const Item& item) -> Cell { return item.row.spread.mean; }},
      {Time("p50", "Median over the calls."),
       [](const Item& item) -> Cell { return item.row.spread.p50; }},
      {Time("p90", "90 of 100 calls take less."),
       [](const Item& item) -> Cell { return item.row.spread.p90; }},
      {Time("max", "Longest."), [](const Item& item) -> Cell { return item.row.spread.max; }},
      {Time("sum", "Of all calls."), [](const Item& item) -> Cell { return item.row.spread.sum; }},
      {Ratio("share", "Share of the sum of heads, 1 is all."),
       [](const Item& item) -> Cell { return OrEmpty(item.row.share); }},
      {Ratio("shareOfStep", "Share of the time of the steps with such calls."),
       [](const Item& item) -> Cell { return OrEmpty(item.row.share_of_step); }},
      {Time("exposedSum", "Of the sum, the device was idle."),
       [](const Item& item) -> Cell { return OrEmpty(item.row.exposed_sum); }},
      {Ratio("exposedShare", "Share of the idle time before first kernels."),
       [](const Item& item) -> Cell { return OrEmpty(item.row.exposed_share); }}};
}

// The mean over the calls, those without such a child included.
double PerCall(std::int64_t sum, const ChildRow& row) {
  return static_cast<double>(sum) / static_cast<double>(row.calls);
}

std::vector<ColumnOf<Of<ChildRow>>> ChildColumns() {
  using Item = Of<ChildRow>;
  return {
      RankColumn<Item>(),
      {Words("scope", 24, "all, or a graph."),
       [](const Item& item) -> Cell { return item.row.scope; }},
      {Words("segment", 14, "The part of the head."),
       [](const Item& item) -> Cell { return Text(NameOf(item.row.segment)); }},
      {Words("class", 20, "Kind of work; of_which_... is counted in another row, too."),
       [](const Item& item) -> Cell { return item.row.kind; }},
      {Words("name", 40, "The operator, call or gap."),
       [](const Item& item) -> Cell { return item.row.name; }},
      {Number("count", "Events; empty for time without an event."),
       [](const Item& item) -> Cell { return item.row.count > 0 ? Cell(item.row.count) : Cell(); }},
      {Ratio("countPerCall", "Events in a call."),
       [](const Item& item) -> Cell {
         return item.row.count > 0 ? Cell(Rounded(PerCall(item.row.count, item.row), 4)) : Cell();
       }},
      {Time("total", "In all calls."), [](const Item& item) -> Cell { return item.row.total; }},
      {Time("mean", "In a call, over all calls."),
       [](const Item& item) -> Cell { return std::llround(PerCall(item.row.total, item.row)); }},
      {Time("max", "In one call at most."), [](const Item& item) -> Cell { return item.row.max; }},
      {Ratio("shareOfSegment", "Share of the part of the head, 1 is all."),
       [](const Item& item) -> Cell { return OrEmpty(item.row.share); }},
      {Time("exposed", "Of the total, the device was idle before the first kernel."),
       [](const Item& item) -> Cell { return OrEmpty(item.row.exposed); }}};
}

std::vector<ColumnOf<Of<AdviceRow>>> AdviceColumns() {
  using Item = Of<AdviceRow>;
  return {
      RankColumn<Item>(),
      {Words("ruleId", 10, "The rule."), [](const Item& item) -> Cell { return item.row.rule; }},
      {Words("severity", 10, "info, warn or high."),
       [](const Item& item) -> Cell { return Text(NameOf(item.row.severity)); }},
      {Words("scope", 24, "all, or a graph."),
       [](const Item& item) -> Cell { return item.row.scope; }},
      {Words("owner", 34, "Whom to ask."), [](const Item& item) -> Cell { return item.row.owner; }},
      {Words("text", 100, "What was measured, and what to do."),
       [](const Item& item) -> Cell { return item.row.text; }},
      {Words("metric", 34, "What the value and the threshold measure."),
       [](const Item& item) -> Cell { return item.row.metric; }},
      {Ratio("value", "The measured value."),
       [](const Item& item) -> Cell { return Rounded(item.row.value, 4); }},
      {Ratio("threshold", "The value from which on the rule applies."),
       [](const Item& item) -> Cell { return Rounded(item.row.threshold, 4); }},
      {Time("exposedPerStep", "The most that a fix saves in a step."),
       [](const Item& item) -> Cell { return OrEmpty(item.row.exposed_per_step); }},
      {Number("calls", "Number of calls with the problem."),
       [](const Item& item) -> Cell { return item.row.calls; }}};
}

template <typename Item>
Sheet HeadSheet(const char* name, const std::vector<ColumnOf<Item>>& columns) {
  Sheet sheet = SheetOf(name, columns);
  sheet.of_rank = {"head_overhead", name};
  return sheet;
}

}  // namespace

void AddHeadSheets(const std::vector<OfRank<HeadPart>>& ranks, Report& report) {
  const auto call_columns = CallColumns();
  const auto step_columns = StepColumns();
  const auto summary_columns = SummaryColumns();
  const auto child_columns = ChildColumns();
  const auto advice_columns = AdviceColumns();
  Sheet calls = HeadSheet("HEAD_CALL", call_columns);
  Sheet steps = HeadSheet("HEAD_STEP", step_columns);
  Sheet summary = HeadSheet("HEAD_SUMMARY", summary_columns);
  Sheet children = HeadSheet("HEAD_CHILD", child_columns);
  Sheet advice = HeadSheet("HEAD_ADVICE", advice_columns);
  for (const auto& [id, part] : ranks) {
    const std::size_t rank = BeginRank(id, report);
    for (std::size_t i = 0; i < part.calls.size(); ++i) {
      AddRow(call_columns, {id, part, i}, rank, calls);
    }
    for (const StepRow& row : part.steps) AddRow(step_columns, {id, row}, rank, steps);
    for (const SummaryRow& row : part.summary) AddRow(summary_columns, {id, row}, rank, summary);
    for (const ChildRow& row : part.children) AddRow(child_columns, {id, row}, rank, children);
    for (const AdviceRow& row : part.advice) AddRow(advice_columns, {id, row}, rank, advice);
  }
  report.sheets = {std::move(calls), std::move(steps), std::move(summary), std::move(children),
                   std::move(advice)};
}

}  // namespace mpa::head
