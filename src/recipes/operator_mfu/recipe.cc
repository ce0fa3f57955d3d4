// SPDX-License-Identifier: Apache-2.0
// How much of the chip the kernels, modules and kinds of work of every rank used.
#include "mpa/recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mfu_screen.h"
#include "mfu_summary.h"
#include "mpa/mfu/chip_of_rank.h"
#include "mpa/mfu/module_mfu.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/module_sheet.h"
#include "operator_mfu.h"

namespace mpa::recipes {
namespace {

struct Part {
  std::vector<OperatorMfuRow> kernels;
  std::vector<ModuleStatisticRow> modules;
  MfuSummary summary;
};

const Part& PartOf(const RankPart& part) { return std::any_cast<const Part&>(part.part); }

std::any MapOperatorMfu(const RankTrace& trace, const RecipeArguments& arguments) {
  const ThreadGroups groups(trace);
  const AllOpWork work = FindOpWork(trace);
  const ChipPeak chip = ChipOf(trace, arguments);
  const bool compat = arguments.contains(kCompat);
  const RankMfu mfu = FindKernelMfu(trace, groups, work, chip,
                                    compat ? MfuRule::kRangesOnly : MfuRule::kRangesAndShapes);
  ModuleStatisticOptions options;
  options.backward = arguments.contains("with_backward");
  Part part{.kernels = OperatorMfuRows(trace, mfu),
            .modules = SumModules(trace, groups, work, options).rows,
            .summary = SummariseMfu(trace, mfu, chip)};
  if (compat) {
    std::erase_if(part.kernels, [](const OperatorMfuRow& row) { return !row.mfu.use.Known(); });
  }
  for (ModuleStatisticRow& row : part.modules) {
    row.mfu = AverageMfu(row, mfu, compat ? "" : "-");
    row.work = {};
  }
  return part;
}

Column Named(std::string_view name, Format format, double width) {
  return {.name = std::string(name), .format = format, .width = width};
}

// As many decimals as the Python tool keeps.
Column Share(std::string_view name, double width) {
  return {.name = std::string(name), .format = Format::kDecimals4, .width = width, .decimals = 4};
}
Column Tera(std::string_view name, double width) {
  return {.name = std::string(name), .format = Format::kDecimals2, .width = width, .decimals = 2};
}

Cell IfKnown(bool known, double value) { return known ? Cell(value) : Cell(); }
Cell IfKnown(const std::optional<double>& value) {
  return IfKnown(value.has_value(), value.value_or(0));
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
          Share(name("mfu", "MFU"), 10),
          Tera("actual_tflops", 14),
          Tera("chip_peak_tflops", 16),
          Named("flops", Format::kInteger, 18),
          Named("flops_op_name", Format::kText, 30),
          Named("input_shapes", Format::kText, 40),
          Named("output_shapes", Format::kText, 30),
          Named("flops_source", Format::kText, 12),
          Named("compute_type", Format::kText, 12),
          Share("mfu_of_measured_clock", 22),
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
           IfKnown(mfu.use.Known(), mfu.use.ratio), IfKnown(tflops),
           IfKnown(mfu.peak_tflops > 0, mfu.peak_tflops),
           mfu.flops.Known() ? Cell(mfu.flops.count) : Cell(), row.counted, row.input_shapes,
           row.output_shapes, std::string(Text(mfu.source)), std::string(Text(mfu.type)),
           IfKnown(mfu.use_of_measured_clock), std::string(row.Reason())}};
}

std::vector<Column> ModuleTableColumns(bool for_people, bool with_mfu) {
  constexpr ModuleColumnNames kDatabase = {
      "parent_module",           "module",  "op_name", "kernel_list", "total_kernel_duration(ns)",
      "avg_kernel_duration(ns)", "op_count"};
  constexpr ModuleColumnNames kWorkbook = {
      "Parent Module",           "Module",  "Op Name", "Kernel List", "Total Kernel Duration(ns)",
      "Avg Kernel Duration(ns)", "Op Count"};
  std::vector<Column> columns = ModuleColumns(for_people ? kWorkbook : kDatabase);
  if (with_mfu) {
    columns.push_back({.name = for_people ? "Avg MFU" : "avg_mfu", .format = Format::kText});
  }
  columns.insert(columns.begin(), Named(for_people ? "Rank ID" : "rank_id", Format::kInteger, 10));
  return columns;
}

