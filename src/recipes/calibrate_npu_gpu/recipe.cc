// SPDX-License-Identifier: Apache-2.0
// Modules of an NPU run beside those of a GPU run.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "matching.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/measure/nesting.h"
#include "mpa/measure/op_tree.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/make_recipe.h"
#include "mpa/recipe/module_columns.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/report.h"
#include "mpa/report/screen_list.h"

namespace mpa::recipes::calibrate_npu_gpu {
namespace {

using calibrate::MatchedRow;
using calibrate::MatchKind;
using calibrate::ModuleOp;
using calibrate::ModuleProfile;

struct NpuModules {
  std::vector<ModuleStatisticRow> rows;
};

NpuModules MapCalibrate(const RankTrace& trace, const RecipeArguments&) {
  NpuModules part;
  if (trace.device != DeviceKind::kNpu) return part;
  part.rows = SumModules(trace, ThreadGroups(trace), FindOpWork(trace)).rows;
  for (ModuleStatisticRow& row : part.rows) row.work = {};
  return part;
}

std::vector<std::string> MarkersOf(const std::string& list) {
  std::vector<std::string> markers;
  for (const std::string_view piece : Split(list, ',')) {
    if (const std::string_view marker = Trim(piece); !marker.empty()) markers.emplace_back(marker);
  }
  return markers;
}

double ReadShare(const std::string& text) {
  const auto value = WholeNumber<double>(text);
  if (!value || !(*value >= 0 && *value <= 1)) Fail(ErrorKind::kUsage, "give a number from 0 to 1");
  return *value;
}

constexpr Option<std::string> kBaseline{
    .name = "baseline_profiling_path",
    .type_name = "FILE",
    .help = "The GPU run: an SQLite export of Nsight Systems, or a Kineto trace",
    .required = true};
constexpr Option<double> kThreshold{.name = "fuzzy_threshold",
                                    .type_name = "X",
                                    .help = "How similar names of modules must be, from 0 to 1",
                                    .usual = 0.8,
                                    .read = ReadShare};
constexpr Option<bool> kDump =
    Switch("dump_intermediate_results", "Also write the modules of each side");
constexpr Option<std::vector<std::string>> kMarkers{
    .name = "module_markers",
    .type_name = "LIST",
    .help = "NVTX ranges whose names contain one of these are modules",
    .usual = "Qwen, Attention, Linear, RMSNorm, Embedding, Sampler, Logits",
    .read = MarkersOf};

// An operator of one side, in which all kernels in modules take so long.
struct OpItem {
  const ModuleOp* op = nullptr;
  TimeNs total = 0;
};

// Of equal cells below each other workbooks show one.
template <typename Item>
ColumnOf<Item> Merged(ColumnOf<Item> column) {
  column.column.merges_equal = true;
  return column;
}

SheetColumns<OpItem> PlaceColumns(const char* around) {
  return {Merged(TextColumn<&OpItem::op, &ModuleOp::parent>("Parent Module", 20, around)),
          Merged(TextColumn<&OpItem::op, &ModuleOp::module>("Module", 20, "The module."))};
}

SheetColumns<OpItem> OpColumns() {
  return {
      TextColumn<&OpItem::op, &ModuleOp::op>("Op Name", 20, "The operator of the module."),
      CountColumn<&OpItem::op, &ModuleOp::count>(
          "Op Count", 10,
          "Number of calls of the operator; in an export of Nsight Systems, of its kernels."),
      TextColumn<&OpItem::op, &ModuleOp::kernels>("Kernel List", 40, "Kernels of the operator."),
      NumberColumn<&OpItem::op, &ModuleOp::total, kAsUs>("Total Kernel Duration(us)",
                                                         Format::kDecimals3, 10,
                                                         "Time of the operator's kernels, in us."),
      {NamedColumn(
           "Total Kernel Duration(%)", Format::kText, 10,
           "Time of the operator's kernels as a share of all kernels in modules, in percent."),
       [](const OpItem& item) -> Cell {
         return fmt::format("{:.2f}%", PercentOf(item.op->total, item.total));
       }},
      {NamedColumn("Avg Kernel Duration(us)", Format::kDecimals3, 10,
                   "Time of the operator's kernels divided by the count, in us."),
       [](const OpItem& item) -> Cell { return item.op->Average() / 1000; }}};
}

Sheet EmptyComparison(RankId rank) {
  Sheet sheet;
  sheet.name = fmt::format("CompareProfileReportRank{}", RankName(rank));
  sheet.meaning = ToTranslate("Modules of the NPU beside those of the GPU");
  sheet.look = Look::kList;
  sheet.of_rank = {"compare_profile_report", "Sheet1"};
  const auto add_side = [&](const char* side, const SheetColumns<OpItem>& columns) {
    for (const ColumnOf<OpItem>& column : columns) {
      sheet.columns.push_back(column.column);
      sheet.columns.back().name.insert(0, fmt::format("({}) ", side));
    }
  };
  const auto add_module = [&](const char* name, Format format, const char* meaning) {
    sheet.columns.push_back(NamedColumn(name, format, 10, meaning));
    sheet.columns.back().merges_equal = true;
  };
  for (const char* side : {"GPU", "NPU"})
    add_side(side, PlaceColumns("Modules around the module, joined by '/'."));
  sheet.columns.push_back(NamedColumn(
      "Match Type", Format::kText, 10,
      "How the modules were matched: rule (equal names), fuzzy (similar names), none."));
  for (const char* side : {"NPU", "GPU"}) add_side(side, OpColumns());
  add_module("(NPU/GPU) Module Time Ratio", Format::kText,
             "Time of the module on the NPU divided by that on the GPU.");
  add_module("(NPU-GPU,us) Module Time Diff", Format::kDecimals3,
             "Time of the module on the NPU minus that on the GPU, in us.");
  sheet.charts = {LargestBars(Say("Kernel time of the modules on both devices, {}", RankText(rank)),
                              {"(NPU) Parent Module", "(NPU) Module"},
                              {{"(NPU) Total Kernel Duration(us)", Tint::kCompute},
                               {"(GPU) Total Kernel Duration(us)", Tint::kBase}},
                              Measured::kUs, Chart::SameLabel::kSum)};
  return sheet;
}

std::pair<std::string, std::string> Split(const std::string& key) {
  const std::size_t slash = key.rfind('/');
  if (slash == std::string::npos) return {"", key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

const char* TextOfMatch(MatchKind kind) {
  if (kind == MatchKind::kRule) return "rule";
  return kind == MatchKind::kFuzzy ? "fuzzy" : "none";
}

TimeNs TotalOf(const ModuleProfile& profile) {
  TimeNs total = 0;
  for (const ModuleOp& op : profile) total += op.total;
  return total;
}

Sheet CompareRank(RankId rank, std::size_t position, const std::vector<MatchedRow>& rows,
                  TimeNs npu_total, TimeNs gpu_total) {
  Sheet sheet = EmptyComparison(rank);
  const SheetColumns<OpItem> columns = OpColumns();
  for (const MatchedRow& matched : rows) {
    Row& row = sheet.rows.emplace_back();
    row.rank = position;
    // A side without a further operator shows the module all the same.
    for (const ModuleOp* op : {matched.gpu, matched.npu}) {
      const auto [parent, module] = Split(matched.key);
      row.cells.emplace_back(op != nullptr ? op->parent : parent);
      row.cells.emplace_back(op != nullptr ? op->module : module);
    }
    row.cells.emplace_back(std::string(TextOfMatch(matched.kind)));
    for (const OpItem& item : {OpItem{matched.npu, npu_total}, {matched.gpu, gpu_total}}) {
      for (const ColumnOf<OpItem>& column : columns)
        row.cells.push_back(item.op != nullptr ? column.cell(item) : Cell());
    }
    const bool both = matched.npu_module && matched.gpu_module;
    row.cells.push_back(
        both && *matched.gpu_module > 0
            ? Cell(fmt::format("{:.2f}", static_cast<double>(*matched.npu_module) /
                                             static_cast<double>(*matched.gpu_module)))
            : Cell());
    row.cells.push_back(both ? Cell(InUs(*matched.npu_module - *matched.gpu_module)) : Cell());
  }
  return sheet;
}

Sheet ProfileSheet(const char* side, RankId rank, std::size_t position,
                   const ModuleProfile& profile) {
  SheetColumns<OpItem> columns = Joined(PlaceColumns("Modules around the module."), OpColumns());
  std::erase_if(columns, [](const auto& column) { return column.column.name.ends_with("(%)"); });
  ItemSheet list(fmt::format("{}ProfileRank{}", side, RankName(rank)), std::move(columns));
  list.sheet.of_rank = {fmt::format("{}_report", ToLower(side)), "Sheet1"};
  for (const ModuleOp& op : profile) list.Add({&op}, position);
  return std::move(list.sheet);
}

// The modules that the NPU is slowest at, beside the GPU.
void AddModuleLines(RankId rank, const std::vector<MatchedRow>& rows, TimeNs npu_total,
                    TimeNs gpu_total, Report& report) {
  std::vector<const MatchedRow*> modules;
  std::size_t alone = 0;
  std::set<std::string> seen;
  for (const MatchedRow& row : rows) {
    if (!seen.insert(row.key).second) continue;
    if (row.npu_module && row.gpu_module) {
      modules.push_back(&row);
    } else {
      ++alone;
    }
  }
  const auto growth = [](const MatchedRow* row) { return *row->npu_module - *row->gpu_module; };
  StableSort(modules,
             [&](const MatchedRow* a, const MatchedRow* b) { return growth(a) > growth(b); });
  constexpr std::size_t kShown = 10;
  report.lines.push_back(Say("{}: {:.3f} ms of kernels in modules on the NPU, {:.3f} ms on the GPU",
                             RankText(rank), InMs(npu_total), InMs(gpu_total)));
  const ScreenList list(2,
                        {ScreenName("module", 34), ScreenMs("NPU ms", 10), ScreenMs("GPU ms", 10),
                         ScreenChange("+ms", 10, 3), ScreenText("match")});
  report.lines.push_back(list.Heading());
  for (std::size_t i = 0; i < std::min(kShown, modules.size()); ++i) {
    const MatchedRow& row = *modules[i];
    report.lines.push_back(list.Line(row.key, row.npu_module, row.gpu_module, InMs(growth(&row)),
                                     TextOfMatch(row.kind)));
  }
  AddMoreLine(modules.size(), kShown, "module", report.lines);
  if (alone > 0) {
    report.lines.push_back(Say("  {} without a counterpart", Counted(alone, "module")));
  }
}

void ReduceCalibrate(const std::vector<OfRank<NpuModules>>& ranks, const RecipeArguments& arguments,
                     OutputSelection wanted, Report& report) {
  const std::string path = arguments[kBaseline];
  const auto baseline = calibrate::ReadBaseline(path, arguments[kMarkers]);
  const double threshold = arguments[kThreshold];
  std::size_t compared = 0;
  for (const auto& [id, part] : ranks) {
    const ModuleProfile npu = calibrate::ProfileOf(part.rows);
    auto gpu = baseline.find(id.Number());
    if (gpu == baseline.end()) gpu = baseline.find(-1);  // of one device, which has no number
    if (npu.empty() || gpu == baseline.end()) {
      report.notes.push_back(
          npu.empty()
              ? Say("{}: left out, the capture has no modules; collect with mstx ranges of the"
                    " domain Module, with_stack=True or with_modules=True",
                    RankText(id))
              : Say("{}: left out, {} has no device with that number", RankText(id), path));
      continue;
    }
    const std::size_t position = BeginRank(id, report);
    const std::vector<MatchedRow> rows = calibrate::MatchModules(npu, gpu->second, threshold);
    const TimeNs npu_total = TotalOf(npu), gpu_total = TotalOf(gpu->second);
    if (wanted.sheets) {
      report.sheets.push_back(CompareRank(id, position, rows, npu_total, gpu_total));
    }
    if (wanted.sheets && arguments[kDump]) {
      report.sheets.push_back(ProfileSheet("NPU", id, position, npu));
      report.sheets.push_back(ProfileSheet("GPU", id, position, gpu->second));
    }
    if (wanted.screen == Detail::kAll || (wanted.screen != Detail::kNone && compared == 0)) {
      AddModuleLines(id, rows, npu_total, gpu_total, report);
    }
    ++compared;
  }
  if (compared > 1 && wanted.screen != Detail::kAll && wanted.screen != Detail::kNone) {
    report.lines.push_back(Say("... and {} more ranks with -v", compared - 1));
  }
}

Verdict JudgeCalibrate(const RankFacts& facts) {
  return JudgeReadable(facts).CannotRun() || facts.kind != CaptureKind::kGpu
             ? JudgeModules(facts)
             : CannotRun(
                   "it compares an NPU with a GPU; give the GPU run as"
                   " --baseline_profiling_path",
                   "");
}

}  // namespace

Recipe CalibrateNpuGpu() {
  return MakeRecipe<MapCalibrate, ReduceCalibrate>(
      {.name = "calibrate_npu_gpu",
       .folder = "CalibrateNpuGpu",
       .summary = "times of modules, compared with those of a run on a GPU",
       .needs = kModuleTables,
       .options = {kBaseline, kThreshold, kDump, kMarkers},
       .can_run = JudgeCalibrate,
       .tried_as = "module_statistic"});
}

}  // namespace mpa::recipes::calibrate_npu_gpu
