// SPDX-License-Identifier: Apache-2.0
// Reports as pages of HTML for people: the answer first, then the beginning of each sheet.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "formats.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/io/output_file.h"
#include "mpa/io/scratch_directory.h"
#include "mpa/writers/gate_writers.h"
#include "mpa/writers/pages.h"
#include "sheet_values.h"

namespace mpa::writers {
namespace {

constexpr std::size_t kRowsOfPage = 100;

bool IsNumber(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell) ||
         std::holds_alternative<NoNumber>(cell);
}

PageTable TableOfSheet(const Sheet& sheet) {
  PageTable table;
  const std::size_t shown = std::min(sheet.rows.size(), kRowsOfPage);
  const std::string count = WithThousands(std::to_string(sheet.rows.size()));
  table.title = sheet.rows.size() == shown
                    ? fmt::format("{} ({} {})", sheet.name, count, Plural(shown, "row"))
                    : fmt::format("{} (the first {} of {} rows)", sheet.name, shown, count);
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    table.headers.push_back(SidedName(sheet.columns[i]));
    const bool numbers =
        std::any_of(sheet.rows.begin(), sheet.rows.begin() + shown,
                    [&](const Row& row) { return i < row.cells.size() && IsNumber(row.cells[i]); });
    if (numbers) table.numbers.push_back(i);
  }
  for (std::size_t r = 0; r < shown; ++r) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
      cells.push_back(ShownText(sheet, sheet.rows[r], i));
    }
    const auto indent = static_cast<std::size_t>(sheet.rows[r].indent);
    if (!cells.empty()) cells[0].insert(0, 2 * indent, ' ');
  }
  return table;
}

PageTable TableOfScreen(const ScreenTable& screen) {
  PageTable table{.headers = screen.headers, .rows = screen.rows};
  if (screen.plain) {
    for (std::size_t i = 1; i < screen.headers.size(); ++i) table.numbers.push_back(i);
  }
  return table;
}

PageCard CardOf(const Finding& finding) {
  const char* looks = finding.severity == Severity::kHigh   ? "high"
                      : finding.severity == Severity::kWarn ? "medium"
                                                            : "info";
  PageCard card{
      .severity = looks, .label = std::string(NameOf(finding.severity)), .title = finding.scope};
  card.facts = finding.text;
  if (!finding.owner.empty()) card.title += fmt::format(" ({})", finding.owner);
  if (finding.gain) card.gain = fmt::format("wins up to {:.3f} ms", InMs(*finding.gain));
  return card;
}

// The page of reports that have none of their own.
Page PageOf(const Report& report, std::string title) {
  Page page{.title = std::move(title)};
  PageSection answer{.lines = report.gate ? FormatGateText(*report.gate) : report.lines};
  page.sections.push_back(std::move(answer));
  if (!report.preface.empty()) page.lead.push_back(report.preface);
  if (!report.story.empty()) {
    page.sections.push_back({.heading = "What changed most", .points = report.story});
  }
  for (const ScreenTable& screen : report.screens) {
    page.sections.push_back(
        {.heading = screen.title, .lines = screen.heading, .tables = {TableOfScreen(screen)}});
  }
  PageSection findings{.heading = "Findings"};
  for (const Finding& finding : report.findings) findings.cards.push_back(CardOf(finding));
  if (!findings.cards.empty()) page.sections.push_back(std::move(findings));
  PageSection tables{.heading = "Tables"};
  for (const Sheet& sheet : report.sheets) {
    if (!sheet.rows.empty()) tables.tables.push_back(TableOfSheet(sheet));
  }
  if (!tables.tables.empty()) page.sections.push_back(std::move(tables));
  if (!report.notes.empty()) page.sections.push_back({.heading = "Notes", .points = report.notes});
  return page;
}

}  // namespace

void WriteHtmlFile(const Report& report, const std::filesystem::path& path) {
  io::TextFile file(path);
  const std::string title = std::filesystem::path(io::FinalName(path)).stem().string();
  file.Write(FormatPage(report.page ? *report.page : PageOf(report, title)));
  file.Close();
}

}  // namespace mpa::writers
