// SPDX-License-Identifier: Apache-2.0
// What the columns of a report say, as Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats.h"
#include "markup_text.h"
#include "mpa/io/output_file.h"
#include "sheet_values.h"

namespace mpa::writers {
namespace {

// The unit of the numbers that programs get.
std::string_view UnitOf(const Column& column) {
  constexpr std::string_view kNamed[] = {"ms", "us", "ns", "MB", "KB"};
  for (const std::string_view unit : kNamed) {
    if (column.name.ends_with(fmt::format("({})", unit))) return unit;
  }
  const bool is_ns = column.in_workbook.unit == Unit::kNsShownAsUs || column.name.ends_with("Ns") ||
                     column.name.ends_with("_ns");
  if (is_ns) return "ns";
  return column.format == Format::kPercent || column.marks_growth ? "1 = 100 %" : "";
}

// "Chart, stacked: The mean step of each rank. Labels `rank`, values `free` in us, rows of one
// label as their mean."
std::string TextOf(const Chart& chart, const Sheet& sheet) {
  const std::vector<std::string> keys = ColumnKeys(sheet);
  const auto key = [&](const std::string& name) {
    const auto found = std::ranges::find(sheet.columns, name, &Column::name);
    return found == sheet.columns.end()
               ? std::string()
               : fmt::format("`{}`", keys[static_cast<std::size_t>(found - sheet.columns.begin())]);
  };
  std::vector<std::string> labels, values;
  for (const std::string& label : chart.labels) labels.push_back(key(label));
  if (!chart.across.empty()) labels.push_back(key(chart.across));
  for (const ChartedColumn& value : chart.values) values.push_back(key(value.name));
  return Say("Chart, {}: {}. Labels {}; values {} in {}; rows of one label: {}; order: {}.",
             NameOf(chart.kind), Translated(chart.title), fmt::join(labels, ", "),
             fmt::join(values, ", "),
             chart.measured == Measured::kCount ? chart.counted : NameOf(chart.measured),
             NameOf(chart.same), NameOf(chart.order));
}

}  // namespace

void WriteColumnsFile(const Report& report, const std::filesystem::path& path) {
  io::TextFile file(path);
  for (const Sheet& sheet : report.sheets) {
    Print(file.stream(), "### {}\n\n{}\n|---|---|---|---|\n", sheet.name,
          Translated("| Key | In databases | Unit | Meaning |"));
    const std::vector<std::string> keys = ColumnKeys(sheet);
    for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
      const Column& column = sheet.columns[i];
      Print(file.stream(), "| `{}` | `{}` | {} | {} |\n", keys[i], column.name, UnitOf(column),
            EscapedMarkdown(Translated(column.meaning)));
    }
    if (HasLevels(sheet)) {
      Print(file.stream(), "| `{}` | | | {} |\n", kLevelKey,
            Translated("How deep the row lies in those above it, from 0."));
    }
    for (const Chart& chart : sheet.charts) Print(file.stream(), "\n{}\n", TextOf(chart, sheet));
    Print(file.stream(), "\n");
  }
  file.Close();
}

}  // namespace mpa::writers
