// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer_columns.h"
#include "analyzer_sheets.h"
#include "mpa/diagnosis/findings/catalogue.h"
#include "mpa/diagnosis/job/variables.h"
#include "mpa/diagnosis/report/advice.h"

namespace mpa {

/// Makes sheets with the rows of all ranks, and the rows of "problems" for them.
class SheetMaker {
 public:
  SheetMaker(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis, Language language,
             Report& report)
      : ranks_(ranks), of_(diagnosis), language_(language), report_(report) {}

 protected:
  template <typename Row, typename Fill>
  std::size_t AddSheet(const Wording& name, const RowsOfSheet<Row>& columns, Fill fill) {
    Sheet sheet = SheetOf(name.In(language_), columns);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      fill(*ranks_[i].part, [&](Row row) {
        row.rank = ranks_[i].rank;
        AddRow(columns, row, i, sheet);
      });
    }
    const std::size_t rows = sheet.rows.size();
    if (rows > 0) report_.sheets.push_back(std::move(sheet));
    return rows;
  }

  template <typename... Values>
  void Note(const Wording& category, std::int64_t count, TimeNs time, const Wording& description,
            const Wording& suggestion, const Values&... values) {
    AddNote(category, count, time, fmt::format(fmt::runtime(description.In(language_)), values...),
            fmt::format(fmt::runtime(suggestion.In(language_)), values...));
  }

  // With the advice of the catalogue.
  template <typename... Values>
  void NoteAsFinding(std::string_view id, const Wording& category, std::int64_t count, TimeNs time,
                     const Wording& description, const Values&... values) {
    AddNote(category, count, time, fmt::format(fmt::runtime(description.In(language_)), values...),
            UsualAdvice(id, FactsOf(ranks_, of_.rules), language_));
  }

  std::vector<AnalyzerNote> TakeNotes() { return std::move(notes_); }

  const std::vector<DiagnosedRank>& ranks_;
  const Diagnosis& of_;
  const Language language_;

 private:
  void AddNote(const Wording& category, std::int64_t count, TimeNs time, std::string description,
               std::string suggestion) {
    const auto is_finding = [&](const FoundCause& finding) {
      return CategoryOf(finding, language_) == category.In(language_);
    };
    // Those that cost something are priced.
    if (std::any_of(of_.findings.begin(), of_.findings.end(), is_finding)) return;
    notes_.push_back({std::string(category.In(language_)), std::move(description),
                      std::move(suggestion), count, time});
  }

  Report& report_;
  std::vector<AnalyzerNote> notes_;
};

}  // namespace mpa
