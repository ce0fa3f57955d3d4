// SPDX-License-Identifier: Apache-2.0
// Reports as pages of HTML for people: the answer first, charts, then each sheet.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "formats.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/base/time.h"
#include "mpa/io/output_file.h"
#include "mpa/io/scratch_directory.h"
#include "mpa/writers/writers.h"
#include "sheet_chart.h"
#include "sheet_values.h"

namespace mpa::writers {
namespace {

bool IsNumber(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell) ||
         std::holds_alternative<NoNumber>(cell);
}

// About what a row takes on the page, where a column has texts that occur again and again once.
std::size_t BytesOfRow(const Sheet& sheet) {
  constexpr std::size_t kSample = 2000, kNumber = 5, kQuotes = 3;
  const std::size_t rows = std::min(sheet.rows.size(), kSample);
  std::vector<std::unordered_set<std::string>> texts(sheet.columns.size());
  std::vector<std::size_t> of_column(sheet.columns.size());
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < rows; ++at) {
    const Row& row = sheet.rows[at];
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::string text = ShownText(sheet, row, i);
      of_column[i] += text.size() + kQuotes;
      texts[i].insert(std::move(text));
      const Cell value = ProgramCell(sheet, row, i);  // stands beside a text that is rounded
      if (const auto* real = std::get_if<double>(&value))
        bytes += fmt::formatted_size("{},", *real);
    }
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    bytes += 2 * texts[i].size() > rows ? of_column[i] : kNumber * rows;
  return rows == 0 ? 0 : bytes / rows + 1;
}

// How many rows of each sheet have room on a page that can be mailed and opens at once. The short
// sheets have all of theirs, the others share what is left.
std::vector<std::size_t> RowsOnPage(const std::vector<Sheet>& sheets) {
  constexpr std::size_t kMaxBytes = 7'000'000;
  std::vector<std::pair<std::size_t, std::size_t>> sizes;  // bytes of a row, position
  for (std::size_t i = 0; i < sheets.size(); ++i) sizes.emplace_back(BytesOfRow(sheets[i]), i);
  StableSort(sizes, {},
             [&](const auto& size) { return size.first * sheets[size.second].rows.size(); });
  std::vector<std::size_t> rows(sheets.size());
  std::size_t left = kMaxBytes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto& [bytes, place] = sizes[i];
    const std::size_t share = left / (sizes.size() - i);
    rows[place] = std::min(sheets[place].rows.size(), bytes == 0 ? 0 : share / bytes);
    left -= rows[place] * bytes;
  }
  return rows;
}

// The first rows, without the columns that have no value in any row.
PageTable TableOfSheet(const Sheet& sheet, std::size_t most_rows) {
  const std::string count = WithThousands(std::to_string(sheet.rows.size()));
  PageTable table{.title = sheet.rows.size() == 1 ? Say("{} (1 row)", sheet.name)
                                                  : Say("{} ({} rows)", sheet.name, count)};
  if (most_rows < sheet.rows.size()) {
    table.title = Say("{} (the first {} of {} rows; --export_type csv writes all)", sheet.name,
                      WithThousands(std::to_string(most_rows)), count);
  }
  std::vector<bool> filled(sheet.columns.size()), numbers(sheet.columns.size());
  for (const Row& row : sheet.rows) {
    for (std::size_t i = 0; i < std::min(row.cells.size(), filled.size()); ++i) {
      filled[i] = filled[i] || !IsEmpty(row.cells[i]);
      numbers[i] = numbers[i] || IsNumber(row.cells[i]);
    }
  }
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    if (!filled[i]) continue;
    if (numbers[i]) table.numbers.push_back(shown.size());
    table.headers.push_back(SidedName(sheet.columns[i]));
    shown.push_back(i);
  }
  const bool has_levels = HasLevels(sheet);
  for (std::size_t at = 0; at < most_rows; ++at) {
    const Row& row = sheet.rows[at];
    std::vector<std::string>& cells = table.rows.emplace_back();
    std::vector<Cell>& values = table.values.emplace_back();
    for (const std::size_t i : shown) {
      cells.push_back(ShownText(sheet, row, i));
      values.push_back(ProgramCell(sheet, row, i));
    }
    if (has_levels) table.levels.push_back(row.indent);
  }
  return table;
}

