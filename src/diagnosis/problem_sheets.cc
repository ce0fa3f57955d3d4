// SPDX-License-Identifier: Apache-2.0
#include "problem_sheets.h"

#include <map>
#include <string>

#include "finding_text.h"

namespace mpa {
namespace {

// Cells are not cut.
constexpr std::size_t kAllColumns = 1000;

struct ProblemRow {
  const FoundCause* finding = nullptr;
  Language language{};
  const Diagnosis* diagnosis = nullptr;
};

const std::vector<ColumnOf<ProblemRow>>& ProblemColumns() {
  static const std::vector<ColumnOf<ProblemRow>> columns = {
      {NamedColumn("category", Format::kText, 30, "What kind of finding it is"),
       [](const ProblemRow& row) -> Cell { return TitleOf(*row.finding, row.language); }},
      {NamedColumn("description", Format::kText, 60, "What was measured"),
       [](const ProblemRow& row) -> Cell { return FactsText(*row.finding, row.language, kAllColumns); }},
      {NamedColumn("suggestion", Format::kText, 60, "What to do about it"),
       [](const ProblemRow& row) -> Cell { return std::string(AdviceOf(*row.finding, row.language)); }},
      {NamedColumn("severity", Format::kText, 12, "How much of the step mending it wins"),
       [](const ProblemRow& row) -> Cell {
         return std::string(NameOf(ImpactOf(*row.diagnosis, *row.finding)));
       }},
      {{.name = "gain(ms)", .format = Format::kDecimals3, .width = 14, .unit = Unit::kNsShownAsMs,
        .meaning = "What mending it wins per step, once the findings above it are mended"},
       [](const ProblemRow& row) -> Cell { return row.finding->gain; }},
      {{.name = "gain alone(ms)", .format = Format::kDecimals3, .width = 14, .unit = Unit::kNsShownAsMs,
        .meaning = "What mending it wins per step if nothing else is mended"},
       [](const ProblemRow& row) -> Cell { return row.finding->alone; }},
      {NamedColumn("key", Format::kText, 30, "The finding's name for programs"),
       [](const ProblemRow& row) -> Cell { return row.finding->key; }},
  };
  return columns;
}

struct SummaryRow {
  const AccountRow* account = nullptr;
  std::string leaf;
  TimeNs time = 0;
};

const std::vector<ColumnOf<SummaryRow>>& SummaryColumns() {
  static const std::vector<ColumnOf<SummaryRow>> columns = {
      {NamedColumn("rank_id", Format::kInteger, 10, "Rank"),
       [](const SummaryRow& row) -> Cell { return row.account->rank; }},
      {NamedColumn("step", Format::kInteger, 10, "Step"),
       [](const SummaryRow& row) -> Cell { return std::int64_t{row.account->step}; }},
      {NamedColumn("Performance Index", Format::kText, 26, "What the time was spent on"),
       [](const SummaryRow& row) -> Cell { return row.leaf; }},
      {{.name = "Duration(ms)", .format = Format::kDecimals3, .width = 14, .unit = Unit::kNsShownAsMs,
        .meaning = "Time of the step that was spent on it; the rows of a step add up to it"},
       [](const SummaryRow& row) -> Cell { return row.time; }},
      {NamedColumn("Duration Ratio", Format::kPercent, 14, "The same as a share of the step"),
       [](const SummaryRow& row) -> Cell {
         if (row.account->window == 0) return 0.0;
         return static_cast<double>(row.time) / static_cast<double>(row.account->window);
       }},
  };
  return columns;
}

}  // namespace

void AddProblemSheets(const Diagnosis& diagnosis, Language language, Report& report) {
  Sheet problems = SheetOf("problems", ProblemColumns());
  for (const FoundCause& finding : diagnosis.findings) {
    AddRow(ProblemColumns(), {&finding, language, &diagnosis}, 0, problems);
  }
  report.sheets.push_back(std::move(problems));
  Sheet summary = SheetOf("Overall Summary", SummaryColumns());
  std::map<std::int64_t, std::size_t> place;
  for (std::size_t i = 0; i < report.ranks.size(); ++i) place[report.ranks[i]] = i;
  for (const AccountRow& row : diagnosis.accounting) {
    for (const auto& [leaf, time] : row.leaves) {
      AddRow(SummaryColumns(), {&row, std::string(leaf), time}, place[row.rank], summary);
    }
  }
  report.sheets.push_back(std::move(summary));
}

}  // namespace mpa
