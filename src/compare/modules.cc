// SPDX-License-Identifier: Apache-2.0
// Modules of two captures side by side: by name and call by call.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <unordered_map>

#include "compare_sheet.h"
#include "mpa/base/first_seen.h"
#include "mpa/base/parallel.h"
#include "mpa/base/text.h"
#include "mpa/compare/sequence_matching.h"
#include "mpa/measure/module_ranges.h"
#include "op_groups.h"

namespace mpa {
namespace {

constexpr std::array kSides = {Side::kBase, Side::kComparison};

// "/nn.Module: Net_0/nn.Module: Linear_1" without the marks of modules.
std::string Displayed(std::string_view full_name) {
  std::string text(full_name);
  for (std::size_t at = 0; (at = text.find(kModulePrefix, at)) != std::string::npos;) {
    text.erase(at, kModulePrefix.size());
  }
  return text;
}

// The last part of a name without its number: "nn.Module: Linear".
std::string ClassOf(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  return std::string(WithoutNumber(name));
}

std::vector<Column> FirstColumns() {
  return {Text("Order Id", kOrderMeaning, 10), Text("Module Class", "The class of the module."),
          Text("Module Level", "Number of modules around it.", 15),
          Text("Module Name", "The module with those around it, joined by '/'.", 35),
          Text("Operator Name", "The operator; [ TOTAL ] for the whole module.", 25)};
}

std::vector<Column> LastColumns(std::string_view unit) {
  return {Difference(fmt::format("Device Total Time Diff({})", unit),
                     "Total time of the comparison minus that of the base."),
          Difference(fmt::format("Device Self Time Diff({})", unit),
                     "Self time of the comparison minus that of the base."),
          Growth("Diff Total Ratio", RatioMeaning("Total time"), 15),
          Text("Base Call Stack", "Where the base called the operator.", 30),
          Text("Comparison Call Stack", "Where the comparison called it.", 30)};
}

// --- ModuleCompareStatistic ---

// The calls of one side that have one full name.
using ModuleCalls = std::vector<const Module*>;
using CallsByName = FirstSeen<std::string_view, ModuleCalls>;

struct KernelTime {
  ExactSum time;
  std::int64_t count = 0;
};

// What one side's calls of an operator in the modules of one name took.
struct OpTime {
  std::int64_t calls = 0;
  ExactSum time;
  FirstSeen<std::string_view, KernelTime> kernels;

  std::string Kernels() const {
    std::string text;
    for (const auto& [name, kernel] : kernels.rows()) {
      text += fmt::format("{}, [number: {}], [duration_ms: {}]\n", name, kernel.count,
                          Fixed(kernel.time.Ms(), 3));
    }
    return text;
  }
};

using OpTimes = FirstSeen<std::string_view, OpTime>;

// The operators of modules by name.
OpTimes OpsOf(const RankTrace& trace, const ModuleCalls& calls) {
  OpTimes times;
  for (const Module* module : calls) {
    for (const ModuleOp& op : module->ops) {
      OpTime& time = times[trace.strings.View(trace.host_ops.name[op.op])];
      ++time.calls;
      for (const DeviceWork& work : op.work) {
        KernelTime& kernel = time.kernels[NameOf(trace, work)];
        kernel.time.Add(work.Time());
        ++kernel.count;
        time.time.Add(work.Time());
      }
    }
  }
  return times;
}

Row FirstCells(const std::string& module_class, std::int64_t level, const std::string& name,
               std::string op_name) {
  return Row{{Cell(), module_class, level, name, std::move(op_name)}};
}

void AppendGroup(const CompareInput& input, std::string_view full_name, const ModuleCalls& base,
                 const ModuleCalls& comparison, Sheet& sheet) {
  const std::string module_class = ClassOf(full_name);
  const auto level = static_cast<std::int64_t>(std::ranges::count(full_name, '/'));
  const std::string name = Displayed(full_name);

  Row total = FirstCells(module_class, level, name, "[ TOTAL ]");
  std::array<ExactSum, 2> self;
  std::array<ExactSum, 2> all;
  std::array<Cell, 2> stacks = {"", ""};
  const std::array sides = {&base, &comparison};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (const Module* module : *sides[i]) {
      self[i].Add(module->device_self);
      all[i].Add(module->device_total);
    }
    if (!sides[i]->empty()) stacks[i] = sides[i]->front()->call_stack;
    AppendCells(total, Cell(), self[i].Ms(), static_cast<std::int64_t>(sides[i]->size()),
                all[i].Ms());
  }
  AppendCells(total, (all[1] - all[0]).Ms(), (self[1] - self[0]).Ms(),
              Ratio(all[0].Ns(), all[1].Ns()), std::move(stacks[0]), std::move(stacks[1]));
  sheet.rows.push_back(std::move(total));

