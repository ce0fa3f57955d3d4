// SPDX-License-Identifier: Apache-2.0
// The first sheet of the workbook of a diagnosis: what the screen says.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

// Columns of the findings.
constexpr std::size_t kSaves = 2;

class SummaryMaker {
 public:
  SummaryMaker(const Diagnosis& diagnosis) : diagnosis_(diagnosis) {}

  WorkbookSummary Make() && {
    WorkbookSummary summary;
    summary.name = Say("Summary");
    summary.title = Say("What slows the step down");
    summary.link_header = Say("Where");
    for (const std::string& line : DiagnosisHead(diagnosis_)) {
      // Lines of the screen that continue the one above.
      const bool continues = !summary.lines.empty() && line.starts_with("    ");
      if (continues) {
        summary.lines.back() += line.substr(line.find_first_not_of(' ') - 1);
      } else {
        summary.lines.push_back(line);
      }
    }
    std::size_t problems = 0, others = 0;
    for (const FindingSection section : kSections) {
      SummaryTable table = OfSection(section, problems, others);
      if (!table.table.rows.empty()) summary.tables.push_back(std::move(table));
    }
    if (SummaryTable parts = Parts(); !parts.table.rows.empty())
      summary.tables.push_back(std::move(parts));
    return summary;
  }

 private:
  Sheet EmptyTable(std::string title) const {
    Sheet table;
    table.name = std::move(title);
    table.look = Look::kList;
    return table;
  }

  void AddColumn(std::string_view name, Format format, double width, Sheet& table) const {
    table.columns.push_back(
        {.name = std::string(Translated(name)), .format = format, .width = width});
  }

  // `problems`, `others`: how many findings before have a row in either sheet.
  SummaryTable OfSection(FindingSection section, std::size_t& problems, std::size_t& others) const {
    SummaryTable made{.table = EmptyTable(std::string(Translated(HeadingOf(section))))};
    AddColumn("Finding", Format::kText, 44, made.table);
    AddColumn("Severity", Format::kText, 12, made.table);
    AddColumn("Saves (ms)", Format::kDecimals2, 14, made.table);
    AddColumn("Of the step", Format::kPercent, 14, made.table);
    AddColumn("What was measured", Format::kText, 50, made.table);
    AddColumn("What to do", Format::kText, 50, made.table);
    bool saves = false;
    for (std::size_t i = 0; i < diagnosis_.findings.size(); ++i) {
      const Finding& finding = diagnosis_.findings[i];
      if (SectionOf(finding) != section) continue;
      const bool is_fault = IsFault(finding);
      Row row{{fmt::format("{} {}", i + 1, TitleOf(finding)),
               std::string(Translated(NameOf(ImpactOf(diagnosis_, finding))))}};
      if (finding.gain > 0) {
        saves = true;
        row.cells.insert(row.cells.end(), {InMs(finding.gain), ShareOfStep(finding.gain)});
      } else {
        row.cells.insert(row.cells.end(), 2, Cell());
      }
      row.cells.emplace_back(FactsText(finding, kAllColumns));
      row.cells.emplace_back(AdviceOf(finding));
      made.table.rows.push_back(std::move(row));
      made.links.push_back(
          RowPlace{std::string(Translated(is_fault ? kProblemsSheet : kOthersSheet)),
                   is_fault ? problems++ : others++});
    }
    if (saves) {
      made.chart = Say("{}: what each costs (ms)", made.table.name);
      made.charted = {kSaves};
    }
    return made;
  }

  Cell ShareOfStep(TimeNs time) const {
    if (diagnosis_.step <= 0) return {};
    return static_cast<double>(time) / static_cast<double>(diagnosis_.step);
  }

  SummaryTable Parts() const {
    SummaryTable parts{.table = EmptyTable(Say("The parts of the step"))};
    const std::optional<AccountRow> row = ShownAccount(diagnosis_);
    if (!row) return parts;
    if (diagnosis_.ranks.size() > 1)
      parts.table.name = Say("{}, rank {}", parts.table.name, RankName(row->rank));
    AddColumn("Part", Format::kText, 44, parts.table);
    AddColumn("Share", Format::kPercent, 12, parts.table);
    AddColumn("Time (ms)", Format::kDecimals2, 14, parts.table);
    for (const StepShare& share : SharesOf(*row)) {
      if (!share.always && share.time == 0) continue;
      const double part =
          row->window > 0 ? static_cast<double>(share.time) / static_cast<double>(row->window) : 0;
      parts.table.rows.push_back({{std::string(Translated(share.name)), part, InMs(share.time)}});
      parts.tints.push_back(share.tint);
    }
    parts.chart = Say("{} (ms)", parts.table.name);
    parts.charted = {kSaves};
    return parts;
  }

  const Diagnosis& diagnosis_;
};

}  // namespace

WorkbookSummary DiagnosisSummary(const Diagnosis& diagnosis) {
  return SummaryMaker(diagnosis).Make();
}

}  // namespace mpa
