// SPDX-License-Identifier: Apache-2.0
// OverallMetrics as a sheet: the parts of the end-to-end time, side by side.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "compare_sheet.h"
#include "overall_report.h"

namespace mpa {
namespace {

// What one side says in one row. A side that lacks the row is 0, and has no number.
struct Value {
  TimeNs time = 0;
  Cell number = NoNumber::kNotCounted;
  bool known = true;
};

Value TimeOnly(TimeNs time) { return {.time = time}; }
Value Counted(const TimeAndCount& part) { return {.time = part.time, .number = part.count}; }

class SheetBuilder {
 public:
  SheetBuilder(Sheet& sheet, TimeNs base_e2e, TimeNs comparison_e2e, bool compat)
      : sheet_(sheet), base_e2e_(base_e2e), comparison_e2e_(comparison_e2e), compat_(compat) {}

  // Rows in which both sides are zero are left out.
  void Add(const std::string& label, Emphasis emphasis, const Value& base,
           const Value& comparison) {
    const bool base_says = IsKnown(base) && base.time != 0;
    const bool comparison_says = IsKnown(comparison) && comparison.time != 0;
    if (base_says || comparison_says) AddRow(label, emphasis, base, comparison);
  }

  bool compat() const { return compat_; }

  // A row that also says that both sides are zero; the Python tool has none then.
  void AddAlways(const std::string& label, Emphasis emphasis, const Value& base,
                 const Value& comparison) {
    compat_ ? Add(label, emphasis, base, comparison) : AddRow(label, emphasis, base, comparison);
  }

 private:
  // The Python tool has 0 for what is unknown.
  bool IsKnown(const Value& value) const { return compat_ || value.known; }

  void AddRow(const std::string& label, Emphasis emphasis, const Value& base,
              const Value& comparison) {
    Row row;
    row.emphasis = emphasis;
    row.indent = static_cast<int>(std::count(label.begin(), label.end(), '\t'));
    row.cells.emplace_back(label);
    AppendSide(row, base, base_e2e_);
    AppendSide(row, comparison, comparison_e2e_);
    if (IsKnown(base) && IsKnown(comparison)) {
      AppendCells(row, Ms(comparison.time - base.time),
                  Ratio(static_cast<double>(base.time), static_cast<double>(comparison.time)));
    } else {
      row.cells.insert(row.cells.end(), 2, NoNumber::kUnknown);
    }
    sheet_.rows.push_back(std::move(row));
  }

  void AppendSide(Row& row, const Value& value, TimeNs e2e) const {
    if (!IsKnown(value)) {
      row.cells.insert(row.cells.end(), 3, NoNumber::kUnknown);
      return;
    }
    row.cells.emplace_back(value.time);
    row.cells.emplace_back(static_cast<double>(value.time) / static_cast<double>(e2e));
    const bool zero = compat_ && value.number == Cell(NoNumber::kUnknown);
    row.cells.push_back(zero ? Cell(std::int64_t{0}) : value.number);
  }