// On a screen two blanks indent by a level.
PageTable TableOfScreen(const ScreenTable& screen) {
  PageTable table{.rows = screen.rows};
  for (const std::string& header : screen.headers) table.headers.emplace_back(Trim(header));
  for (std::vector<std::string>& row : table.rows) {
    const std::size_t blanks =
        row.empty() ? 0 : std::min(row[0].find_first_not_of(' '), row[0].size());
    if (blanks > 0) row[0].erase(0, blanks);
    table.levels.push_back(static_cast<int>(blanks / 2));
  }
  if (std::ranges::count(table.levels, 0) == std::ssize(table.levels)) table.levels.clear();
  if (screen.plain) {
    for (std::size_t i = 1; i < screen.headers.size(); ++i) table.numbers.push_back(i);
    for (auto& row : table.rows) row.resize(screen.headers.size());
  }
  return table;
}

PageCard CardOf(const AdviceCard& advice) {
  const char* looks = advice.severity == Severity::kHigh   ? "high"
                      : advice.severity == Severity::kWarn ? "medium"
                                                           : "info";
  PageCard card{.severity = looks,
                .label = std::string(Translated(NameOf(advice.severity))),
                .title = advice.scope};
  card.facts = advice.text;
  if (!advice.owner.empty()) card.title += Say(" ({})", Translated(advice.owner));
  if (advice.gain) card.gain = Say("saves up to {:.3f} ms", InMs(*advice.gain));
  return card;
}

// The page of reports that have none of their own.
Page PageOf(const Report& report, std::string title) {
  Page page{.title = report.summary ? report.summary->title : std::move(title),
            .facts = report.facts};
  PageSection screen{.lines = TextsOf(report.lines), .folded = Say("As on the terminal")};
  if (report.gate) {  // the verdict wraps, the lines below it do not
    PageSection answer{.lines = FormatGateText(*report.gate)};
    page.lead.push_back(answer.lines.front());
    answer.lines.erase(answer.lines.begin());
    page.sections.push_back(std::move(answer));
    screen.lines.clear();
  } else if (report.story.empty()) {
    page.lead = TakeVerdicts(screen.lines);
  }
  if (!report.story.empty()) {
    PageSection changes{
        .heading = Say("What changed most"), .lines = report.story, .charts = report.drawings};
    if (page.lead.empty()) {  // the first line is the verdict
      page.lead.push_back(changes.lines.front());
      changes.lines.erase(changes.lines.begin());
    }
    page.sections.push_back(std::move(changes));
  }
  if (!report.preface.empty()) page.lead.push_back(report.preface);
  if (report.settings && !report.settings->differing.empty())
    page.lead.push_back(SettingsLine(*report.settings));
  for (const ScreenTable& screen : report.screens) {
    page.sections.push_back(
        {.heading = screen.title, .lines = screen.heading, .tables = {TableOfScreen(screen)}});
  }
  PageSection findings{.heading = Say("Findings")};
  for (const AdviceCard& advice : report.advice_cards) findings.cards.push_back(CardOf(advice));
  if (!findings.cards.empty()) page.sections.push_back(std::move(findings));
  PageSection charts{.heading = Say("Charts")}, tables{.heading = Say("Tables")};
  if (report.story.empty()) charts.charts = report.drawings;
  for (const Sheet& sheet : report.sheets) {
    for (const Chart& chart : sheet.charts) {
      if (auto drawn = DrawnChart(sheet, chart)) charts.charts.push_back(std::move(*drawn));
    }
  }
  const std::vector<std::size_t> rows = RowsOnPage(report.sheets);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] > 0) tables.tables.push_back(TableOfSheet(report.sheets[i], rows[i]));
  }
  for (PageSection* section : {&charts, &tables}) {
    if (!section->charts.empty() || !section->tables.empty())
      page.sections.push_back(std::move(*section));
  }
  if (!screen.lines.empty()) page.sections.push_back(std::move(screen));
  if (!report.notes.empty())
    page.sections.push_back({.heading = Say("Notes"), .points = report.notes});
  return page;
}

}  // namespace

void WriteHtmlFile(const Report& report, const std::filesystem::path& path) {
  io::TextFile file(path);
  Page page = report.page ? *report.page : PageOf(report, TitleOfFile(path));
  if (page.facts.empty()) page.facts = report.facts;
  file.Write(FormatPage(page));
  file.Close();
}

}  // namespace mpa::writers
