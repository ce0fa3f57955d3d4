// SPDX-License-Identifier: Apache-2.0
// The parts of the end-to-end time, side by side, for the sheet and the screen.
#include <algorithm>
#include <map>
#include <utility>

#include "compare_sheet.h"
#include "mpa/base/language.h"
#include "mpa/base/time.h"
#include "overall.h"

namespace mpa {
namespace {

OverallValue TimeOnly(TimeNs time) { return {.time = time}; }
OverallValue TimedAndCounted(const TimeAndCount& part) {
  return {.time = part.time, .number = part.count};
}

OverallValue Categorised(const OverallMetrics& side, const TimeAndCount& part) {
  OverallValue value = TimedAndCounted(part);
  value.known = side.has_categories;
  return value;
}

class RowsBuilder {
 public:
  RowsBuilder(const OverallMetrics& base, const OverallMetrics& comparison, bool compat)
      : base_(base), comparison_(comparison), compat_(compat) {}

  // Rows in which both sides are zero are left out.
  void Add(const std::string& label, const std::string& name, Emphasis emphasis,
           const OverallValue& base, const OverallValue& comparison) {
    const bool base_says = IsKnown(base) && base.time != 0;
    const bool comparison_says = IsKnown(comparison) && comparison.time != 0;
    if (base_says || comparison_says) AddRow(label, name, emphasis, base, comparison);
  }

  // The same question to both sides.
  template <typename Ask>
  void AddBoth(const std::string& label, const std::string& name, Emphasis emphasis, Ask ask) {
    Add(label, name, emphasis, ask(base_), ask(comparison_));
  }

  // A row that also says that both sides are zero; the Python tool has none then.
  template <typename Ask>
  void AddAlways(const std::string& label, const std::string& name, Emphasis emphasis, Ask ask) {
    if (compat_) return AddBoth(label, name, emphasis, ask);
    AddRow(label, name, emphasis, ask(base_), ask(comparison_));
  }

  const OverallMetrics& base() const { return base_; }
  const OverallMetrics& comparison() const { return comparison_; }
  bool AnyHasCategories() const {
    return base_.has_categories || comparison_.has_categories || compat_;
  }
  std::vector<OverallRow> Take() { return std::move(rows_); }

  // The Python tool has 0 for what is unknown.
  bool IsKnown(const OverallValue& value) const { return compat_ || value.known; }

 private:
  OverallValue WithCompatDefaults(OverallValue value) const {
    if (compat_ && value.number == Cell(NoNumber::kUnknown)) value.number = std::int64_t{0};
    value.known = IsKnown(value);
    return value;
  }

  void AddRow(const std::string& label, const std::string& name, Emphasis emphasis,
              const OverallValue& base, const OverallValue& comparison) {
    rows_.push_back({label, name, static_cast<int>(std::ranges::count(label, '\t')), emphasis,
                     WithCompatDefaults(base), WithCompatDefaults(comparison)});
  }

