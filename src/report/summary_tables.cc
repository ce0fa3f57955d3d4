// SPDX-License-Identifier: Apache-2.0
// What changed, as the tables of a workbook's first sheet.
#include "mpa/report/summary_tables.h"

#include <cstddef>
#include <string>
#include <utility>

#include "mpa/base/language.h"
#include "mpa/base/time.h"

namespace mpa {
namespace {

// Columns of the tables.
constexpr std::size_t kBase = 1, kComparison = 2, kDifference = 3;

Sheet EmptyTable(std::string title, const char* first, const char* share) {
  Sheet table;
  table.name = std::move(title);
  const auto add = [&](const char* name, Format format, double width) -> Column& {
    return table.columns.emplace_back(
        Column{.name = std::string(Translated(name)), .format = format, .width = width});
  };
  add(first, Format::kText, 44);
  add("Base (ms)", Format::kDecimals3, 18).side = Side::kBase;
  add("Comparison (ms)", Format::kDecimals3, 18).side = Side::kComparison;
  add("Diff (ms)", Format::kDecimals3, 14).change = ChangeRole::kDifference;
  add("Diff %", Format::kGrowth, 10).marks_growth = true;
  add(share, Format::kGrowth, 16);
  return table;
}

// The whole is what the parts are compared with.
void AddRow(const ChangeNode& part, const ChangeNode& whole, Sheet& table) {
  const auto share = [](TimeNs time, TimeNs of) {
    return of > 0 ? Cell(static_cast<double>(time) / static_cast<double>(of)) : Cell();
  };
  Row row{{std::string(Translated(part.name)), InMs(part.base), InMs(part.comparison),
           InMs(part.Change())}};
  row.cells.push_back(part.base == 0 && part.comparison > 0 ? Cell(Say("new"))
                                                            : share(part.Change(), part.base));
  row.cells.push_back(share(part.Change(), whole.base));
  table.rows.push_back(std::move(row));
}

constexpr const char* kChangeSheet = "ChangeParts";
constexpr std::size_t kChangeColumn = 5;  // "Diff Duration(ms)" of that sheet

// Calls `note` with each part and its level, a part before what it is made of.
template <typename Note>
void VisitParts(const ChangeNode& whole, int level, Note note) {
  for (const ChangeNode& part : whole.children) {
    note(part, level);
    VisitParts(part, level + 1, note);
  }
}

Cell CountOrNone(std::int64_t count) {
  return count > 0 ? Cell(count) : Cell(NoNumber::kNotCounted);
}

}  // namespace

Sheet ChangeSheet(const ChangeNode& whole) {
  Sheet sheet;
  sheet.name = kChangeSheet;
  const auto add = [&](const char* name, Format format, double width, const char* meaning,
                       Side side = Side::kNeither) -> Column& {
    sheet.columns.push_back(NamedColumn(name, format, width, meaning));
    sheet.columns.back().side = side;
    return sheet.columns.back();
  };
  add("Part", Format::kText, 44,
      "A part of the change, named as on the screen, below the part to which it belongs.");
  for (const Side side : {Side::kBase, Side::kComparison}) {
    add("Duration(ms)", Format::kDecimals3, 18, "Time of the part in the median step, in ms.",
        side);
    add("Number", Format::kInteger, 10, "Calls in the median step; empty where none are counted.",
        side);
  }
  add("Diff Duration(ms)", Format::kDecimals3, 18,
      "Duration of the comparison minus that of the base, in ms.")
      .change = ChangeRole::kDifference;
  sheet.least_change = kPartThatMatters * InMs(whole.base);
  VisitParts(whole, 0, [&](const ChangeNode& part, int level) {
    Row row{{part.name, InMs(part.base), CountOrNone(part.base_count), InMs(part.comparison),
             CountOrNone(part.comparison_count), InMs(part.Change())}};
    row.indent = level;
    sheet.rows.push_back(std::move(row));
  });
  return sheet;
}

std::optional<RowPlace> PlaceInChangeSheet(const ChangeNode& whole, const ChangeNode& part) {
  std::optional<RowPlace> place;
  std::size_t row = 0;
  VisitParts(whole, 0, [&](const ChangeNode& node, int) {
    const bool is_it =
        node.name == part.name && node.base == part.base && node.comparison == part.comparison;
    if (is_it && !place) place = RowPlace{kChangeSheet, row, kChangeColumn};
    ++row;
  });
  return place;
}

SummaryTable LargestChangesTable(const ChangeNode& whole, const char* share,
                                 const PlaceOfChange& place_of) {
  SummaryTable largest{.table = EmptyTable(Say("The largest changes, {}", Translated(whole.name)),
                                           "What changed", share)};
  for (const ChangeNode& category : CategoriesOf(whole)) {
    if (largest.table.rows.size() == kMaxSummaryRows) break;
    if (category.kind == kRemainder || category.is_noise || category.Change() == 0) continue;
    AddRow(category, whole, largest.table);
    largest.links.push_back(place_of(category));
  }
  largest.table.least_change = kPartThatMatters * InMs(whole.base);
  largest.chart = Translated("The largest changes (ms)");
  largest.charted = {kDifference};
  return largest;
}

SummaryTable PartsTable(const ChangeNode& whole, const PlaceOfChange& place_of) {
  SummaryTable parts{
      .table = EmptyTable(Say("The parts, {}", Translated(whole.name)), "Part", "Of the step")};
  for (const ChangeNode& part : whole.children) {
    if (part.base == 0 && part.comparison == 0) continue;
    AddRow(part, whole, parts.table);
    parts.links.push_back(place_of(part));
  }
  ChangeNode all = whole;
  all.name = "all";
  AddRow(all, whole, parts.table);
  parts.links.emplace_back();
  parts.last_is_sum = true;
  parts.table.least_change = kPartThatMatters * InMs(whole.base);
  parts.chart = Translated("The parts: base and comparison (ms)");
  parts.charted = {kBase, kComparison};
  return parts;
}

}  // namespace mpa
