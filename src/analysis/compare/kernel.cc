// SPDX-License-Identifier: Apache-2.0
// Kernel times by operator type and shapes, or by operator type and core.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compare_sheet.h"
#include "durations.h"
#include "first_seen.h"
#include "mpa/analysis/comparison.h"
#include "op_groups.h"

namespace mpa::comparisons {
namespace {

constexpr const char* kByShapes = "KernelCompare";
constexpr const char* kByCore = "KernelTypeCompare";

// By operator type, then by shapes or core. The texts belong to a trace.
using KernelSums = FirstSeen<std::pair<std::string_view, std::string_view>, Durations>;

bool HasTypes(const RankTrace& trace) {
  const std::vector<StringId>& types = trace.kernels.op_type;
  return trace.device == DeviceKind::kNpu &&
         std::any_of(types.begin(), types.end(),
                     [](StringId type) { return type != StringId::kEmpty; });
}

// The types in the order of their first kernels, the details of each in the order of theirs.
KernelSums SumKernels(const RankTrace& trace, const std::vector<StringId>& details) {
  FirstSeen<StringId, FirstSeen<StringId, Durations>> by_id;
  if (HasTypes(trace)) {
    for (std::size_t i = 0; i < trace.kernels.Size(); ++i) {
      by_id[trace.kernels.op_type[i]][details[i]].Add(trace.kernels.dur[i]);
    }
  }
  KernelSums sums;
  for (const auto& [type, by_detail] : by_id.rows()) {
    for (const auto& [detail, durations] : by_detail.rows()) {
      sums[{trace.strings.View(type), trace.strings.View(detail)}] = durations;
    }
  }
  return sums;
}

// What op_statistic.csv sums up.
KernelSums RecordedSums(const RankTrace& trace) {
  const KernelStatistics& statistics = trace.kernel_statistics;
  KernelSums sums;
  for (std::size_t i = 0; i < statistics.Size(); ++i) {
    sums[{trace.strings.View(statistics.op_type[i]), trace.strings.View(statistics.core[i])}].Add(
        {.calls = statistics.count[i],
         .total = statistics.total[i],
         .max = statistics.max[i],
         .min = statistics.min[i]});
  }
  return sums;
}

// Why a side has no kernels to compare, and what to do about it.
std::string Reason(const CompareInput& input, Side side) {
  const RankTrace& trace = input.Trace(side);
  if (trace.device == DeviceKind::kGpu) {
    return fmt::format("{} is a GPU trace; kernels are compared between NPU captures only",
                       input.Path(side));
  }
  if (trace.kernels.Empty()) {
    return fmt::format(
        "{} has no compute kernels; in a text capture they are in kernel_details.csv, beside the "
        "trace",
        input.Path(side));
  }
  return fmt::format("the kernels of {} have no type; collect with profiler_level Level1 or higher",
                     input.Path(side));
}

std::vector<Column> Columns(const char* type, const char* detail) {
  std::vector<Column> columns = {Text("Order Id", 10), BoldText(type), Text(detail)};
  AppendColumns(
      ForBothSides({Decimals("Total Duration(us)"), Decimals("Avg Duration(us)"),
                    Decimals("Max Duration(us)"), Decimals("Min Duration(us)"), Text("Calls")}),
      columns);
  columns.push_back(Growth("Diff Total Ratio", 20, Format::kDecimals2));
  columns.push_back(Growth("Diff Avg Ratio", 20, Format::kDecimals2));
  return columns;
}

std::string OrNa(std::string_view text) { return std::string(text.empty() ? "N/A" : text); }

double Average(double total, std::int64_t calls) {
  return calls > 0 ? total / static_cast<double>(calls) : 0.0;
}

// Times in us, rounded as the sheet shows them; the average and the ratios are made of these.
struct ShownTimes {
  double total = 0, average = 0, max = 0, min = 0;
  std::int64_t calls = 0;
};

ShownTimes Shown(const Durations* durations) {
  if (durations == nullptr) return {};
  const double total = Rounded(Us(durations->total), 2);
  return {.total = total,
          .average = Rounded(Average(total, durations->calls), 2),
          .max = Rounded(Us(durations->max), 2),
          .min = Rounded(Us(durations->min), 2),
          .calls = durations->calls};
}

void CompareShapes(const CompareInput& input, Report& report) {
  bool complete = true;
  for (const Side side : {Side::kBase, Side::kComparison}) {
    if (HasTypes(input.Trace(side))) continue;
    report.notes.push_back(fmt::format("{}: left out, because {}", kByShapes, Reason(input, side)));
    complete = false;
  }
  if (!complete) return;
  const auto sums = [&](Side side) {
    return SumKernels(input.Trace(side), input.Trace(side).kernels.shapes);
  };
  Sheet sheet = CompareSheet(kByShapes, Columns("Kernel", "Input Shape"), input);
  Join(sums(Side::kBase), sums(Side::kComparison),
       [&](const auto& key, const Durations* in_base, const Durations* in_comparison) {
         const ShownTimes base = Shown(in_base);
         const ShownTimes comparison = Shown(in_comparison);
         Row row{{Cell(), OrNa(key.first), OrNa(key.second)}};
         for (const ShownTimes& times : {base, comparison}) {
           row.cells.insert(row.cells.end(), {times.total, times.average});
           if (times.calls > 0) {
             row.cells.insert(row.cells.end(), {times.max, times.min, times.calls});
           } else {
             row.cells.resize(row.cells.size() + 3);
           }
         }
         row.cells.emplace_back(DiffRatio(base.total, comparison.total));
         row.cells.emplace_back(DiffRatio(base.average, comparison.average));
         sheet.rows.push_back(std::move(row));
       });
  NumberRows(sheet);
  report.sheets.push_back(std::move(sheet));
}

// One definition for every format: the sums of the kernels. What the profiler summed itself, over
// the whole run, stands in where it did not keep the kernels.
KernelSums SumsByCore(const CompareInput& input, Side side, Report& report) {
  const RankTrace& trace = input.Trace(side);
  if (HasTypes(trace)) return SumKernels(trace, trace.kernels.core);
  if (trace.kernel_statistics.Empty() || input.options().one_step) {
    report.notes.push_back(
        fmt::format("{}: one side is empty, because {}", kByCore, Reason(input, side)));
    return {};
  }
  report.notes.push_back(fmt::format(
      "{}: {} has no kernels with a type; op_statistic.csv stands in", kByCore, input.Path(side)));
  return RecordedSums(trace);
}

void CompareCores(const CompareInput& input, Report& report) {
  const KernelSums base_sums = SumsByCore(input, Side::kBase, report);
  const KernelSums comparison_sums = SumsByCore(input, Side::kComparison, report);
  if (base_sums.Empty() && comparison_sums.Empty()) return;
  struct Pair {
    std::string_view type, core;
    Durations base, comparison;
    double total_ratio;
  };
  std::vector<Pair> pairs;
  Join(base_sums, comparison_sums,
       [&](const auto& key, const Durations* in_base, const Durations* in_comparison) {
         const Durations base = in_base ? *in_base : Durations();
         const Durations comparison = in_comparison ? *in_comparison : Durations();
         pairs.push_back({key.first, key.second, base, comparison,
                          DiffRatio(Us(base.total), Us(comparison.total))});
       });
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.total_ratio > b.total_ratio; });
  Sheet sheet = CompareSheet(kByCore, Columns("Kernel Type", "Core Type"), input);
  for (const Pair& pair : pairs) {
    Row row{{Cell(), OrNa(pair.type), OrNa(pair.core)}};
    for (const Durations& side : {pair.base, pair.comparison}) {
      row.cells.insert(row.cells.end(), {Us(side.total), Average(Us(side.total), side.calls),
                                         Us(side.max), Us(side.min), side.calls});
    }
    row.cells.emplace_back(pair.total_ratio);
    row.cells.emplace_back(DiffRatio(Average(Us(pair.base.total), pair.base.calls),
                                     Average(Us(pair.comparison.total), pair.comparison.calls)));
    sheet.rows.push_back(std::move(row));
  }
  NumberRows(sheet);
  report.sheets.push_back(std::move(sheet));
}

void Run(const CompareInput& input, Report& report) {
  input.options().kernel_types ? CompareCores(input, report) : CompareShapes(input, report);
}

}  // namespace

Comparison Kernel() {
  return {"kernel", "Kernel times by operator type and shapes, or by type and core",
          Tables::kKernels | Tables::kKernelStatistics, Run};
}

}  // namespace mpa::comparisons
