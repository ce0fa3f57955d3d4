// SPDX-License-Identifier: Apache-2.0
// One report of the reports of several groups of captures.
#include "join_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace mpa {
namespace {

constexpr const char* kColumn = "group";

template <typename T>
void MoveAll(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

bool HaveEqualColumns(const Sheet& sheet, const Sheet& joined) {
  return sheet.columns.size() + 1 == joined.columns.size() &&
         std::equal(sheet.columns.begin(), sheet.columns.end(), joined.columns.begin(),
                    [](const Column& a, const Column& b) { return a.name == b.name; });
}

// The sheet of all groups for the rows of one; a new one where their columns differ.
Sheet& SheetFor(const std::string& group, const Sheet& sheet, Report& report) {
  const auto found = std::ranges::find(report.sheets, sheet.name, &Sheet::name);
  if (found != report.sheets.end() && HaveEqualColumns(sheet, *found)) return *found;
  const bool is_other = found != report.sheets.end();
  Sheet& added = report.sheets.emplace_back(sheet);
  added.rows.clear();
  if (is_other) added.name = fmt::format("{} {}", sheet.name, group);
  constexpr double kWidth = 20;
  added.columns.push_back(NamedColumn(kColumn, Format::kText, kWidth,
                                      "The group of captures, where several share ranks."));
  return added;
}

std::string FileNameOf(std::string group) {
  std::replace(group.begin(), group.end(), '/', '_');
  return group;
}

}  // namespace

void JoinGroup(const std::string& group, Report of_group, Report& report) {
  const std::size_t first_rank = report.ranks.size();
  MoveAll(of_group.ranks, report.ranks);
  for (Sheet& sheet : of_group.sheets) {
    Sheet& joined = SheetFor(group, sheet, report);
    for (Row& row : sheet.rows) {
      row.rank += first_rank;
      row.cells.resize(joined.columns.size() - 1);
      row.cells.emplace_back(group);
      joined.rows.push_back(std::move(row));
    }
  }
  if (!report.lines.empty()) report.lines.emplace_back();
  report.lines.push_back(group + ":");
  MoveAll(of_group.lines, report.lines);
  for (ScreenTable& screen : of_group.screens)
    screen.heading.insert(screen.heading.begin(), group + ":");
  MoveAll(of_group.screens, report.screens);
  for (Finding& finding : of_group.findings)
    finding.scope = fmt::format("{} {}", group, finding.scope);
  MoveAll(of_group.findings, report.findings);
  MoveAll(of_group.timelines, report.timelines);
  MoveAll(of_group.drawings, report.drawings);
  for (TextDocument& document : of_group.documents)
    document.file_name = fmt::format("{}_{}", FileNameOf(group), document.file_name);
  MoveAll(of_group.documents, report.documents);
  for (const std::string& note : of_group.notes)
    report.notes.push_back(fmt::format("{}: {}", group, note));
}

}  // namespace mpa