  static const OpTime kNone;
  Join(OpsOf(input.Trace(Side::kBase), base), OpsOf(input.Trace(Side::kComparison), comparison),
       [&](std::string_view op, const OpTime* base_time, const OpTime* comparison_time) {
         const std::array times = {base_time != nullptr ? base_time : &kNone,
                                   comparison_time != nullptr ? comparison_time : &kNone};
         Row row = FirstCells(module_class, level, name, std::string(op));
         for (const OpTime* time : times) {
           AppendCells(row, time->Kernels(), time->time.Ms(), time->calls, Cell());
         }
         AppendCells(row, Cell(), (times[1]->time - times[0]->time).Ms(),
                     Ratio(times[0]->time.Ns(), times[1]->time.Ns()), Cell(), Cell());
         sheet.rows.push_back(std::move(row));
       });
}

Sheet StatisticSheet(const CompareInput& input, const std::vector<ModulePair>& pairs) {
  Sheet sheet = CompareSheet(
      "ModuleCompareStatistic",
      {FirstColumns(),
       ForBothSides({Text("Kernel Details", "The device work of the row, a line each."),
                     Decimals("Device Self Time(ms)",
                              "Time of the device work that runs in no module within."),
                     Text("Number", "Calls of the module or operator.", 10),
                     Decimals("Device Total Time(ms)",
                              "Time of the device work with that of the modules within.")}),
       LastColumns("ms")},
      input);
  sheet.least_change = LeastChange(input, RowsOf::kAllSteps, 1e6);
  CallsByName base, comparison;
  for (const ModulePair& pair : pairs) {
    if (pair.base != nullptr) base[pair.base->full_name].push_back(pair.base);
    if (pair.comparison != nullptr)
      comparison[pair.comparison->full_name].push_back(pair.comparison);
  }
  static const ModuleCalls kNone;
  Join(base, comparison,
       [&](std::string_view name, const ModuleCalls* before, const ModuleCalls* after) {
         AppendGroup(input, name, before != nullptr ? *before : kNone,
                     after != nullptr ? *after : kNone, sheet);
       });
  NumberRows(sheet);
  return sheet;
}

// --- ModuleCompare ---

// Rows for some pairs of modules.
class DetailRows {
 public:
  DetailRows(const CompareInput& input, std::size_t columns) : input_(input), columns_(columns) {}

  void Append(std::span<const ModulePair> pairs) {
    for (const ModulePair& pair : pairs) AppendPair(pair);
  }

  std::vector<Row>& rows() { return rows_; }
  // True when a row has the call stack of an operator of the comparison.
  bool has_stacks() const { return has_stacks_; }

 private:
  void AppendPair(const ModulePair& pair) {
    const Module& named = pair.base != nullptr ? *pair.base : *pair.comparison;
    first_ = {Cell(), ClassOf(named.name), std::int64_t{named.depth}, Displayed(named.full_name)};
    AppendTotal(pair);
    static const std::vector<ModuleOp> kNone;
    const auto& base = pair.base != nullptr ? pair.base->ops : kNone;
    const auto& comparison = pair.comparison != nullptr ? pair.comparison->ops : kNone;
    for (const AlignedPair& ops :
         AlignSequences(Keys(Side::kBase, base), Keys(Side::kComparison, comparison))) {
      AppendOps(ops.base ? &base[*ops.base] : nullptr,
                ops.comparison ? &comparison[*ops.comparison] : nullptr);
    }
  }

  // A row that begins with the cells that all rows of a pair share.
  Row NewRow() const {
    Row row;
    row.cells.reserve(columns_);
    row.cells.insert(row.cells.end(), first_.begin(), first_.end());
    return row;
  }

  void AppendTotal(const ModulePair& pair) {
    Row row = NewRow();
    std::array<ExactSum, 2> self;
    std::array<ExactSum, 2> total;
    std::array<Cell, 2> stacks = {"", ""};
    const std::array modules = {pair.base, pair.comparison};
    for (std::size_t i = 0; i < modules.size(); ++i) {
      if (modules[i] != nullptr) {
        self[i] = modules[i]->device_self;
        total[i] = modules[i]->device_total;
        stacks[i] = modules[i]->call_stack;
      }
      AppendCells(row, "TOTAL", Cell(), self[i].Us(), total[i].Us());
    }
    AppendCells(row, (total[1] - total[0]).Us(), (self[1] - self[0]).Us(),
                Ratio(total[0].Ns(), total[1].Ns()), std::move(stacks[0]), std::move(stacks[1]));
    rows_.push_back(std::move(row));
  }