Row ModuleRow(std::int64_t rank, const ModuleStatisticRow& row, bool with_mfu) {
  std::vector<Cell> cells = ModuleCells(row);
  if (with_mfu) cells.emplace_back(row.mfu);
  cells.insert(cells.begin(), rank);
  return {cells};
}

std::vector<Column> ShareColumns() {
  return {Named("rank_id", Format::kInteger, 10),
          Named("work", Format::kText, 30),
          Named("kernels", Format::kInteger, 10),
          Named("duration(ns)", Format::kInteger, 16),
          Share("share_of_device_time", 22),
          Named("flops", Format::kDecimals2, 18),
          Tera("actual_tflops", 14),
          Share("mfu", 10),
          Share("mfu_of_measured_clock", 22),
          Named("why_no_mfu", Format::kText, 40)};
}

Row ShareRow(std::int64_t rank, const MfuSummary& summary, const MfuShare& share) {
  return {{rank, share.work, share.kernels, share.duration, summary.ShareOfTime(share),
           share.flops > 0 ? Cell(share.flops) : Cell(),
           IfKnown(share.flops > 0 && share.duration > 0,
                   share.flops / static_cast<double>(share.duration) / 1e3),
           IfKnown(share.Use()), IfKnown(share.UseOfMeasuredClock()), share.reason}};
}

std::vector<Column> WasteColumns() {
  return {Named("rank_id", Format::kInteger, 10),      Named("op_type", Format::kText, 30),
          Named("kernel_name", Format::kText, 50),     Named("input_shapes", Format::kText, 40),
          Named("compute_type", Format::kText, 12),    Named("kernels", Format::kInteger, 10),
          Named("duration(ns)", Format::kInteger, 16), Share("mfu", 10),
          Named("wasted(ns)", Format::kInteger, 16)};
}

Row WasteRow(std::int64_t rank, const MfuWaste& waste) {
  return {{rank, waste.op_type, waste.kernel, waste.input_shapes, std::string(Text(waste.type)),
           waste.count, waste.duration, waste.use, waste.wasted}};
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

// Leaves the columns that the Python tool has.
void RemoveOwnColumns(Sheet& kernels) {
  constexpr std::size_t kItsColumns = 13;
  kernels.columns.resize(kItsColumns);
  for (Row& row : kernels.rows) row.cells.resize(kItsColumns);
}

void AddWorkbooks(const RankPart& rank, bool compat, RecipeResult& result) {
  MfuTables tables = TablesOf({rank}, /*for_people=*/true);
  if (compat) RemoveOwnColumns(tables.kernels);
  const auto add = [&](const char* stem, std::vector<Sheet> sheets) {
    if (sheets.front().rows.empty()) return;
    result.workbooks.push_back(
        {fmt::format("operator_mfu_{}_{}", stem, rank.rank), std::move(sheets)});
  };
  add("kernel", {std::move(tables.kernels)});
  add("module", {std::move(tables.modules)});
  if (!compat) add("summary", {std::move(tables.shares), std::move(tables.wastes)});
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

RecipeResult ReduceOperatorMfu(const std::vector<RankPart>& parts,
                               const RecipeArguments& arguments) {
  RecipeResult result;
  const bool compat = arguments.contains(kCompat);
  MfuTables tables = TablesOf(parts, /*for_people=*/false);
  if (compat) RemoveOwnColumns(tables.kernels);
  result.tables = {std::move(tables.kernels), std::move(tables.modules)};
  if (!compat) {
    result.tables.push_back(std::move(tables.shares));
    result.tables.push_back(std::move(tables.wastes));
  }
  for (const RankPart& rank : parts) {
    AddWorkbooks(rank, compat, result);
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
  parameters.push_back({kCompat, "",
                        "The rows, columns and rules of the Python tool: kernels of mfu_flops "
                        "ranges only, each with all operations of its range, unknown types as "
                        "FP16"});
  return {"operator_mfu",
          "OperatorMfu",
          "how much of the chip kernels and modules use (MFU), and where time is wasted",
          kModuleTables | kMfuTables,
          std::move(parameters),
          MapOperatorMfu,
          ReduceOperatorMfu};
}

}  // namespace mpa::recipes
