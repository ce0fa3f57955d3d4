// SPDX-License-Identifier: Apache-2.0
// The lists of compare on the screen: the rows of a sheet that changed most.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/compare/comparison.h"
#include "mpa/report/amount.h"
#include "screen_rows.h"

namespace mpa {
namespace {

// How a sheet is shown: what names a row, and which columns hold the value of a side.
struct ListForm {
  std::string_view sheet;
  std::string_view title;                 // with its unit no wider than names are
  std::array<std::string_view, 2> names;  // titles of columns; the second may be empty
  std::string_view value;                 // how the titles of both values end
  Quantity quantity = Quantity::kTime;
  double scale = 1e6;           // ns or bytes in the unit of the sheet
  bool is_in_story = false;     // the lines about the step say the same
  std::string_view left_out{};  // rows with this text repeat or divide others
  bool begins = false;          // what a name begins with says most of it
};

constexpr double kMegabyte = 1 << 20;
constexpr auto kListForms = std::to_array<ListForm>({
    {"CommunicationCompare",
     "Collectives",
     {"Communication OP Name", ""},
     "Total Duration(us)",
     Quantity::kTime,
     1e3,
     true,
     "|"},
    {"ModuleCompareStatistic",
     "Operators of modules, device",
     {"Module Name", "Operator Name"},
     "Device Self Time(ms)",
     Quantity::kTime,
     1e6,
     false,
     "[ TOTAL ]"},
    {"OperatorCompareStatistic", "Operators, device", {"Operator Name", ""}, "Device Duration(ms)"},
    {"MemoryCompareStatistic",
     "Operators, memory",
     {"Operator Name", ""},
     "Allocated Memory(MB)",
     Quantity::kBytes,
     kMegabyte},
    {"SnapshotCompare",
     "In use at the end, by call site",
     {"Call Site", "Function"},
     "End(MB)",
     Quantity::kBytes,
     1e6,
     false,
     {},
     true},
    {"ApiCompare", "Operators, host", {"api name", ""}, "Total Duration(ms)"},
    {"KernelCompare",
     "Kernels by type and shapes",
     {"Kernel", "Input Shape"},
     "Total Duration(us)",
     Quantity::kTime,
     1e3,
     true},
    {"KernelTypeCompare",
     "Kernels by type and core",
     {"Kernel Type", "Core Type"},
     "Total Duration(us)",
     Quantity::kTime,
     1e3,
     true},
});

// A row of a list: the name that people see, and the values of both sides.
struct ListedChange {
  std::string name;
  std::array<std::int64_t, 2> values{};

  std::int64_t Size() const { return std::abs(values[1] - values[0]); }
};

std::optional<ListedChange> ListedChangeOf(const Sheet& sheet, const ListForm& form,
                                           const Row& row) {
  ListedChange change;
  std::array<bool, 2> found{};
  for (const std::string_view title : form.names) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (title.empty() || sheet.columns[i].name != title) continue;
      const std::string* text = std::get_if<std::string>(&row.cells[i]);
      if (text == nullptr || text->empty()) continue;
      if (*text == form.left_out) return std::nullopt;
      change.name += (change.name.empty() ? "" : " ") + *text;
      break;
    }
  }
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const Column& column = sheet.columns[i];
    const std::size_t side = column.side == Side::kBase ? 0 : 1;
    if (column.side == Side::kNeither || found[side] || !column.name.ends_with(form.value)) {
      continue;
    }
    const auto number = NumberOf(row.cells[i]);
    if (!number) return std::nullopt;  // unknown: nothing is known to have changed
    change.values[side] = std::llround(*number * form.scale);
    found[side] = true;
  }
  return change;
}

}  // namespace

std::vector<ScreenTable> ChangedLists(const Report& report, bool asked, std::size_t width) {
  const std::size_t most = asked ? 10 : 3;
  std::vector<ScreenTable> tables;
  for (const ListForm& form : kListForms) {
    const auto sheet = std::ranges::find(report.sheets, form.sheet, &Sheet::name);
    if (sheet == report.sheets.end() || (form.is_in_story && !report.story.empty())) continue;
    const auto least = static_cast<std::int64_t>(sheet->least_change.value_or(0) * form.scale);
    std::vector<ListedChange> changes;
    for (const Row& row : std::as_const(sheet->rows)) {
      auto change = ListedChangeOf(*sheet, form, row);
      if (change && change->Size() > 0) changes.push_back(*std::move(change));
    }
    const std::size_t all = changes.size();
    StableSort(changes, std::ranges::greater(), &ListedChange::Size);
    changes.resize(std::min(all, most));
    if (!asked) std::erase_if(changes, [&](const auto& change) { return change.Size() < least; });
    if (changes.empty()) continue;
    std::int64_t largest = 0;
    for (const ListedChange& change : changes) {
      largest = std::max({largest, std::abs(change.values[0]), std::abs(change.values[1])});
    }
    const AmountScale scale = form.quantity == Quantity::kTime
                                  ? AmountScale::ForPartsOf(largest)
                                  : AmountScale(form.quantity, largest);
    ScreenRows rows(width);
    for (const ListedChange& change : changes) {
      OverallValue base, comparison;
      base.time = change.values[0];
      comparison.time = change.values[1];
      rows.Add(scale, form.begins ? CutEnd(change.name, rows.NameWidth()) : change.name, 0, base,
               comparison);
    }
    ScreenTable& table = tables.emplace_back();
    table.plain = true;
    SetHeaders(Say("{} ({})", Translated(form.title), scale.unit()), table);
    table.rows = rows.Take(form.sheet.data());
    if (all > changes.size())
      table.rows.push_back(ScreenRows::MoreRow(all - changes.size(), form.sheet));
  }
  return tables;
}

}  // namespace mpa
