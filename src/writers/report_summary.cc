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
constexpr std::string_view kLeast = "min";  // a header of lists

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

std::string OtherUnit(const std::vector<StatedNumber>& numbers, std::string_view unit) {
  const auto found = std::ranges::find_if(
      numbers, [&](const auto& one) { return !one.unit.empty() && one.unit != unit; });
  return found == numbers.end() ? std::string() : found->unit;
}

/// The numbers of the screen, in its order.
class KeyNumbers {
 public:
  void Add(const ScreenLine& line) {
    const std::string text = WithoutPadding(line.Text());
    if (text.starts_with("...")) return;  // what the screen leaves out
    if (text.ends_with(':') && line.Numbers().empty()) group_ = text;
    const std::size_t end_of_name = text.find("  ");
    const std::vector<StatedNumber> stated = line.Numbers();
    const bool is_row = end_of_name != std::string::npos &&
                        std::ranges::any_of(stated, [](const auto& n) { return !n.unit.empty(); });
    if (!is_row) {
      if (const StatedNumber* number = LeadingOf(stated)) Add(text, *number, text);
      return;
    }
    for (StatedNumber number : stated) {
      // In these headings "min" is the smallest value, not minutes.
      if (number.name == kLeast && number.unit == kLeast) number.unit = OtherUnit(stated, kLeast);
      if (number.unit.empty()) continue;
      const std::string name = text.substr(0, end_of_name);
      const bool says_unit = number.name.empty() || number.name == number.unit;
      Add(says_unit ? name : fmt::format("{}: {}", name, number.name), number, text);
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
  AddColumn(Translated("What it is for"), Format::kText, 60, made.table);
  AddColumn(Translated("Rows"), Format::kInteger, 14, made.table);
  AddColumn(Translated("Sheet"), Format::kText, 10, made.table);  // goes on over the next ones
  for (const Sheet& sheet : sheets) {
    made.table.rows.push_back(
        {{std::string(sheet.meaning.empty() ? sheet.meaning : Translated(sheet.meaning)),
          static_cast<std::int64_t>(sheet.rows.size()), FitName(sheet.name, kMaxSheetName)}});
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
  if (!report.preface.empty()) summary.lines.push_back(report.preface);
  // The lines that are left, with the numbers that they know.
  std::size_t at = 0;
  for (const ScreenLine& line : report.lines) {
    if (at == rest.size() || line.Text() != rest[at]) continue;
    numbers.Add(line);
    ++at;
  }
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
