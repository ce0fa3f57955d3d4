// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/report/advice.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"

namespace mpa {

/// The category that the Python tool has for a finding, its title where it has none.
std::string ProblemOf(const Finding& finding);

/// What an analyzer found that no finding prices: a row of "problems" without a gain.
struct AnalyzerNote {
  std::string category, description, suggestion;
  std::int64_t count = 0;
  TimeNs time = 0;
};

/// The rank of the row, which is no part of the item: AnalyzerSheets fills it in.
template <typename Item>
ColumnOf<Item> RankColumn(double width, std::string_view name = "rank_id") {
  return {NamedColumn(name, Format::kInteger, width, "Rank"), nullptr};
}

/// The lists that the Python tool's advisor has, too, with the rows of all ranks, and what they say
/// in short.
class AnalyzerSheets {
 public:
  AnalyzerSheets(const std::vector<DiagnosedRank>& ranks_of, const Diagnosis& of)
      : ranks(ranks_of), diagnosis(of) {}

  /// Rows of a sheet, and their time.
  struct Listed {
    std::int64_t rows = 0;
    TimeNs time = 0;
  };

  /// `fill` gives the items of a part to a function, which makes a row of each. A sheet without
  /// rows is left out. Returns how many there are.
  template <typename Item, typename Fill>
  std::int64_t Add(std::string_view name, const SheetColumns<Item>& columns, Fill fill) {
    Sheet sheet = SheetOf(Translated(name), columns);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      fill(*ranks[i].part, [&](const Item& item) {
        Row& row = sheet.rows.emplace_back();
        row.rank = i;
        for (const ColumnOf<Item>& column : columns)
          row.cells.push_back(column.cell == nullptr ? RankCell(ranks[i].rank) : column.cell(item));
      });
    }
    const auto rows = static_cast<std::int64_t>(sheet.rows.size());
    if (rows > 0) sheets.push_back(std::move(sheet));
    return rows;
  }

  /// The items of a list of each part that `keep` accepts; `time_of` is what each takes.
  template <typename Item, typename TimeOf, typename Keep>
  Listed AddList(std::string_view name, const SheetColumns<Item>& columns,
                 std::vector<Item> AnalyzerRows::*list, TimeOf time_of, Keep keep) {
    Listed listed;
    listed.rows = Add(name, columns, [&](const RankDiagnosis& part, auto add) {
      for (const Item& item : part.analyzers.*list) {
        if (!keep(item)) continue;
        listed.time += std::invoke(time_of, item);
        add(item);
      }
    });
    return listed;
  }
  template <typename Item, typename TimeOf>
  Listed AddList(std::string_view name, const SheetColumns<Item>& columns,
                 std::vector<Item> AnalyzerRows::*list, TimeOf time_of) {
    return AddList(name, columns, list, time_of, [](const Item&) { return true; });
  }

  /// Adds no note for an empty list, nor for a problem that a finding prices.
  void AddNote(std::string_view category, const Listed& of, std::string description,
               std::string suggestion);
  /// The same with the advice of a finding.
  void NoteAsFinding(const FindingType& finding, const Listed& of, std::string description);

  const std::vector<DiagnosedRank>& ranks;
  const Diagnosis& diagnosis;
  std::vector<Sheet> sheets{};
  std::vector<AnalyzerNote> notes{};
  std::vector<std::string> left_out{};  ///< a line for each sheet that does not list all
};

/// Environment variables that cost time, on the ranks that have them: those of findings and those
/// whose value is seldom wanted.
void AddEnvironmentSheet(AnalyzerSheets& sheets);

/// Slow ranks and links, kernels on the AI CPU, compiled operators, garbage collections.
void AddRankSheets(AnalyzerSheets& sheets);

/// Transfers: sizes that are not aligned, small packets, those that were sent again, and those that
/// computing slowed down.
void AddTransferSheets(AnalyzerSheets& sheets);

/// Kernels: those that one call could replace; those that make little use of their cores or ran
/// while the clock was low; products of matrices, attention and vector kernels that could use their
/// units better, or use them well; sequences that could be fused, wait for the host or move data.
void AddKernelSheets(AnalyzerSheets& sheets);

}  // namespace mpa
