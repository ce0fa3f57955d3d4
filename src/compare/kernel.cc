// SPDX-License-Identifier: Apache-2.0
// Kernel times by operator type and shapes, or by operator type and core.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "compare_sheet.h"
#include "mpa/base/first_seen.h"
#include "mpa/base/language.h"
#include "mpa/compare/comparison.h"
#include "mpa/measure/durations.h"
#include "op_groups.h"
#include "overall.h"

namespace mpa::comparisons {
namespace {

constexpr const char* kByShapes = "KernelCompare";
constexpr const char* kByCore = "KernelTypeCompare";
constexpr std::string_view kUnknown = "N/A";

// By operator type, then by shapes or core. The texts belong to a trace.
using KernelSums = FirstSeen<std::pair<std::string_view, std::string_view>, Durations>;

bool IsNpuWithKernels(const RankTrace& trace) {
  return trace.device == DeviceKind::kNpu && !trace.kernels.Empty();
}

// Captures say in two ways that a text was not recorded.
StringId Recorded(const RankTrace& trace, StringId text) {
  return trace.strings.View(text) == kUnknown ? StringId::kEmpty : text;
}

bool HasTypes(const RankTrace& trace) {
  const std::vector<StringId>& types = trace.kernels.op_type;
  return IsNpuWithKernels(trace) && std::ranges::any_of(types, [&](StringId type) {
           return Recorded(trace, type) != StringId::kEmpty;
         });
}

// The types in the order of their first kernels, the details of each in the order of theirs.
KernelSums SumKernels(const RankTrace& trace, const Kernels& kernels,
                      const std::vector<StringId>& details) {
  FirstSeen<StringId, FirstSeen<StringId, Durations>> by_id;
  for (std::size_t i = 0; i < kernels.Size(); ++i) {
    const StringId type = Recorded(trace, kernels.op_type[i]);
    by_id[type][Recorded(trace, details[i])].AddOne({kernels.dur[i]});
  }
  const auto text = [&](StringId id) {
    return id == StringId::kEmpty ? kUnknown : trace.strings.View(id);
  };
  KernelSums sums;
  for (const auto& [type, by_detail] : by_id.rows()) {
    for (const auto& [detail, durations] : by_detail.rows()) {
      sums[{text(type), text(detail)}] = durations;
    }
  }
  return sums;
}

// With the collectives that text captures list among the kernels.
Kernels AllListed(const RankTrace& trace) {
  Kernels kernels = trace.kernels;
  kernels.AppendAll(trace.listed_collectives);
  kernels.Reorder(kernels.RowsByStart());
  return kernels;
}

// What op_statistic.csv sums up.
KernelSums RecordedSums(const RankTrace& trace) {
  const KernelStatistics& statistics = trace.kernel_statistics;
  KernelSums sums;
  for (std::size_t i = 0; i < statistics.Size(); ++i) {
    sums[{trace.strings.View(statistics.op_type[i]), trace.strings.View(statistics.core[i])}].Add(
        {.count = statistics.count[i],
         .sum = {statistics.total[i]},
         .min = {statistics.min[i]},
         .max = {statistics.max[i]}});
  }
  return sums;
}

// Why a side has no kernels to compare, and what to do about it.
std::string Reason(const CompareInput& input, Side side) {
  if (input.Trace(side).device == DeviceKind::kGpu) {
    return Say("{} is a GPU trace; kernels are compared between NPU captures only",
               input.Path(side));
  }
  return Say(
      "{} has no compute kernels; in a text capture they are in kernel_details.csv, beside the"
      " trace",
      input.Path(side));
}

// `time` makes a column of times.
std::vector<std::vector<Column>> Columns(const char* type, const char* detail, const char* meaning,
                                         Column (*time)(std::string_view, std::string_view,
                                                        double)) {
  return {{PlainColumn("Order Id", kOrderMeaning, 10), BoldColumn(type, "The type of the kernels."),
           PlainColumn(detail, meaning)},
          ForBothSides(
              {AsTotal(time("Total Duration(us)", "Time of all kernels of the row, in us.", 20)),
               time("Avg Duration(us)", "Mean time of one kernel, in us.", 20),
               time("Max Duration(us)", "Time of the longest kernel, in us.", 20),
               time("Min Duration(us)", "Time of the shortest kernel, in us.", 20),
               PlainColumn("Calls", "Number of kernels.")}),
          {Growth("Diff Total Ratio", RatioMeaning("Total duration"), 20, Format::kDecimals2),
           Growth("Diff Avg Ratio", RatioMeaning("Average duration"), 20, Format::kDecimals2)}};
}

double AverageNs(const Durations& durations) {
  return durations.count > 0 ? durations.sum.Ns() / static_cast<double>(durations.count) : 0.0;
}

void AppendTimes(const Durations& durations, Row& row) {
  AppendCells(row, durations.sum.Us(), AverageNs(durations) / 1e3, durations.max.Us(),
              durations.min.Us(), durations.count);
}

// The same, blank but for total and average where there is no such kernel.
void AppendTimesIfAny(const Durations& durations, Row& row) {
  if (durations.count > 0) return AppendTimes(durations, row);
  AppendCells(row, 0.0, 0.0, Cell(), Cell(), Cell());
}

// A row for each kind of kernel that a side has; `append_times` adds the cells of a side.
void AddRows(const KernelSums& base_sums, const KernelSums& comparison_sums,
             void (*append_times)(const Durations&, Row&), Sheet& sheet) {
  Join(base_sums, comparison_sums,
       [&](const auto& key, const Durations* in_base, const Durations* in_comparison) {
         const Durations base = in_base ? *in_base : Durations();
         const Durations comparison = in_comparison ? *in_comparison : Durations();
         Row row{{Cell(), std::string(key.first), std::string(key.second)}};
         append_times(base, row);
         append_times(comparison, row);
         AppendCells(row, GrowthRatio(base.sum.Ns(), comparison.sum.Ns()),
                     GrowthRatio(AverageNs(base), AverageNs(comparison)));
         sheet.rows.push_back(std::move(row));
       });
}

void CompareShapes(const CompareInput& input, Report& report) {
  bool complete = true;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    const RankTrace& trace = input.Trace(side);
    if (!IsNpuWithKernels(trace)) {
      NoteNotCollected(Say("{}: left out, because {}", kByShapes, Reason(input, side)), report);
      complete = false;
    } else if (!HasTypes(trace)) {
      NoteNotCollected(Say("{}: the kernels of {} have no type, they are summed as {}; collect with"
                           " profiler_level Level1 or higher",
                           kByShapes, input.Path(side), kUnknown),
                       report);
    }
  }
  if (!complete) return;
  const auto sums = [&](Side side) {
    const RankTrace& trace = input.Trace(side);
    if (!input.options().compat) return SumKernels(trace, trace.kernels, trace.kernels.shapes);
    const Kernels kernels = AllListed(trace);
    return SumKernels(trace, kernels, kernels.shapes);
  };
  Sheet sheet = CompareSheet(
      kByShapes, Columns("Kernel", "Input Shape", "Shapes of the kernels' inputs.", TwoDecimals),
      input);
  sheet.least_change = LeastChange(input, RowsOf::kAllSteps, 1e3);
  AddRows(sums(Side::kBase), sums(Side::kComparison), AppendTimesIfAny, sheet);
  OrderRows(input, sheet);
  report.sheets.push_back(std::move(sheet));
}

// One definition for every format: the sums of the kernels. What the profiler summed itself, over
// the whole run, stands in where it did not keep the kernels or their types.
KernelSums SumsByCore(const CompareInput& input, Side side, Report& report) {
  const RankTrace& trace = input.Trace(side);
  const bool has_statistics = !trace.kernel_statistics.Empty();
  if (HasTypes(trace) || (IsNpuWithKernels(trace) && !has_statistics)) {
    return SumKernels(trace, trace.kernels, trace.kernels.core);
  }
  if (!has_statistics) {
    report.notes.push_back(Say("{}: one side is empty, because {}", kByCore, Reason(input, side)));
    return {};
  }
  if (trace.HasTimeline()) {  // of tables it was said that only sums are known
    report.notes.push_back(
        Say("{}: {} has no kernels with a type; op_statistic.csv is used instead", kByCore,
            input.Path(side)));
  }
  return RecordedSums(trace);
}

void CompareCores(const CompareInput& input, const KernelSums& base_sums,
                  const KernelSums& comparison_sums, Report& report) {
  if (base_sums.Empty() && comparison_sums.Empty()) return;
  Sheet sheet = CompareSheet(
      kByCore,
      Columns("Kernel Type", "Core Type", "The kind of core that ran the kernels.", Decimals),
      input);
  sheet.least_change = LeastChange(input, RowsOf::kAllSteps, 1e3);
  AddRows(base_sums, comparison_sums, AppendTimes, sheet);
  const std::size_t ratio_of_totals = sheet.columns.size() - 2;
  OrderRows(input, sheet, ratio_of_totals);
  report.sheets.push_back(std::move(sheet));
}

// All kernels, then the types that changed most.
std::vector<OverallRow> RowsByType(const KernelSums& base_sums, const KernelSums& comparison_sums) {
  OverallRow all;
  all.name = Translated("All kernels");
  FirstSeen<std::string_view, OverallRow> by_type;
  const auto add = [&](const KernelSums& sums, OverallValue OverallRow::*side) {
    for (const auto& [key, durations] : sums.rows()) {
      OverallRow& row = by_type[key.first];
      (row.*side).time += durations.sum.whole;
      (all.*side).time += durations.sum.whole;
    }
  };
  add(base_sums, &OverallRow::base);
  add(comparison_sums, &OverallRow::comparison);
  std::vector<OverallRow> rows = {all};
  for (const auto& [type, row] : by_type.rows()) {
    rows.push_back(row);
    rows.back().name = type;
    rows.back().level = 1;
  }
  const auto change = [](const OverallRow& row) {
    return std::pair(std::abs(row.comparison.time - row.base.time), row.base.time);
  };
  std::ranges::stable_sort(rows.begin() + 1, rows.end(), std::ranges::greater(), change);
  return rows;
}

void CompareKernels(const CompareInput& input, Report& report) {
  bool by_core = input.options().kernel_types, lacks_trace = false;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    const RankTrace& trace = input.Trace(side);
    // People attach op_statistic.csv alone to a question.
    by_core |= trace.kernels.Empty() && !trace.kernel_statistics.Empty();
    lacks_trace |= !trace.HasTimeline();
  }
  if (!by_core) CompareShapes(input, report);
  if (!by_core && !lacks_trace) return;
  const KernelSums base_sums = SumsByCore(input, Side::kBase, report);
  const KernelSums comparison_sums = SumsByCore(input, Side::kComparison, report);
  if (by_core) CompareCores(input, base_sums, comparison_sums, report);
  if (!lacks_trace || base_sums.Empty() || comparison_sums.Empty()) return;
  const std::vector<OverallRow> rows = RowsByType(base_sums, comparison_sums);
  report.screens.push_back(KernelScreen(input, rows, by_core ? kByCore : kByShapes));
  report.change = {.kind = "component", .name = "kernels"};
  for (std::size_t i = 1; i < rows.size(); ++i) {
    AddChild({"kernel", rows[i].name, rows[i].base.time, rows[i].comparison.time}, report.change);
  }
}

Verdict JudgeKernelSheet(const RankFacts& facts) {
  return JudgeKernelTypes(facts, "only NPU kernels are compared");
}

}  // namespace

Comparison Kernel() {
  return {"kernel",
          "kernels",
          "Kernel times by operator type and shapes, or by type and core",
          Tables::kKernels | Tables::kKernelStatistics,
          CompareKernels,
          JudgeKernelSheet};
}

}  // namespace mpa::comparisons
