// SPDX-License-Identifier: Apache-2.0
#include "head_sheets.h"

#include <cmath>
#include <string>
#include <utility>

namespace mpa::head {
namespace {

Cell OrEmpty(MaybeNs time) { return time ? Cell(*time) : Cell(); }
Cell OrEmpty(const std::optional<double>& ratio) {
  return ratio ? Cell(Rounded(*ratio, 6)) : Cell();
}
Cell IdOrEmpty(std::int64_t id) { return id >= 0 ? Cell(id) : Cell(); }
Cell Text(std::string_view text) { return std::string(text); }

class SheetMaker {
 public:
  SheetMaker(std::string_view name, bool for_people) : for_people_(for_people) {
    sheet_.name = name;
    sheet_.look = Look::kList;
    Number("rankId");
  }

  SheetMaker& Number(std::string_view name) { return Add(name, Format::kInteger, 10); }
  SheetMaker& Words(std::string_view name, double width) { return Add(name, Format::kText, width); }
  SheetMaker& Ratio(std::string_view name) { return Add(name, Format::kDecimals4, 12); }
  SheetMaker& Time(std::string_view name) {
    if (!for_people_) return Number(name);
    Add(std::string(name) + "(us)", Format::kDecimals3, 14);
    sheet_.columns.back().unit = Unit::kNsShownAsUs;
    return *this;
  }
  SheetMaker& Times(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) Time(name);
    return *this;
  }
  SheetMaker& Numbers(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) Number(name);
    return *this;
  }
  Sheet Take() { return std::move(sheet_); }

 private:
  SheetMaker& Add(std::string_view name, Format format, double width) {
    sheet_.columns.push_back({.name = std::string(name), .format = format, .width = width});
    return *this;
  }

  bool for_people_;
  Sheet sheet_;
};

Sheet CallSheet(bool for_people) {
  return SheetMaker("HEAD_CALL", for_people)
      .Numbers({"callId", "parentCallId", "step", "pid", "tid", "deviceId"})
      .Words("graphKey", 24)
      .Words("engine", 12)
      .Words("phase", 10)
      .Words("kind", 8)
      .Numbers({"w0Ns", "e0Ns", "t1Ns", "t2Ns", "t3Ns", "t4Ns"})
      .Times({"platform", "platformWait", "dynamo", "lookup", "dynamoCompile", "regionOther",
              "frontend", "torchairPy", "torchairCpp", "ge", "geExec", "epilogueCpp", "epiloguePy",
              "head", "compile", "headNet"})
      .Numbers({"fk0Ns", "fk1Ns"})
      .Words("fkSource", 16)
      .Times({"firstTaskLatency", "firstKernelLatency", "headToFirstKernel", "entryToFirstKernel",
              "deviceIdleBeforeFirstKernel", "exposedPlatform", "exposedDynamo", "exposedPy",
              "exposedCpp", "exposedGe", "exposedLag"})
      .Numbers({"nConstruct", "nContiguous", "nClone", "nTo", "nLaunch"})
      .Words("flags", 30)
      .Take();
}

// "launch", or "launch, iteration" where task and kernel were found in different ways.
std::string SourceText(const Call& call) {
  std::string text(NameOf(call.task_source));
  if (call.kernel_source != call.task_source && call.kernel_source != KernelSource::kNone) {
    text += (text.empty() ? "" : ", ") + std::string(NameOf(call.kernel_source));
  }
  return text;
}

Row CallRow(std::int64_t rank, const HeadPart& part, std::size_t position) {
  const Call& call = part.calls[position];
  const bool knows = call.KnowsHead();
  const auto known = [&](TimeNs time) { return knows ? MaybeNs(time) : std::nullopt; };
  const MaybeNs w0 = known(call.w0), e0 = known(call.e0), t4 = known(call.t4);
  const auto front = [&]() -> MaybeNs { return known(call.t1 - call.w0); };
  const auto count = [&](std::int64_t number) { return knows ? Cell(number) : Cell(); };
  Row row{{IdOrEmpty(rank), static_cast<std::int64_t>(position), IdOrEmpty(call.parent),
           IdOrEmpty(call.step), call.pid, call.tid, IdOrEmpty(call.device),
           part.graphs[call.graph], Text(NameOf(call.engine)), Text(NameOf(call.phase)),
           Text(NameOf(call.kind))}};
  for (const MaybeNs time : {w0,
                             e0,
                             known(call.t1),
                             call.t2,
                             call.t3,
                             t4,
                             call.Of(Segment::kPlatform),
                             call.platform_wait,
                             call.Of(Segment::kDynamo),
                             call.lookup,
                             call.dynamo_compile,
                             call.region_other,
                             front(),
                             call.Of(Segment::kTorchairPy),
                             call.Of(Segment::kTorchairCpp),
                             call.Of(Segment::kGe),
                             call.ge_exec,
                             call.epilogue_cpp,
                             call.epilogue_py,
                             Since(t4, w0),
                             known(call.compile),
                             known(call.Head() - call.compile),
                             call.first_task,
                             call.first_kernel}) {
    row.cells.push_back(OrEmpty(time));
  }
  row.cells.push_back(SourceText(call));
  for (const MaybeNs time :
       {Since(call.first_task, call.t3), Since(call.first_kernel, call.t3),
        Since(call.first_kernel, w0), Since(call.first_kernel, e0), call.idle,
        call.ExposedOf(Segment::kPlatform), call.ExposedOf(Segment::kDynamo),
        call.ExposedOf(Segment::kTorchairPy), call.ExposedOf(Segment::kTorchairCpp),
        call.ExposedOf(Segment::kGe), call.exposed_lag}) {
    row.cells.push_back(OrEmpty(time));
  }
  for (const std::int64_t number :
       {call.tensors_built, call.contiguous, call.clones, call.copies}) {
    row.cells.push_back(count(number));
  }
  row.cells.emplace_back(call.launches);
  row.cells.emplace_back(FlagText(call));
  return row;
}