  Sheet& sheet_;
  TimeNs base_e2e_, comparison_e2e_;
  bool compat_;
};

// The same question to both sides.
template <typename Ask>
void AddBoth(SheetBuilder& rows, const std::string& label, Emphasis emphasis,
             const OverallMetrics& base, const OverallMetrics& comparison, Ask ask) {
  rows.Add(label, emphasis, ask(base), ask(comparison));
}

Value Categorised(const OverallMetrics& side, const TimeAndCount& part) {
  Value value = Counted(part);
  value.known = side.has_categories;
  return value;
}

void AddComputing(SheetBuilder& rows, const OverallMetrics& base,
                  const OverallMetrics& comparison) {
  AddBoth(rows, "Computing Time", Emphasis::kSection, base, comparison, [](const auto& side) {
    Value value = TimeOnly(side.computing);
    value.number = side.has_categories ? Cell(side.KernelCount()) : NoNumber::kUnknown;
    return value;
  });
}

void AddMc2(SheetBuilder& rows, const OverallMetrics& base, const OverallMetrics& comparison) {
  const auto find = [](const OverallMetrics& side, const std::string& name) -> const Mc2Kernel* {
    const auto found = std::find_if(side.mc2.begin(), side.mc2.end(),
                                    [&](const Mc2Kernel& kernel) { return kernel.name == name; });
    return found == side.mc2.end() ? nullptr : &*found;
  };
  const auto add = [&](const std::string& name) {
    const auto value = [&](const OverallMetrics& side, auto part) {
      const Mc2Kernel* kernel = find(side, name);
      Value found = kernel != nullptr ? part(*kernel) : Value();
      found.known = side.has_categories;
      return found;
    };
    const auto add_part = [&](const std::string& label, Emphasis emphasis, auto part) {
      rows.Add(label, emphasis, value(base, part), value(comparison, part));
    };
    add_part("\t" + name, Emphasis::kPart, [](const Mc2Kernel& k) { return Counted(k.total); });
    add_part("\t\tComputing", Emphasis::kNone,
             [](const Mc2Kernel& k) { return TimeOnly(k.computing); });
    add_part("\t\tCommunication", Emphasis::kNone,
             [](const Mc2Kernel& k) { return TimeOnly(k.communication); });
  };
  for (const Mc2Kernel& kernel : base.mc2) add(kernel.name);
  for (const Mc2Kernel& kernel : comparison.mc2) {
    if (find(base, kernel.name) == nullptr) add(kernel.name);
  }
}

void AddCategories(SheetBuilder& rows, const OverallMetrics& base,
                   const OverallMetrics& comparison) {
  const auto add = [&](const std::string& label, Emphasis emphasis, auto part) {
    AddBoth(rows, label, emphasis, base, comparison,
            [&](const OverallMetrics& side) { return Categorised(side, part(side)); });
  };
  const auto add_one = [&](const std::string& label, Emphasis emphasis, Category category) {
    add(label, emphasis, [&](const OverallMetrics& side) { return side.Of(category); });
  };
  const auto add_family = [&](const std::string& name, Category cube_half) {
    add("\t" + name, Emphasis::kPart,
        [&](const OverallMetrics& side) { return side.Family(cube_half); });
    add_one("\t\t" + name + " (Cube)", Emphasis::kNone, cube_half);
    add_one("\t\t" + name + " (Vector)", Emphasis::kNone,
            static_cast<Category>(static_cast<int>(cube_half) + 1));
  };
  add_family("Flash Attention (Forward)", Category::kFlashAttentionForwardCube);
  add_family("Flash Attention (Backward)", Category::kFlashAttentionBackwardCube);
  add_family("Conv (Forward)", Category::kConvForwardCube);
  add_family("Conv (Backward)", Category::kConvBackwardCube);
  add_family("Matmul", Category::kMatmulCube);
  add_one("\tPage Attention", Emphasis::kPart, Category::kPagedAttention);
  add("\tVector", Emphasis::kPart, [](const OverallMetrics& side) { return side.Vector(); });
  add_one("\t\tVector (Trans)", Emphasis::kNone, Category::kVectorTrans);
  add_one("\t\tVector (No Trans)", Emphasis::kNone, Category::kVectorNoTrans);
  add_one("\tCube", Emphasis::kPart, Category::kOtherCube);
  add_one("\tSDMA (Tensor Move)", Emphasis::kPart, Category::kTensorMove);
  if (base.has_categories || comparison.has_categories || rows.compat()) {
    // Shown even when it is 0: the parts above then visibly make up the computing time.
    const auto other = [](const OverallMetrics& side) {
      Value value = TimeOnly(side.Other());
      value.known = side.has_categories;
      return value;
    };
    rows.AddAlways("\tOther", Emphasis::kPart, other(base), other(comparison));
  }
}

// One group of a side, which may lack it.
struct SideGroup {
  const OverallMetrics& side;
  const GroupTime* group;
};

// A row triple for one group of each side.
void AddGroup(SheetBuilder& rows, const std::string& label, const SideGroup& base,
              const SideGroup& comparison) {
  const auto add = [&](const std::string& row, Emphasis emphasis, bool needs_waits, auto part) {
    const auto value = [&](const SideGroup& from) {
      if (from.group == nullptr) return Value();
      Value found = TimeOnly(part(*from.group));
      found.known = !needs_waits || from.side.has_waits;
      return found;
    };
    rows.Add(row, emphasis, value(base), value(comparison));
  };
  add(label, Emphasis::kPart, false, [](const GroupTime& group) { return group.exposed; });
  add("\t\tWait", Emphasis::kNone, true, [](const GroupTime& group) { return group.wait; });
  add("\t\tTransmit", Emphasis::kNone, true,
      [](const GroupTime& group) { return group.transmit(); });
}

// The group of a process group whose name no other group of the side has.
const GroupTime* OnlyGroupOf(const OverallMetrics& side, const std::string& process_group) {
  const GroupTime* found = nullptr;
  for (const GroupTime& group : side.groups) {
    if (group.process_group != process_group) continue;
    if (found != nullptr) return nullptr;
    found = &group;
  }
  return found;
}

void AddGroups(SheetBuilder& rows, const OverallMetrics& base, const OverallMetrics& comparison) {
  // Groups are matched by the job's name for them, then by the capture's.
  const auto matched = [&](const GroupTime& group) {
    return !group.process_group.empty() && OnlyGroupOf(base, group.process_group) != nullptr &&
           OnlyGroupOf(comparison, group.process_group) != nullptr;
  };
  const auto label = [](const GroupTime& group) {
    return "\t" + (group.process_group.empty() ? "" : group.process_group + ": ") + group.name;
  };
  const auto unmatched_named = [&](const OverallMetrics& side, const std::string& name) {
    const auto found = std::find_if(side.groups.begin(), side.groups.end(), [&](const auto& group) {
      return group.name == name && !matched(group);
    });
    return found == side.groups.end() ? nullptr : &*found;
  };
  const auto add = [&](const std::string& row_label, const GroupTime* base_group,
                       const GroupTime* comparison_group) {
    AddGroup(rows, row_label, {base, base_group}, {comparison, comparison_group});
  };
  for (const GroupTime& group : base.groups) {
    if (!matched(group)) continue;
    add("\t" + group.process_group + ": Communication", &group,
        OnlyGroupOf(comparison, group.process_group));
  }
  for (const GroupTime& group : base.groups) {
    if (!matched(group)) add(label(group), &group, unmatched_named(comparison, group.name));
  }
  for (const GroupTime& group : comparison.groups) {
    if (matched(group) || unmatched_named(base, group.name) != nullptr) continue;
    add(label(group), nullptr, &group);
  }
}

void AddGroupOverlaps(SheetBuilder& rows, const OverallMetrics& base,
                      const OverallMetrics& comparison) {
  AddBoth(rows, "\tUncovered Communication Overlapped", Emphasis::kPart, base, comparison,
          [](const OverallMetrics& side) { return TimeOnly(side.GroupOverlapTime()); });
  const auto label = [](const GroupOverlap& overlap) {
    return "\t\t" + overlap.first + " & " + overlap.second;
  };
  // The formats order groups differently.
  using Times = std::map<std::pair<std::string, std::string>, TimeNs>;
  const auto pair_of = [](const GroupOverlap& overlap) -> Times::key_type {
    return std::minmax(overlap.first, overlap.second);
  };
  const auto times_of = [&](const OverallMetrics& side) {
    Times times;
    for (const GroupOverlap& overlap : side.group_overlaps) times[pair_of(overlap)] = overlap.time;
    return times;
  };
  const auto time_in = [&](const Times& times, const GroupOverlap& wanted) {
    const auto found = times.find(pair_of(wanted));
    return found != times.end() ? found->second : 0;
  };
  const Times base_times = times_of(base), comparison_times = times_of(comparison);
  for (const GroupOverlap& overlap : base.group_overlaps) {
    rows.Add(label(overlap), Emphasis::kNone, TimeOnly(overlap.time),
             TimeOnly(time_in(comparison_times, overlap)));
  }
  for (const GroupOverlap& overlap : comparison.group_overlaps) {
    if (time_in(base_times, overlap) != 0) continue;
    rows.Add(label(overlap), Emphasis::kNone, Value(), TimeOnly(overlap.time));
  }
}

std::vector<Column> Columns() {
  std::vector<Column> columns = {{.name = "Index", .format = Format::kInteger, .width = 40}};
  for (const Side side : {Side::kBase, Side::kComparison}) {
    columns.push_back({.name = "Duration(ms)",
                       .format = Format::kDecimals2,
                       .width = 20,
                       .side = side,
                       .unit = Unit::kNsShownAsMs});
    columns.push_back(
        {.name = "Duration Ratio", .format = Format::kPercent, .width = 20, .side = side});
    columns.push_back({.name = "Number", .format = Format::kInteger, .width = 10, .side = side});
  }
  columns.push_back(TwoDecimals("Diff Duration(ms)"));
  columns.push_back(Growth("Diff Ratio", 10));
  return columns;
}

}  // namespace

Sheet OverallSheet(const CompareInput& input, const OverallMetrics& base,
                   const OverallMetrics& comparison) {
  Sheet sheet = CompareSheet("OverallMetrics", Columns(), input);
  SheetBuilder rows(sheet, base.e2e, comparison.e2e, input.options().compat);
  const auto add_time = [&](const std::string& label, Emphasis emphasis, auto part) {
    AddBoth(rows, label, emphasis, base, comparison,
            [&](const OverallMetrics& side) { return TimeOnly(part(side)); });
  };
  AddComputing(rows, base, comparison);
  AddMc2(rows, base, comparison);
  AddCategories(rows, base, comparison);
  add_time("Uncovered Communication Time", Emphasis::kSection,
           [](const OverallMetrics& side) { return side.exposed_communication; });
  AddGroups(rows, base, comparison);
  AddGroupOverlaps(rows, base, comparison);
  add_time("Free Time", Emphasis::kSection, [](const OverallMetrics& side) { return side.free; });
  add_time("\tSDMA", Emphasis::kNone, [](const OverallMetrics& side) { return side.sdma_in_free; });
  add_time("\tFree", Emphasis::kNone,
           [](const OverallMetrics& side) { return side.free - side.sdma_in_free; });
  add_time("E2E Time", Emphasis::kSection, [](const OverallMetrics& side) { return side.e2e; });
  return sheet;
}

}  // namespace mpa
