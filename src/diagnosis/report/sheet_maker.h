// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer_sheets.h"
#include "mpa/diagnosis/causes/variables.h"
#include "mpa/diagnosis/report/advice.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/report/member_columns.h"
#include "mpa/report/rank_cell.h"

namespace mpa {

/// The rank of the row, which is no part of the item: the sheet's maker fills it in.
template <typename Item>
ColumnOf<Item> RankColumn(double width, std::string_view name = "rank_id") {
  return {NamedColumn(name, Format::kInteger, width, "Rank"), nullptr};
}

/// Makes sheets with the rows of all ranks, and the rows of "problems" for them.
class SheetMaker : protected Speaker {
 public:
  SheetMaker(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis, Language language,
             Report& report)
      : Speaker(language), ranks_(ranks), diagnosis_(diagnosis), report_(report) {}

 protected:
  /// Rows of a sheet, and their time.
  struct Listed {
    std::int64_t rows = 0;
    TimeNs time = 0;
  };

  /// `fill` gives the items of a part to a function, which makes a row of each. A sheet without
  /// rows is left out. Returns how many there are.
  template <typename Item, typename Fill>
  std::int64_t AddSheet(const Wording& name, const SheetColumns<Item>& columns, Fill fill) {
    Sheet sheet = SheetOf(name.In(language_), columns);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      fill(*ranks_[i].part, [&](const Item& item) {
        Row& row = sheet.rows.emplace_back();
        row.rank = i;
        for (const ColumnOf<Item>& column : columns)
          row.cells.push_back(column.cell == nullptr ? RankCell(ranks_[i].rank)
                                                     : column.cell(item));
      });
    }
    const auto rows = static_cast<std::int64_t>(sheet.rows.size());
    if (rows > 0) report_.sheets.push_back(std::move(sheet));
    return rows;
  }

  /// The items of a list of each part that `keep` accepts; `time_of` is what each takes.
  template <typename Item, typename TimeOf, typename Keep>
  Listed AddList(const Wording& name, const SheetColumns<Item>& columns,
                 std::vector<Item> AnalyzerRows::*list, TimeOf time_of, Keep keep) {
    Listed listed;
    listed.rows = AddSheet(name, columns, [&](const RankDiagnosis& part, auto add) {
      for (const Item& item : part.analyzers.*list) {
        if (!keep(item)) continue;
        listed.time += std::invoke(time_of, item);
        add(item);
      }
    });
    return listed;
  }
  template <typename Item, typename TimeOf>
  Listed AddList(const Wording& name, const SheetColumns<Item>& columns,
                 std::vector<Item> AnalyzerRows::*list, TimeOf time_of) {
    return AddList(name, columns, list, time_of, [](const Item&) { return true; });
  }

  /// Of nothing, no note is made.
  template <typename... Values>
  void Note(const Wording& category, std::int64_t count, TimeNs time, const Wording& description,
            const Wording& suggestion, const Values&... values) {
    AddNote(category, count, time, Fill(description, values...), Fill(suggestion, values...));
  }

  /// With the advice of the finding. `description` names the count.
  void NoteAsFinding(const FindingType& finding, std::int64_t count, TimeNs time,
                     const Wording& description) {
    AddNote(finding.problem, count, time, Fill(description, count),
            UsualAdvice(finding, FactsOf(ranks_, diagnosis_.thresholds), language_));
  }

  std::vector<AnalyzerNote> TakeNotes() { return std::move(notes_); }

  const std::vector<DiagnosedRank>& ranks_;
  const Diagnosis& diagnosis_;

 private:
  void AddNote(const Wording& category, std::int64_t count, TimeNs time, std::string description,
               std::string suggestion) {
    const auto is_finding = [&](const Finding& finding) {
      return ProblemOf(finding, language_) == category.In(language_);
    };
    // Those that cost something are priced.
    if (count == 0 || std::ranges::any_of(diagnosis_.findings, is_finding)) return;
    notes_.push_back({Text(category), std::move(description), std::move(suggestion), count, time});
  }

  Report& report_;
  std::vector<AnalyzerNote> notes_;
};

}  // namespace mpa
