// SPDX-License-Identifier: Apache-2.0
// The first sheet of the workbook of a recipe.
#include "report_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "mpa/base/language.h"
#include "mpa/base/text.h"
#include "mpa/report/screen_line.h"
#include "number_places.h"
#include "xlsx_cells.h"

namespace mpa::writers {
namespace {

constexpr std::size_t kMostNumbers = 60, kMostCaveats = 8;

Sheet EmptyTable(std::string_view title) {
  Sheet table;
  table.name = title;
  table.look = Look::kList;
  return table;
}

void AddColumn(std::string_view name, Format format, double width, Sheet& table) {
  table.columns.push_back({.name = std::string(name), .format = format, .width = width});
}

// "a  b" of "  a      b".
std::string WithoutPadding(std::string_view text) {
  std::string kept;
  for (const char c : Trim(text)) {
    if (c != ' ' || !kept.ends_with("  ")) kept += c;
  }
  return kept;
}

/// The numbers of the screen, in its order.
class KeyNumbers {
 public:
  void Add(const ScreenLine& line) {
    const std::string text = WithoutPadding(line.Text());
    if (text.ends_with(':') && line.Numbers().empty()) group_ = text;
    const std::size_t end_of_name = text.find("  ");
    const std::vector<StatedNumber> stated = line.Numbers();
    const bool is_row = end_of_name != std::string::npos &&
                        std::ranges::any_of(stated, [](const auto& n) { return !n.unit.empty(); });
    if (!is_row) {
      if (const StatedNumber* number = LeadingOf(stated)) Add(text, *number, text);
      return;
    }
    for (const StatedNumber& number : stated) {
      if (number.unit.empty()) continue;
      const std::string name = text.substr(0, end_of_name);
      Add(number.name.empty() ? name : fmt::format("{}: {}", name, number.name), number, text);
    }
  }

  SummaryTable Take(const std::vector<Sheet>& sheets) && {
    SummaryTable made{.table = EmptyTable(Translated("Key numbers"))};
    AddColumn(Translated("What the screen says"), Format::kText, 60, made.table);
    AddColumn(Translated("Number"), Format::kText, 14, made.table);
    AddColumn(Translated("Unit"), Format::kText, 10, made.table);
    AddColumn(Translated("Rank"), Format::kText, 10, made.table);
    made.links = PlacesOf(numbers_, sheets);
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const ShownNumber& number = numbers_[i];
      made.table.rows.push_back({{labels_[i], number.value, number.unit, number.rank}});
    }
    return made;
  }

 private:
  void Add(std::string label, const StatedNumber& number, const std::string& text) {
    if (numbers_.size() == kMostNumbers) return;
    labels_.push_back(std::move(label));
    numbers_.push_back({.value = number.value,
                        .decimals = DecimalsIn(text, number.value),
                        .unit = number.unit,
                        .rank = number.rank,
                        .text = group_ + ' ' + text});
  }

  std::string group_;  // of captures, whose lines follow
  std::vector<std::string> labels_;
  std::vector<ShownNumber> numbers_;
};

SummaryTable SheetsTable(const std::vector<Sheet>& sheets) {
  SummaryTable made{.table = EmptyTable(Translated("Sheets"))};
  AddColumn(Translated("Sheet"), Format::kText, 30, made.table);
  AddColumn(Translated("Rows"), Format::kInteger, 14, made.table);
  AddColumn(Translated("What it is for"), Format::kText, 10, made.table);
  for (const Sheet& sheet : sheets) {
    made.table.rows.push_back(
        {{FitName(sheet.name, kMaxSheetName), static_cast<std::int64_t>(sheet.rows.size()),
          std::string(PurposeOf(sheet.name))}});
  }
  return made;
}

}  // namespace

std::optional<WorkbookSummary> SummaryOf(const Report& report, std::string title) {
  if (report.lines.empty()) return std::nullopt;
  WorkbookSummary summary;
  summary.name = Translated("Summary");
  summary.title = std::move(title);
  summary.link_header = Translated("Where");
  std::vector<std::string> rest = TextsOf(report.lines);
  summary.lines = TakeVerdicts(rest);
  KeyNumbers numbers;
  for (const std::string& verdict : summary.lines) numbers.Add(verdict);
  // Below one verdict the lines that are left; each group has some of its own.
  const bool of_groups = summary.lines.size() > 1;
  for (std::size_t i = of_groups ? 0 : report.lines.size() - rest.size(); i < report.lines.size();
       ++i)
    numbers.Add(report.lines[i]);
  if (!report.preface.empty()) summary.lines.push_back(report.preface);
  SummaryTable key_numbers = std::move(numbers).Take(report.sheets);
  if (!key_numbers.table.rows.empty()) summary.tables.push_back(std::move(key_numbers));
  if (!report.sheets.empty()) summary.tables.push_back(SheetsTable(report.sheets));
  const std::size_t caveats = std::min(report.notes.size(), kMostCaveats);
  summary.caveats.assign(report.notes.begin(),
                         report.notes.begin() + static_cast<std::ptrdiff_t>(caveats));
  if (caveats < report.notes.size())
    summary.caveats.push_back(Say("{} more on the sheet Notes", report.notes.size() - caveats));
  return summary;
}

}  // namespace mpa::writers
