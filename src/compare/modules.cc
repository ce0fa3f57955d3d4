// SPDX-License-Identifier: Apache-2.0
// Modules of two captures side by side: by name and call by call.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "compare_sheet.h"
#include "mpa/base/first_seen.h"
#include "mpa/base/language.h"
#include "mpa/base/parallel.h"
#include "mpa/base/text.h"
#include "mpa/compare/sequence_matching.h"
#include "mpa/measure/module_ranges.h"
#include "op_groups.h"
#include "op_names.h"

namespace mpa {
namespace {

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
  return {PlainColumn("Order Id", kOrderMeaning, 10),
          PlainColumn("Module Class", "The class of the module."),
          PlainColumn("Module Level", "Number of modules around the module.", 15),
          PlainColumn("Module Name", "The module and the modules around it, joined by '/'.", 35),
          PlainColumn("Operator Name", "The operator; [ TOTAL ] for the whole module.", 25)};
}

std::vector<Column> LastColumns(std::string_view unit) {
  return {Difference(fmt::format("Device Total Time Diff({})", unit),
                     "Total time of the comparison minus that of the base."),
          Difference(fmt::format("Device Self Time Diff({})", unit),
                     "Self time of the comparison minus that of the base."),
          Growth("Diff Total Ratio", RatioMeaning("Total time"), 15),
          PlainColumn("Base Call Stack", "Where the base called the operator.", 30),
          PlainColumn("Comparison Call Stack", "Where the comparison called the operator.", 30)};
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
  NamesOfRow names;
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

// The operators of modules by the row that they stand on.
OpTimes OpsOf(const RankTrace& trace, const ModuleCalls& calls, const CompareOptions& options) {
  OpTimes times;
  for (const Module* module : calls) {
    for (const ModuleOp& op : module->ops) {
      const std::string_view name = trace.strings.View(trace.host_ops.name[op.op]);
      OpTime& time = times[RowKeyOf(name, options)];
      time.names.Add(name);
      ++time.calls;
      for (const DeviceWork& work : op.work) {
        KernelTime& kernel = time.kernels[NameOf(trace, work)];
        kernel.time += work.Time();
        ++kernel.count;
        time.time += work.Time();
      }
    }
  }
  return times;
}

constexpr const char* kTotal = "[ TOTAL ]";

// Not of one of its operators.
bool IsOfModule(const Row& row) {
  constexpr std::size_t kOperator = 4;
  return row.cells[kOperator] == Cell(kTotal);
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

  Row total = FirstCells(module_class, level, name, kTotal);
  std::array<ExactSum, 2> self;
  std::array<ExactSum, 2> all;
  std::array<Cell, 2> stacks = {"", ""};
  const std::array sides = {&base, &comparison};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (const Module* module : *sides[i]) {
      self[i] += module->device_self;
      all[i] += module->device_total;
    }
    if (!sides[i]->empty()) stacks[i] = std::string(sides[i]->front()->call_stack);
    AppendCells(total, Cell(), self[i].Ms(), static_cast<std::int64_t>(sides[i]->size()),
                all[i].Ms());
  }
  AppendCells(total, (all[1] - all[0]).Ms(), (self[1] - self[0]).Ms(),
              GrowthRatio(all[0].Ns(), all[1].Ns()), std::move(stacks[0]), std::move(stacks[1]));
  sheet.rows.push_back(std::move(total));

  static const OpTime kNone;
  Join(OpsOf(input.Trace(Side::kBase), base, input.options()),
       OpsOf(input.Trace(Side::kComparison), comparison, input.options()),
       [&](std::string_view, const OpTime* base_time, const OpTime* comparison_time) {
         const std::array times = {base_time != nullptr ? base_time : &kNone,
                                   comparison_time != nullptr ? comparison_time : &kNone};
         NamesOfRow names;
         for (const OpTime* time : times) names.Add(time->names);
         Row row = FirstCells(module_class, level, name, names.Text());
         for (const OpTime* time : times) {
           AppendCells(row, time->Kernels(), time->time.Ms(), time->calls, Cell());
         }
         AppendCells(row, Cell(), (times[1]->time - times[0]->time).Ms(),
                     GrowthRatio(times[0]->time.Ns(), times[1]->time.Ns()), Cell(), Cell());
         sheet.rows.push_back(std::move(row));
       });
}

Sheet StatisticSheet(const CompareInput& input, const std::vector<ModulePair>& pairs) {
  Sheet sheet = CompareSheet(
      "ModuleCompareStatistic",
      {FirstColumns(),
       ForBothSides(
           {PlainColumn("Kernel Details", "Device work of the row, one piece per line."),
            Decimals("Device Self Time(ms)",
                     "Time of the row's device work without that of the modules inside it."),
            PlainColumn("Number", "Calls of the module or operator.", 10),
            Decimals("Device Total Time(ms)",
                     "Time of the row's device work with that of the modules inside it.")}),
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
  OrderRows(input, sheet, std::nullopt, IsOfModule);
  return sheet;
}

// --- ModuleCompare ---

// What a row is about: a pair of modules, or two operators that they called themselves.
struct DetailItem {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t pair = 0;
  std::array<std::uint32_t, 2> ops = {kNone, kNone};  // by side; of the modules: none

  bool IsTotal() const { return ops[0] == kNone && ops[1] == kNone; }
};

// The rows of the sheet, each made when it is read: they take far more memory than what they are
// made of.
class DetailRows {
 public:
  DetailRows(const CompareInput& input, std::vector<ModulePair> pairs)
      : input_(input), pairs_(std::move(pairs)) {
    constexpr std::size_t kPairs = 128;
    std::vector<std::vector<DetailItem>> blocks((pairs_.size() + kPairs - 1) / kPairs);
    ParallelFor(blocks.size(), [&](std::size_t i) {
      Keys keys;
      for (std::size_t pair = i * kPairs; pair < std::min((i + 1) * kPairs, pairs_.size()); ++pair)
        ListItems(pair, keys, blocks[i]);
    });
    for (const std::vector<DetailItem>& block : blocks)
      items_.insert(items_.end(), block.begin(), block.end());
  }

  std::size_t Size() const { return items_.size(); }

  // True when an operator of the comparison has a call stack.
  bool HasStacks() const {
    const RankTrace& trace = input_.Trace(Side::kComparison);
    return std::ranges::any_of(items_, [&](const DetailItem& item) {
      const ModuleOp* op = OpOf(item, 1);
      return op != nullptr && trace.strings.View(trace.host_ops.stack[op->op]) != "N/A";
    });
  }

  Row Make(std::size_t i) const {
    const DetailItem& item = items_[i];
    const ModulePair& pair = pairs_[item.pair];
    const Module& named = pair.base != nullptr ? *pair.base : *pair.comparison;
    constexpr std::size_t kCells = 17;
    Row row;
    row.cells.reserve(kCells);
    AppendCells(row, static_cast<std::int64_t>(i + 1), ClassOf(named.name),
                std::int64_t{named.depth}, Displayed(named.full_name));
    if (item.IsTotal())
      AppendTotal(pair, row);
    else
      AppendOps(item, row);
    return row;
  }

 private:
  // Numbers for the names of operators, the same on both sides.
  using Keys = std::unordered_map<std::string_view, std::uint32_t>;

  void ListItems(std::size_t pair, Keys& keys, std::vector<DetailItem>& items) const {
    const auto number = static_cast<std::uint32_t>(pair);
    items.push_back({.pair = number});
    for (const AlignedPair& ops :
         AlignSequences(KeysOf(0, pairs_[pair], keys), KeysOf(1, pairs_[pair], keys))) {
      const auto place = [](const std::optional<std::size_t>& op) {
        return op ? static_cast<std::uint32_t>(*op) : DetailItem::kNone;
      };
      items.push_back({number, {place(ops.base), place(ops.comparison)}});
    }
  }

  static const Module* ModuleOf(const ModulePair& pair, std::size_t side) {
    return side == 0 ? pair.base : pair.comparison;
  }

  const ModuleOp* OpOf(const DetailItem& item, std::size_t side) const {
    if (item.ops[side] == DetailItem::kNone) return nullptr;
    return &ModuleOf(pairs_[item.pair], side)->ops[item.ops[side]];
  }

  static void AppendTotal(const ModulePair& pair, Row& row) {
    std::array<ExactSum, 2> self;
    std::array<ExactSum, 2> total;
    std::array<Cell, 2> stacks = {"", ""};
    for (std::size_t i = 0; i < kSides.size(); ++i) {
      if (const Module* module = ModuleOf(pair, i)) {
        self[i] = module->device_self;
        total[i] = module->device_total;
        stacks[i] = std::string(module->call_stack);
      }
      AppendCells(row, "TOTAL", Cell(), self[i].Us(), total[i].Us());
    }
    AppendCells(row, (total[1] - total[0]).Us(), (self[1] - self[0]).Us(),
                GrowthRatio(total[0].Ns(), total[1].Ns()), std::move(stacks[0]),
                std::move(stacks[1]));
  }

  void AppendOps(const DetailItem& item, Row& row) const {
    std::array<ExactSum, 2> self;
    std::array<std::string_view, 2> stacks;
    for (std::size_t i = 0; i < kSides.size(); ++i) {
      std::string name;
      std::string details;
      if (const ModuleOp* op = OpOf(item, i)) {
        const RankTrace& trace = input_.Trace(kSides[i]);
        name = trace.strings.View(trace.host_ops.name[op->op]);
        for (const DeviceWork& work : op->work) details += DescribeWork(trace, work);
        self[i] = op->Time();
        stacks[i] = trace.strings.View(trace.host_ops.stack[op->op]);
      }
      AppendCells(row, std::move(name), std::move(details), self[i].Us(), Cell());
    }
    const double diff = (self[1] - self[0]).Us();
    AppendCells(row, Cell(), diff, GrowthRatio(self[0].Ns(), self[1].Ns()));
    const bool slower = Rounded(diff, 2) > 0;  // nobody asks why it became faster
    for (const std::string_view stack : stacks) {
      row.cells.push_back(slower ? Cell(std::string(stack)) : Cell());
    }
  }

  std::vector<std::uint32_t> KeysOf(std::size_t side, const ModulePair& pair, Keys& keys) const {
    const RankTrace& trace = input_.Trace(kSides[side]);
    std::vector<std::uint32_t> of_ops;
    const Module* module = ModuleOf(pair, side);
    if (module == nullptr) return of_ops;
    of_ops.reserve(module->ops.size());
    for (const ModuleOp& op : module->ops) {
      const std::string_view name = trace.strings.View(trace.host_ops.name[op.op]);
      of_ops.push_back(keys.try_emplace(RowKeyOf(name, input_.options()),
                                        static_cast<std::uint32_t>(keys.size()))
                           .first->second);
    }
    return of_ops;
  }

  const CompareInput& input_;
  std::vector<ModulePair> pairs_;
  std::vector<DetailItem> items_;
};

// The rows need the modules; `has_stacks` says whether a row has the call stack of an operator of
// the comparison.
Sheet DetailSheet(const CompareInput& input,
                  const std::shared_ptr<const std::array<ModuleTrees, 2>>& trees,
                  std::vector<ModulePair> pairs, bool& has_stacks) {
  std::vector<Column> first = FirstColumns();
  first.pop_back();
  Sheet sheet = CompareSheet(
      "ModuleCompare",
      {std::move(first),
       ForBothSides(
           {PlainColumn("Operator Name", "The operator; TOTAL for a whole module.", 25),
            PlainColumn("Kernel Details",
                        "Device work that the operator launched, one piece per line."),
            Decimals("Device Self Time(us)",
                     "Time of the row's device work without that of the modules inside it."),
            Decimals("Device Total Time(us)",
                     "Time of the row's device work with that of the modules inside it.")}),
       LastColumns("us")},
      input);
  sheet.least_change = LeastChange(input, RowsOf::kOneStep, 1e3);
  const auto rows = std::make_shared<const DetailRows>(input, std::move(pairs));
  has_stacks = rows->HasStacks();
  sheet.rows = Rows(rows->Size(), [rows, trees](std::size_t i) { return rows->Make(i); });
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
        Say("ModuleCompare, ModuleCompareStatistic: {} has no nn.Module events, operators"
                    " are compared instead; collect with with_stack=True or with_modules=True",
                    input.Path(side)),
        report);
  }
  if (!all) return false;
  const auto built = std::make_shared<std::array<ModuleTrees, 2>>();
  std::array<ModuleTrees, 2>& trees = *built;
  ParallelFor(trees.size(),
              [&](std::size_t i) { trees[i] = BuildModuleTrees(input.Ops(kSides[i])); });
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (!trees[i].forward.too_deep && !trees[i].backward.too_deep) continue;
    report.notes.push_back(
        Say("ModuleCompare, ModuleCompareStatistic: left out, because in {} {}; operators"
                    " are compared instead",
                    input.Path(kSides[i]), Translated(kModulesTooDeep)));
    return false;
  }
  std::vector<ModulePair> pairs =
      InSheetOrder(MatchModules(trees[0], trees[1], input.options().details));
  report.sheets.push_back(StatisticSheet(input, pairs));
  if (!input.options().details) return true;
  bool has_stacks = false;
  report.sheets.push_back(DetailSheet(input, built, std::move(pairs), has_stacks));
  if (!has_stacks) {
    NoteNotCollected(Say("ModuleCompare: {} has no call stacks of operators; collect with"
                                 " with_stack=True to see them",
                                 input.Path(Side::kComparison)),
                     report);
  }
  return true;
}

}  // namespace mpa