  void AppendOps(const ModuleOp* base, const ModuleOp* comparison) {
    Row row = NewRow();
    std::array<ExactSum, 2> self;
    std::array<std::string_view, 2> stacks;
    const std::array ops = {base, comparison};
    for (std::size_t i = 0; i < ops.size(); ++i) {
      std::string name;
      std::string details;
      if (ops[i] != nullptr) {
        const RankTrace& trace = input_.Trace(kSides[i]);
        name = trace.strings.View(trace.host_ops.name[ops[i]->op]);
        for (const DeviceWork& work : ops[i]->work) details += DescribeWork(trace, work);
        self[i] = ops[i]->Time();
        stacks[i] = trace.strings.View(trace.host_ops.stack[ops[i]->op]);
        has_stacks_ = has_stacks_ || (i == 1 && stacks[i] != "N/A");
      }
      AppendCells(row, std::move(name), std::move(details), self[i].Us(), Cell());
    }
    const double diff = (self[1] - self[0]).Us();
    AppendCells(row, Cell(), diff, Ratio(self[0].Ns(), self[1].Ns()));
    const bool slower = Rounded(diff, 2) > 0;  // nobody asks why it became faster
    for (const std::string_view stack : stacks) {
      row.cells.push_back(slower ? Cell(std::string(stack)) : Cell());
    }
    rows_.push_back(std::move(row));
  }

  std::vector<std::uint32_t> Keys(Side side, const std::vector<ModuleOp>& ops) {
    const RankTrace& trace = input_.Trace(side);
    std::vector<std::uint32_t> keys;
    keys.reserve(ops.size());
    for (const ModuleOp& op : ops) {
      keys.push_back(numbers_
                         .try_emplace(trace.strings.View(trace.host_ops.name[op.op]),
                                      static_cast<std::uint32_t>(numbers_.size()))
                         .first->second);
    }
    return keys;
  }

  const CompareInput& input_;
  std::size_t columns_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::vector<Row> rows_;
  std::vector<Cell> first_;
  bool has_stacks_ = false;
};

// Sets has_stacks when a row has the call stack of an operator of the comparison.
Sheet DetailSheet(const CompareInput& input, const std::vector<ModulePair>& pairs,
                  bool& has_stacks) {
  std::vector<Column> first = FirstColumns();
  first.pop_back();
  Sheet sheet = CompareSheet(
      "ModuleCompare",
      {std::move(first),
       ForBothSides({Text("Operator Name", "The operator; of a module TOTAL.", 25),
                     Text("Kernel Details", "The device work it launched, a line each."),
                     Decimals("Device Self Time(us)",
                              "Time of the device work that runs in no module within."),
                     Decimals("Device Total Time(us)",
                              "Time of the device work with that of the modules within.")}),
       LastColumns("us")},
      input);
  sheet.least_change = LeastChange(input, RowsOf::kOneStep, 1e3);
  constexpr std::size_t kPairs = 128;
  std::vector<DetailRows> blocks((pairs.size() + kPairs - 1) / kPairs,
                                 DetailRows(input, sheet.columns.size()));
  ParallelFor(blocks.size(), [&](std::size_t i) {
    const std::span<const ModulePair> rest = std::span(pairs).subspan(i * kPairs);
    blocks[i].Append(rest.first(std::min(kPairs, rest.size())));
  });
  has_stacks = false;
  for (DetailRows& block : blocks) {
    has_stacks = has_stacks || block.has_stacks();
    std::move(block.rows().begin(), block.rows().end(), std::back_inserter(sheet.rows));
  }
  NumberRows(sheet);
  return sheet;
}

}  // namespace

bool CompareModules(const CompareInput& input, Report& report) {
  bool all = true;
  for (const Side side : kSides) {
    if (HasModules(input.Trace(side))) continue;
    all = false;
    if (input.Trace(side).host_ops.Empty()) continue;  // which is reported anyway
    NoteNotCollected(
        fmt::format("ModuleCompare, ModuleCompareStatistic: {} has no nn.Module events, operators "
                    "are compared instead; collect with with_stack=True or with_modules=True",
                    input.Path(side)),
        report);
  }
  if (!all) return false;
  std::array<ModuleTrees, 2> trees;
  ParallelFor(trees.size(),
              [&](std::size_t i) { trees[i] = BuildModuleTrees(input.Ops(kSides[i])); });
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (!trees[i].forward.too_deep && !trees[i].backward.too_deep) continue;
    report.notes.push_back(
        fmt::format("ModuleCompare, ModuleCompareStatistic: left out, because in {} {}; operators "
                    "are compared instead",
                    input.Path(kSides[i]), kModulesTooDeep));
    return false;
  }
  const std::vector<ModulePair> pairs =
      InSheetOrder(MatchModules(trees[0], trees[1], input.options().details));
  report.sheets.push_back(StatisticSheet(input, pairs));
  if (!input.options().details) return true;
  bool has_stacks = false;
  report.sheets.push_back(DetailSheet(input, pairs, has_stacks));
  if (!has_stacks) {
    NoteNotCollected(fmt::format("ModuleCompare: {} has no call stacks of operators; collect with "
                                 "with_stack=True to see them",
                                 input.Path(Side::kComparison)),
                     report);
  }
  return true;
}

}  // namespace mpa
