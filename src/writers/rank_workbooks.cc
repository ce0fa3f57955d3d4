// SPDX-License-Identifier: Apache-2.0
// Workbooks of single ranks.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "mpa/base/rank.h"
#include "mpa/writers/writers.h"
#include "sheet_values.h"

namespace mpa {
namespace {

// "module_statistic_0".
class RankStems {
 public:
  std::string Next(const std::string& stem, RankId rank) {
    std::string name = rank >= 0 ? fmt::format("{}_{}", stem, RankFileName(rank)) : stem;
    const int number = ++used_[name];
    return number == 1 ? name : fmt::format("{} ({})", name, number);
  }

 private:
  std::map<std::string, int> used_;
};

// The rows of a sheet by rank, as positions: a position in Report::ranks.
using RowsOfRanks = std::vector<std::vector<std::size_t>>;

RowsOfRanks RowsOfRanksIn(const Sheet& sheet, std::size_t ranks) {
  RowsOfRanks rows(ranks);
  for (std::size_t i = 0; i < sheet.rows.size(); ++i) {
    const RankIndex rank = sheet.rows[i].rank;
    if (rank < ranks) rows[rank].push_back(i);
  }
  return rows;
}

// Sheets of one place with the rows of one rank each: the workbook of a rank has its own.
bool SharesItsPlace(const Sheet& sheet, const Report& report) {
  return std::ranges::any_of(report.sheets, [&](const Sheet& other) {
    return &other != &sheet && other.of_rank.stem == sheet.of_rank.stem &&
           other.of_rank.sheet == sheet.of_rank.sheet;
  });
}

// The sheet with the rows of one rank, as its workbook shows them.
Sheet OfOneRank(const Sheet& all, const std::vector<std::size_t>& of_rank) {
  Sheet sheet;
  sheet.name = all.of_rank.sheet;
  sheet.look = all.look;
  std::vector<Row> rows;
  for (const std::size_t i : of_rank) rows.push_back(all.rows[i]);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < all.columns.size(); ++i) {
    const InWorkbook& in_workbook = all.columns[i].in_workbook;
    if (in_workbook.shown == InWorkbook::Shown::kNever) continue;
    if (in_workbook.shown == InWorkbook::Shown::kIfAny &&
        std::ranges::all_of(rows, [&](const Row& row) { return writers::IsEmpty(row.cells[i]); })) {
      continue;
    }
    shown.push_back(i);
    Column& column = sheet.columns.emplace_back(all.columns[i]);
    if (!in_workbook.title.empty()) column.name = in_workbook.title;
    if (in_workbook.unit != Unit::kNone) {
      column.unit = in_workbook.unit;
      column.format = Format::kDecimals3;
    }
  }
  sheet.rows.reserve(rows.size());
  for (Row& row : rows) {
    Row& kept = sheet.rows.emplace_back();
    for (const std::size_t i : shown) kept.cells.push_back(std::move(row.cells[i]));
    kept.emphasis = row.emphasis;
    kept.indent = row.indent;
  }
  return sheet;
}

}  // namespace

std::vector<std::filesystem::path> WriteRankWorkbooks(const Report& report,
                                                      const std::filesystem::path& directory,
                                                      std::vector<std::string>& notes) {
  std::vector<std::string> stems;
  for (const Sheet& sheet : report.sheets) {
    const std::string& stem = sheet.of_rank.stem;
    if (!stem.empty() && std::ranges::find(stems, stem) == stems.end()) {
      stems.push_back(stem);
    }
  }
  std::vector<RowsOfRanks> rows;  // of each sheet
  for (const Sheet& sheet : report.sheets) {
    rows.push_back(sheet.of_rank.stem.empty() ? RowsOfRanks(report.ranks.size())
                                              : RowsOfRanksIn(sheet, report.ranks.size()));
  }
  RankStems names;
  std::vector<std::filesystem::path> paths;
  for (RankIndex rank; rank < report.ranks.size(); ++rank) {
    for (const std::string& stem : stems) {
      Report workbook;
      workbook.as_reference = report.as_reference;
      for (std::size_t i = 0; i < report.sheets.size(); ++i) {
        const Sheet& sheet = report.sheets[i];
        if (sheet.of_rank.stem != stem) continue;
        if (rows[i][rank].empty() && SharesItsPlace(sheet, report)) continue;
        workbook.sheets.push_back(OfOneRank(sheet, rows[i][rank]));
      }
      if (workbook.sheets.empty() || workbook.sheets.front().rows.empty()) continue;
      paths.push_back(ReplaceReport(workbook, directory, names.Next(stem, report.ranks[rank]),
                                    AllExportTypes().front(), notes));
    }
  }
  return paths;
}

}  // namespace mpa
