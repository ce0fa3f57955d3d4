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

class SummaryMaker : Speaker {
 public:
  SummaryMaker(const Diagnosis& diagnosis, Language language)
      : Speaker(language), diagnosis_(diagnosis) {}

  WorkbookSummary Make() && {
    WorkbookSummary summary;
    summary.name = Text({"Summary", "概要"});
    summary.title = Text({"What slows the step down", "step 耗时诊断"});
    summary.link_header = Text({"Where", "位置"});
    for (const std::string& line : DiagnosisHead(diagnosis_, language_)) {
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

  void AddColumn(const Wording& name, Format format, double width, Sheet& table) const {
    table.columns.push_back({.name = Text(name), .format = format, .width = width});
  }

  // `problems`, `others`: how many findings before have a row in either sheet.
  SummaryTable OfSection(FindingSection section, std::size_t& problems, std::size_t& others) const {
    SummaryTable made{.table = EmptyTable(Text(HeadingOf(section)))};
    AddColumn({"Finding", "结论"}, Format::kText, 44, made.table);
    AddColumn({"Severity", "严重程度"}, Format::kText, 12, made.table);
    AddColumn({"Saves (ms)", "可节省 (ms)"}, Format::kDecimals2, 14, made.table);
    AddColumn({"Of the step", "占 step"}, Format::kPercent, 14, made.table);
    AddColumn({"What was measured", "测量结果"}, Format::kText, 50, made.table);
    AddColumn({"What to do", "建议"}, Format::kText, 50, made.table);
    bool saves = false;
    for (std::size_t i = 0; i < diagnosis_.findings.size(); ++i) {
      const Finding& finding = diagnosis_.findings[i];
      if (SectionOf(finding) != section) continue;
      const bool is_fault = IsFault(finding);
      Row row{{fmt::format("{} {}", i + 1, TitleOf(finding, language_)),
               ToLower(SeverityText(diagnosis_, finding))}};
      if (finding.gain > 0) {
        saves = true;
        row.cells.insert(row.cells.end(), {InMs(finding.gain), ShareOfStep(finding.gain)});
      } else {
        row.cells.insert(row.cells.end(), 2, Cell());
      }
      row.cells.emplace_back(FactsText(finding, language_, kAllColumns));
      row.cells.emplace_back(AdviceOf(finding, language_));
      made.table.rows.push_back(std::move(row));
      made.links.push_back(
          RowPlace{std::string((is_fault ? kProblemsSheet : kOthersSheet).In(language_)),
                   is_fault ? problems++ : others++});
    }
    if (saves) {
      made.chart = Fill({"{}: what each costs (ms)", "{}：各项耗时 (ms)"}, made.table.name);
      made.charted = {kSaves};
    }
    return made;
  }

  Cell ShareOfStep(TimeNs time) const {
    if (diagnosis_.step <= 0) return {};
    return static_cast<double>(time) / static_cast<double>(diagnosis_.step);
  }

  SummaryTable Parts() const {
    SummaryTable parts{.table = EmptyTable(Text({"The parts of the step", "step 的组成"}))};
    const std::optional<AccountRow> row = ShownAccount(diagnosis_);
    if (!row) return parts;
    if (diagnosis_.ranks.size() > 1) parts.table.name += ", rank " + RankName(row->rank);
    AddColumn({"Part", "部分"}, Format::kText, 44, parts.table);
    AddColumn({"Share", "占比"}, Format::kPercent, 12, parts.table);
    AddColumn({"Time (ms)", "时间 (ms)"}, Format::kDecimals2, 14, parts.table);
    for (const StepShare& share : SharesOf(*row)) {
      if (!share.always && share.time == 0) continue;
      const double part =
          row->window > 0 ? static_cast<double>(share.time) / static_cast<double>(row->window) : 0;
      parts.table.rows.push_back({{Text(share.name), part, InMs(share.time)}});
      parts.tints.push_back(share.tint);
    }
    parts.chart = Fill({"{} (ms)", "{} (ms)"}, parts.table.name);
    parts.charted = {kSaves};
    return parts;
  }

  const Diagnosis& diagnosis_;
};

}  // namespace

WorkbookSummary DiagnosisSummary(const Diagnosis& diagnosis, Language language) {
  return SummaryMaker(diagnosis, language).Make();
}

}  // namespace mpa