  const OverallMetrics& base_;
  const OverallMetrics& comparison_;
  bool compat_;
  std::vector<OverallRow> rows_;
};

void AddMc2(RowsBuilder& rows) {
  const auto find = [](const OverallMetrics& side, const std::string& name) -> const Mc2Kernel* {
    const auto found = std::ranges::find_if(
        side.mc2, [&](const Mc2Kernel& kernel) { return kernel.name == name; });
    return found == side.mc2.end() ? nullptr : &*found;
  };
  const auto add = [&](const std::string& name) {
    const auto add_part = [&](const std::string& label, const std::string& on_screen,
                              Emphasis emphasis, auto part) {
      rows.AddBoth(label, on_screen, emphasis, [&](const OverallMetrics& side) {
        const Mc2Kernel* kernel = find(side, name);
        OverallValue found = kernel != nullptr ? part(*kernel) : OverallValue();
        found.known = found.known && side.has_categories;
        return found;
      });
    };
    add_part("\t" + name, name, Emphasis::kPart,
             [](const Mc2Kernel& kernel) { return TimedAndCounted(kernel.total); });
    add_part("\t\tComputing", "", Emphasis::kNone, [&](const Mc2Kernel& kernel) {
      OverallValue computing = TimeOnly(kernel.computing);
      computing.known = kernel.knows_computing;
      if (!rows.IsKnown(computing)) computing.time = 0;
      return computing;
    });
    add_part("\t\tCommunication", "", Emphasis::kNone,
             [](const Mc2Kernel& kernel) { return TimeOnly(kernel.communication); });
  };
  for (const Mc2Kernel& kernel : rows.base().mc2) add(kernel.name);
  for (const Mc2Kernel& kernel : rows.comparison().mc2) {
    if (find(rows.base(), kernel.name) == nullptr) add(kernel.name);
  }
}

void AddCategories(RowsBuilder& rows) {
  for (const KernelFamily& family : kKernelFamilies) {
    const std::string name(family.name);
    rows.AddBoth("\t" + name, name, Emphasis::kPart,
                 [&](const OverallMetrics& side) { return Categorised(side, family.Of(side)); });
    for (std::size_t half = 0; family.size > 1 && half < family.size; ++half) {
      const auto category = static_cast<Category>(static_cast<std::size_t>(family.first) + half);
      rows.AddBoth(
          "\t\t" + name + " (" + std::string(family.halves[half]) + ")", "", Emphasis::kNone,
          [&](const OverallMetrics& side) { return Categorised(side, side.Of(category)); });
    }
  }
  if (rows.AnyHasCategories()) {
    // Shown even when it is 0: the parts above then visibly make up the computing time.
    rows.AddAlways("\tOther", "Other", Emphasis::kPart, [](const OverallMetrics& side) {
      OverallValue value = TimeOnly(side.Other());
      value.known = side.has_categories;
      return value;
    });
  }
}

// A row triple for one group of each side.
void AddGroup(RowsBuilder& rows, const std::string& label, const std::string& name,
              const GroupPair& pair) {
  const auto add = [&](const std::string& row, const std::string& on_screen, Emphasis emphasis,
                       bool needs_waits, auto part) {
    const auto value = [&](const OverallMetrics& side, const GroupTime* group) {
      if (group == nullptr) return OverallValue();
      OverallValue found = TimeOnly(part(*group));
      found.known = !needs_waits || side.has_waits;
      return found;
    };
    rows.Add(row, on_screen, emphasis, value(rows.base(), pair.base),
             value(rows.comparison(), pair.comparison));
  };
  add(label, name, Emphasis::kPart, false, [](const GroupTime& group) { return group.exposed; });
  add("\t\tWait", "wait", Emphasis::kNone, true, [](const GroupTime& group) { return group.wait; });
  add("\t\tTransmit", "transmit", Emphasis::kNone, true,
      [](const GroupTime& group) { return group.transmit(); });
}

std::string LabelOf(const GroupPair& pair) {
  const GroupTime& group = pair.base != nullptr ? *pair.base : *pair.comparison;
  if (pair.by_process_group) return "\t" + group.process_group + ": Communication";
  return "\t" + (group.process_group.empty() ? "" : group.process_group + ": ") + group.name;
}

void AddGroupOverlaps(RowsBuilder& rows) {
  rows.AddBoth("\tUncovered Communication Overlapped", kCountedTwice, Emphasis::kPart,
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
  const Times base_times = times_of(rows.base()), comparison_times = times_of(rows.comparison());
  for (const GroupOverlap& overlap : rows.base().group_overlaps) {
    rows.Add(label(overlap), "", Emphasis::kNone, TimeOnly(overlap.time),
             TimeOnly(time_in(comparison_times, overlap)));
  }
  for (const GroupOverlap& overlap : rows.comparison().group_overlaps) {
    if (time_in(base_times, overlap) != 0) continue;
    rows.Add(label(overlap), "", Emphasis::kNone, OverallValue(), TimeOnly(overlap.time));
  }
}

// Of an NPU those that hold up kernels, of a GPU all that run while nothing else does.
const char* CopiesName(const OverallMetrics& base, const OverallMetrics& comparison) {
  if (base.device != comparison.device) return "copies";
  return base.device == DeviceKind::kGpu ? "copies alone" : "copies on compute streams";
}

// What lies between the end-to-end time and the steps, on the screen alone.
void AddSteps(RowsBuilder& rows) {
  const auto most = [](TimeNs a, TimeNs b) {
    return std::max<TimeNs>(a, 0) + std::max<TimeNs>(b, 0);
  };
  rows.AddBoth("", "Before first and after last task", Emphasis::kSection,
               [&](const OverallMetrics& side) {
                 return TimeOnly(most(side.before_first, side.behind_last));
               });
  rows.AddBoth("", "Tasks outside the steps", Emphasis::kSection, [&](const OverallMetrics& side) {
    return TimeOnly(-most(-side.before_first, -side.behind_last));
  });
  const std::size_t steps = rows.base().steps;
  const std::string name = steps != rows.comparison().steps ? "All steps"
                           : steps == 1                     ? "Step"
                                        : Say("All {} steps", steps);
  rows.AddBoth("", name, Emphasis::kSection,
               [](const OverallMetrics& side) { return TimeOnly(side.step); });
}

}  // namespace

TimeAndCount KernelFamily::Of(const OverallMetrics& side) const {
  TimeAndCount sum;
  for (std::size_t i = Index(first); i < End(); ++i) sum = sum + side.categories[i];
  return sum;
}

std::vector<OverallRow> OverallRows(const OverallMetrics& base, const OverallMetrics& comparison,
                                    const std::vector<GroupPair>& groups, bool compat) {
  RowsBuilder rows(base, comparison, compat);
  const auto add_time = [&](const std::string& label, const std::string& name, Emphasis emphasis,
                            auto part) {
    rows.AddBoth(label, name, emphasis,
                 [&](const OverallMetrics& side) { return TimeOnly(part(side)); });
  };
  rows.AddBoth("Computing Time", "Computing", Emphasis::kSection, [](const OverallMetrics& side) {
    OverallValue value = TimeOnly(side.computing);
    value.number = side.has_categories ? Cell(side.KernelCount()) : NoNumber::kUnknown;
    return value;
  });
  AddMc2(rows);
  AddCategories(rows);
  add_time("Uncovered Communication Time", "Exposed communication", Emphasis::kSection,
           [](const OverallMetrics& side) { return side.exposed_communication; });
  for (const GroupPair& pair : groups) {
    AddGroup(rows, LabelOf(pair), GroupMeaning(base, comparison, pair), pair);
  }
  AddGroupOverlaps(rows);
  add_time("", "LCCL", Emphasis::kSection,
           [](const OverallMetrics& side) { return side.lccl.time; });
  add_time("Free Time", "Free between tasks", Emphasis::kSection,
           [](const OverallMetrics& side) { return side.free; });
  add_time("\tSDMA", CopiesName(base, comparison), Emphasis::kNone,
           [](const OverallMetrics& side) { return side.sdma_in_free; });
  add_time("\tFree", "idle", Emphasis::kNone,
           [](const OverallMetrics& side) { return side.free - side.sdma_in_free; });
  add_time("E2E Time", "End to end", Emphasis::kSection,
           [](const OverallMetrics& side) { return side.e2e; });
  if (base.steps > 0 || comparison.steps > 0) AddSteps(rows);
  return rows.Take();
}

namespace {

void AppendOverallSide(Row& row, const OverallValue& value, TimeNs e2e) {
  if (!value.known) {
    row.cells.insert(row.cells.end(), 3, NoNumber::kUnknown);
    return;
  }
  AppendCells(row, value.time, static_cast<double>(value.time) / static_cast<double>(e2e),
              value.number);
}

std::vector<Column> OverallColumns() {
  std::vector<Column> columns = {{.name = "Index",
                                  .format = Format::kInteger,
                                  .width = 40,
                                  .meaning = "The part of the end-to-end time; `level` says how"
                                             " deep it lies in the parts before it."}};
  for (const Side side : {Side::kBase, Side::kComparison}) {
    columns.push_back({.name = "Duration(ms)",
                       .format = Format::kDecimals2,
                       .width = 20,
                       .side = side,
                       .unit = Unit::kNsShownAsMs,
                       .meaning = "Time of the part."});
    columns.push_back({.name = "Duration Ratio",
                       .format = Format::kPercent,
                       .width = 20,
                       .side = side,
                       .meaning = "Share of the end-to-end time, 1 is all."});
    columns.push_back({.name = "Number",
                       .format = Format::kInteger,
                       .width = 10,
                       .side = side,
                       .meaning = "Kernels or calls; empty where none are counted."});
  }
  columns.push_back(
      Difference("Diff Duration(ms)", "Duration of the comparison minus that of the base."));
  columns.push_back(Growth("Diff Ratio", RatioMeaning("Duration"), 10));
  return columns;
}

// The reference's table has no groups of GPUs; the screen has them.
OverallMetrics WithoutGpuGroups(OverallMetrics side) {
  if (side.device == DeviceKind::kGpu) {
    side.groups.clear();
    side.group_overlaps.clear();
  }
  return side;
}

}  // namespace

Sheet OverallSheet(const CompareInput& input, const OverallMetrics& all_of_base,
                   const OverallMetrics& all_of_comparison) {
  const OverallMetrics base = WithoutGpuGroups(all_of_base);
  const OverallMetrics comparison = WithoutGpuGroups(all_of_comparison);
  Sheet sheet = CompareSheet("OverallMetrics", {OverallColumns()}, input);
  sheet.least_change = LeastChange(input, RowsOf::kAllSteps, 1e6);
  const std::vector<GroupPair> groups = MatchGroups(base, comparison);
  for (const OverallRow& part : OverallRows(base, comparison, groups, input.options().compat)) {
    if (part.label.empty()) continue;
    Row row{.cells = {part.label}, .emphasis = part.emphasis, .indent = part.level};
    AppendOverallSide(row, part.base, base.e2e);
    AppendOverallSide(row, part.comparison, comparison.e2e);
    if (part.base.known && part.comparison.known) {
      AppendCells(
          row, InMs(part.comparison.time - part.base.time),
          GrowthRatio(static_cast<double>(part.base.time), static_cast<double>(part.comparison.time)));
    } else {
      row.cells.insert(row.cells.end(), 2, NoNumber::kUnknown);
    }
    sheet.rows.push_back(std::move(row));
  }
  return sheet;
}

}  // namespace mpa