Sheet StepSheet(bool for_people) {
  return SheetMaker("HEAD_STEP", for_people)
      .Numbers({"step", "tid", "calls", "compileCalls"})
      .Times({"platform", "dynamo", "torchairPy", "torchairCpp", "ge", "tail", "stepDuration",
              "exposedTotal"})
      .Ratio("coverage")
      .Time("outside")
      .Take();
}

Row StepCells(std::int64_t rank, const StepRow& step) {
  Row row{{IdOrEmpty(rank), std::int64_t{step.step}, step.tid, step.calls, step.compile_calls}};
  for (const TimeNs time : step.segments) row.cells.emplace_back(time);
  row.cells.insert(row.cells.end(), {step.tail, step.duration, OrEmpty(step.exposed)});
  const auto coverage =
      step.duration > 0
          ? std::optional(static_cast<double>(step.head) / static_cast<double>(step.duration))
          : std::nullopt;
  row.cells.insert(row.cells.end(), {OrEmpty(coverage), step.outside});
  return row;
}

Sheet SummarySheet(bool for_people) {
  return SheetMaker("HEAD_SUMMARY", for_people)
      .Words("scope", 24)
      .Words("phase", 10)
      .Words("segment", 20)
      .Number("count")
      .Times({"mean", "p50", "p90", "max", "sum"})
      .Ratio("share")
      .Ratio("shareOfStep")
      .Time("exposedSum")
      .Ratio("exposedShare")
      .Take();
}

Row SummaryCells(std::int64_t rank, const SummaryRow& row) {
  const Spread& spread = row.spread;
  return {{IdOrEmpty(rank), row.scope, Text(NameOf(row.phase)), Text(row.measure), spread.count,
           spread.mean, spread.p50, spread.p90, spread.max, spread.sum, OrEmpty(row.share),
           OrEmpty(row.share_of_step), OrEmpty(row.exposed_sum), OrEmpty(row.exposed_share)}};
}

Sheet ChildSheet(bool for_people) {
  return SheetMaker("HEAD_CHILD", for_people)
      .Words("scope", 24)
      .Words("segment", 14)
      .Words("class", 20)
      .Words("name", 40)
      .Number("count")
      .Ratio("countPerCall")
      .Times({"total", "mean", "max"})
      .Ratio("shareOfSegment")
      .Time("exposed")
      .Take();
}

// Means are over the calls, those without such a child included.
Row ChildCells(std::int64_t rank, const ChildRow& row) {
  const auto calls = static_cast<double>(row.calls);
  const bool counted = row.count > 0;
  return {{IdOrEmpty(rank), row.scope, Text(NameOf(row.segment)), row.kind, row.name,
           counted ? Cell(row.count) : Cell(),
           counted ? Cell(Rounded(static_cast<double>(row.count) / calls, 4)) : Cell(), row.total,
           std::llround(static_cast<double>(row.total) / calls), row.max, OrEmpty(row.share),
           OrEmpty(row.exposed)}};
}

Sheet AdviceSheet(bool for_people) {
  return SheetMaker("HEAD_ADVICE", for_people)
      .Words("ruleId", 10)
      .Words("severity", 10)
      .Words("scope", 24)
      .Words("owner", 34)
      .Words("text", 100)
      .Words("metric", 34)
      .Ratio("value")
      .Ratio("threshold")
      .Time("exposedPerStep")
      .Number("calls")
      .Take();
}

Row AdviceCells(std::int64_t rank, const AdviceRow& row) {
  return {{IdOrEmpty(rank), Text(row.rule), Text(NameOf(row.severity)), row.scope, Text(row.owner),
           row.text, Text(row.metric), Rounded(row.value, 4), Rounded(row.threshold, 4),
           OrEmpty(row.exposed_per_step), row.calls}};
}

}  // namespace

std::vector<Sheet> HeadSheets(const std::vector<RankHead>& ranks, bool for_people) {
  Sheet calls = CallSheet(for_people);
  Sheet steps = StepSheet(for_people);
  Sheet summary = SummarySheet(for_people);
  Sheet children = ChildSheet(for_people);
  Sheet advice = AdviceSheet(for_people);
  for (const auto& [rank, part] : ranks) {
    for (std::size_t i = 0; i < part->calls.size(); ++i) {
      calls.rows.push_back(CallRow(rank, *part, i));
    }
    for (const StepRow& step : part->steps) steps.rows.push_back(StepCells(rank, step));
    for (const SummaryRow& row : part->summary) summary.rows.push_back(SummaryCells(rank, row));
    for (const ChildRow& row : part->children) children.rows.push_back(ChildCells(rank, row));
    for (const AdviceRow& row : part->advice) advice.rows.push_back(AdviceCells(rank, row));
  }
  return {std::move(calls), std::move(steps), std::move(summary), std::move(children),
          std::move(advice)};
}

}  // namespace mpa::head
