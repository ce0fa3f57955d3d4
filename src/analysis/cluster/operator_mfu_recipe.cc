// SPDX-License-Identifier: Apache-2.0
// How much of the chip the kernels, modules and kinds of work of every rank used.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arguments.h"
#include "chip_of_rank.h"
#include "mfu_screen.h"
#include "mfu_summary.h"
#include "module_mfu.h"
#include "module_sheet.h"
#include "mpa/analysis/recipe.h"
#include "operator_mfu.h"

namespace mpa::recipes {
namespace {

struct Part {
  std::vector<OperatorMfuRow> kernels;
  std::vector<ModuleStatisticRow> modules;
  MfuSummary summary;
};

const Part& PartOf(const RankPart& part) { return std::any_cast<const Part&>(part.part); }

std::any Map(const RankTrace& trace, const RecipeArguments& arguments) {
  const ThreadGroups groups(trace);
  const AllOpWork work = FindOpWork(trace);
  const ChipPeak chip = ChipOf(trace, arguments);
  const RankMfu mfu = FindKernelMfu(trace, groups, work, chip);
  ModuleStatisticOptions options;
  options.backward = arguments.contains("with_backward");
  Part part{.kernels = OperatorMfuRows(trace, mfu),
            .modules = SumModules(trace, groups, work, options).rows,
            .summary = SummariseMfu(trace, mfu, chip)};
  for (ModuleStatisticRow& row : part.modules) {
    row.mfu = AverageMfu(row, mfu);
    row.work = {};
  }
  return part;
}

Column Named(std::string_view name, Format format, double width) {
  return {.name = std::string(name), .format = format, .width = width};
}

Cell RoundedOr(bool known, double value, int decimals) {
  return known ? Cell(Rounded(value, decimals)) : Cell();
}
Cell RoundedOr(const std::optional<double>& value, int decimals) {
  return RoundedOr(value.has_value(), value.value_or(0), decimals);
}

// A sheet under the names of a kind of output; those for people begin with capitals, as far as the
// Python tool has them so.
Sheet Table(std::string_view name, std::vector<Column> columns) {
  Sheet sheet;
  sheet.name = name;
  sheet.look = Look::kList;
  sheet.columns = std::move(columns);
  return sheet;
}

std::vector<Column> KernelColumns(bool for_people) {
  const auto name = [&](const char* in_database, const char* in_workbook) {
    return for_people ? in_workbook : in_database;
  };
  return {Named(name("rank_id", "Rank ID"), Format::kInteger, 10),
          Named(name("op_name", "Op Name"), Format::kText, 40),
          Named(name("kernel_name", "Kernel Name"), Format::kText, 50),
          Named(name("kernel_start(ns)", "Kernel Start(ns)"), Format::kInteger, 22),
          Named(name("kernel_end(ns)", "Kernel End(ns)"), Format::kInteger, 22),
          Named(name("kernel_duration(ns)", "Kernel Duration(ns)"), Format::kInteger, 20),
          Named(name("mfu", "MFU"), Format::kDecimals4, 10),
          Named("actual_tflops", Format::kDecimals2, 14),
          Named("chip_peak_tflops", Format::kDecimals2, 16),
          Named("flops", Format::kInteger, 18),
          Named("flops_op_name", Format::kText, 30),
          Named("input_shapes", Format::kText, 40),
          Named("output_shapes", Format::kText, 30),
          Named("flops_source", Format::kText, 12),
          Named("compute_type", Format::kText, 12),
          Named("mfu_of_measured_clock", Format::kDecimals4, 22),
          Named("why_no_mfu", Format::kText, 36)};
}

std::string_view Text(FlopsSource source) {
  switch (source) {
    case FlopsSource::kNone:
      return "";
    case FlopsSource::kRecorded:
      return "recorded";
    case FlopsSource::kShapes:
      return "shapes";
  }
  return "";
}

Row KernelRow(std::int64_t rank, const OperatorMfuRow& row) {
  const KernelMfu& mfu = row.mfu;
  const auto tflops = mfu.flops.Known() ? Tflops(mfu.flops.count, row.dur) : std::nullopt;
  return {{rank, row.op, row.kernel, row.start, row.start + row.dur, row.dur,
           RoundedOr(mfu.use.Known(), mfu.use.ratio, 4), RoundedOr(tflops, 2),
           RoundedOr(mfu.peak_tflops > 0, mfu.peak_tflops, 2),
           mfu.flops.Known() ? Cell(mfu.flops.count) : Cell(), row.counted, row.input_shapes,
           row.output_shapes, std::string(Text(mfu.source)), std::string(Text(mfu.type)),
           RoundedOr(mfu.use_of_measured_clock, 4), std::string(row.Reason())}};
}

std::vector<Column> ModuleTableColumns(bool for_people, bool with_mfu) {
  constexpr ModuleColumnNames kDatabase = {
      {"parent_module", "module", "op_name", "kernel_list", "total_kernel_duration(ns)",
       "avg_kernel_duration(ns)", "op_count"},
      "avg_mfu"};
  constexpr ModuleColumnNames kWorkbook = {
      {"Parent Module", "Module", "Op Name", "Kernel List", "Total Kernel Duration(ns)",
       "Avg Kernel Duration(ns)", "Op Count"},
      "Avg MFU"};
  std::vector<Column> columns = ModuleColumns(for_people ? kWorkbook : kDatabase, with_mfu);
  columns.insert(columns.begin(), Named(for_people ? "Rank ID" : "rank_id", Format::kInteger, 10));
  return columns;
}

Row ModuleRow(std::int64_t rank, const ModuleStatisticRow& row, bool with_mfu) {
  std::vector<Cell> cells = ModuleCells(row, with_mfu);
  cells.insert(cells.begin(), rank);
  return {cells};
}

std::vector<Column> ShareColumns() {
  return {Named("rank_id", Format::kInteger, 10),
          Named("work", Format::kText, 30),
          Named("kernels", Format::kInteger, 10),
          Named("duration(ns)", Format::kInteger, 16),
          Named("share_of_device_time", Format::kDecimals4, 22),
          Named("flops", Format::kDecimals2, 18),
          Named("actual_tflops", Format::kDecimals2, 14),
          Named("mfu", Format::kDecimals4, 10),
          Named("mfu_of_measured_clock", Format::kDecimals4, 22),
          Named("why_no_mfu", Format::kText, 40)};
}

Row ShareRow(std::int64_t rank, const MfuSummary& summary, const MfuShare& share) {
  return {{rank, share.work, share.kernels, share.duration, Rounded(summary.ShareOfTime(share), 4),
           share.flops > 0 ? Cell(share.flops) : Cell(),
           RoundedOr(share.flops > 0 && share.duration > 0,
                     share.flops / static_cast<double>(share.duration) / 1e3, 2),
           RoundedOr(share.Use(), 4), RoundedOr(share.UseOfMeasuredClock(), 4), share.reason}};
}

std::vector<Column> WasteColumns() {
  return {Named("rank_id", Format::kInteger, 10),      Named("op_type", Format::kText, 30),
          Named("kernel_name", Format::kText, 50),     Named("input_shapes", Format::kText, 40),
          Named("compute_type", Format::kText, 12),    Named("kernels", Format::kInteger, 10),
          Named("duration(ns)", Format::kInteger, 16), Named("mfu", Format::kDecimals4, 10),
          Named("wasted(ns)", Format::kInteger, 16)};
}

Row WasteRow(std::int64_t rank, const MfuWaste& waste) {
  return {{rank, waste.op_type, waste.kernel, waste.input_shapes, std::string(Text(waste.type)),
           waste.count, waste.duration, Rounded(waste.use, 4), waste.wasted}};
}

// The tables of several ranks: kernels, modules, summary, waste.
struct MfuTables {
  Sheet kernels, modules, shares, wastes;
};

MfuTables TablesOf(const std::vector<RankPart>& parts, bool for_people) {
  const bool with_mfu = std::any_of(parts.begin(), parts.end(), [](const RankPart& part) {
    return HasMfu(PartOf(part).modules);
  });
  MfuTables tables{
      .kernels = Table(for_people ? "Sheet1" : "OperatorMFU", KernelColumns(for_people)),
      .modules =
          Table(for_people ? "Sheet1" : "ModuleMFU", ModuleTableColumns(for_people, with_mfu)),
      .shares = Table(for_people ? "Summary" : "MFUSummary", ShareColumns()),
      .wastes = Table(for_people ? "Waste" : "MFUWaste", WasteColumns())};
  for (const RankPart& rank : parts) {
    const Part& part = PartOf(rank);
    for (const OperatorMfuRow& row : part.kernels) {
      tables.kernels.rows.push_back(KernelRow(rank.rank, row));
    }
    for (const ModuleStatisticRow& row : part.modules) {
      tables.modules.rows.push_back(ModuleRow(rank.rank, row, with_mfu));
    }
    for (const MfuShare& share : part.summary.shares) {
      tables.shares.rows.push_back(ShareRow(rank.rank, part.summary, share));
    }
    for (const MfuWaste& waste : part.summary.wastes) {
      tables.wastes.rows.push_back(WasteRow(rank.rank, waste));
    }
  }
  return tables;
}

void AddWorkbooks(const RankPart& rank, RecipeResult& result) {
  MfuTables tables = TablesOf({rank}, /*for_people=*/true);
  const auto add = [&](const char* stem, std::vector<Sheet> sheets) {
    if (sheets.front().rows.empty()) return;
    result.workbooks.push_back(
        {fmt::format("operator_mfu_{}_{}", stem, rank.rank), std::move(sheets)});
  };
  add("kernel", {std::move(tables.kernels)});
  add("module", {std::move(tables.modules)});
  add("summary", {std::move(tables.shares), std::move(tables.wastes)});
}

void AddNotes(const std::vector<RankPart>& parts, RecipeResult& result) {
  std::vector<std::string> without_peak, without_work;
  for (const RankPart& rank : parts) {
    const MfuSummary& summary = PartOf(rank).summary;
    const std::string name = RankText(rank.rank);
    if (PartOf(rank).kernels.empty()) {
      without_work.push_back(name);
    } else if (PeakOf(summary.chip, TypeClass::kFp16).gap != PeakGap::kNone) {
      without_peak.push_back(name);
    }
  }
  if (!without_peak.empty()) {
    result.notes.push_back(
        fmt::format("{}: no MFU, the peak of the chip is not known: there is no info.json of "
                    "the device in "
                    "PROF_*; give --ai_core_num and --aic_frequency, or --peak_tflops",
                    fmt::join(without_peak, ", ")));
  }
  for (const RankPart& rank : parts) {
    const std::vector<OperatorMfuRow>& rows = PartOf(rank).kernels;
    const auto beyond = std::count_if(
        rows.begin(), rows.end(), [](const OperatorMfuRow& row) { return row.mfu.use.ratio > 1; });
    if (beyond == 0) continue;
    result.notes.push_back(
        fmt::format("{}: MFU above 100 % of {} of {} kernels; the operations that were "
                    "recorded for them or the numbers of the chip are wrong",
                    RankText(rank.rank), beyond, rows.size()));
  }
  if (!without_work.empty()) {
    result.notes.push_back(fmt::format(
        "{}: no kernel of known operations; collect with profiler_level Level1 or higher, "
        "which records shapes",
        fmt::join(without_work, ", ")));
  }
}

RecipeResult Reduce(const std::vector<RankPart>& parts, const RecipeArguments&) {
  RecipeResult result;
  MfuTables tables = TablesOf(parts, /*for_people=*/false);
  for (Sheet* table : {&tables.kernels, &tables.modules, &tables.shares, &tables.wastes}) {
    result.tables.push_back(std::move(*table));
  }
  for (const RankPart& rank : parts) {
    AddWorkbooks(rank, result);
    for (std::string& line : MfuScreen(RankText(rank.rank), PartOf(rank).summary)) {
      result.screen.push_back(std::move(line));
    }
  }
  AddNotes(parts, result);
  return result;
}

}  // namespace

Recipe OperatorMfu() {
  std::vector<RecipeParameter> parameters = ChipParameters();
  parameters.push_back({"with_backward", "",
                        "List the modules of the backward pass, too, as module_statistic does"});
  return {"operator_mfu",
          "OperatorMfu",
          "how much of the chip kernels and modules use (MFU), and where time is wasted",
          kModuleTables | kMfuTables,
          std::move(parameters),
          Map,
          Reduce};
}

}  // namespace mpa::recipes
