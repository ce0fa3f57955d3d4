// SPDX-License-Identifier: Apache-2.0
// Reports as Markdown, to be pasted into an issue or a chat: the beginning of each sheet.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats.h"
#include "markup_text.h"
#include "mpa/base/printable.h"
#include "mpa/base/text.h"
#include "mpa/io/output_file.h"
#include "sheet_values.h"

namespace mpa::writers {
namespace {

constexpr std::size_t kShownRows = 20;

void PrintRow(const std::vector<std::string>& cells, std::FILE* stream) {
  Print(stream, "| {} |\n", fmt::join(cells, " | "));
}

void PrintHeader(const std::vector<std::string>& headers, std::FILE* stream) {
  PrintRow(headers, stream);
  PrintRow(std::vector<std::string>(headers.size(), "---"), stream);
}

void PrintTitle(std::string_view title, std::FILE* stream) {
  Print(stream, "## {}\n\n", EscapedMarkdown(title));
}

// Names may hold what would end the block.
std::string WithoutFence(std::string line) {
  for (std::size_t at = 0; (at = line.find("```", at)) != std::string::npos;)
    line.replace(at, 3, "~~~");
  return Printable(line);
}

void PrintList(const std::vector<std::string>& lines, std::FILE* stream) {
  for (const std::string& line : lines) Print(stream, "- {}\n", EscapedMarkdown(line));
  Print(stream, "\n");
}

std::vector<std::string> AllEscaped(std::vector<std::string> texts) {
  for (std::string& text : texts) text = EscapedMarkdown(text);
  return texts;
}

// The answer, and what stands below it on the screen.
void PrintAnswer(std::vector<std::string> lines, std::FILE* stream) {
  for (const std::string& verdict : TakeVerdicts(lines))
    Print(stream, "**{}**\n\n", EscapedMarkdown(verdict));
  if (lines.empty()) return;
  Print(stream, "```text\n");
  for (const std::string& line : lines) Print(stream, "{}\n", WithoutFence(line));
  Print(stream, "```\n\n");
}

void PrintScreen(const ScreenTable& screen, std::FILE* stream) {
  PrintTitle(screen.title, stream);
  PrintHeader(AllEscaped(screen.headers), stream);
  for (const auto& row : screen.rows) PrintRow(AllEscaped(row), stream);
  Print(stream, "\n");
}

// The moments of a column that holds nothing else: nobody reads nanoseconds since 1970.
struct Moments {
  double first = 0;
  double per_ms = 0;  // 0: the column holds no moments

  std::string Text(double moment) const {
    return WithThousands(fmt::format("{:.3f}", (moment - first) / per_ms));
  }
};

Moments MomentsIn(const Sheet& sheet, std::size_t column) {
  constexpr double kLeastUs = 1e15, kLeastNs = 1e18;  // of the year 2001
  Moments moments{.first = std::numeric_limits<double>::infinity()};
  for (const Row& row : sheet.rows) {
    if (column >= row.cells.size() || IsEmpty(row.cells[column])) continue;
    const std::optional<double> number = NumberOf(row.cells[column]);
    if (!number || *number < kLeastUs) return {};
    moments.first = std::min(moments.first, *number);
  }
  if (std::isfinite(moments.first)) moments.per_ms = moments.first < kLeastNs ? 1e3 : 1e6;
  return moments;
}

void PrintSheet(const Sheet& sheet, std::FILE* stream) {
  PrintTitle(sheet.name, stream);
  for (const Banner& banner : sheet.banners) Print(stream, "- {}\n", EscapedMarkdown(banner.text));
  if (!sheet.banners.empty()) Print(stream, "\n");
  std::vector<std::string> headers;
  std::vector<Moments> moments;
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    moments.push_back(MomentsIn(sheet, i));
    headers.push_back(EscapedMarkdown(SidedName(sheet.columns[i])));
    if (moments.back().per_ms > 0) headers.back() = Say("{}, ms after the first", headers.back());
  }
  PrintHeader(headers, stream);
  const std::size_t shown = std::min(sheet.rows.size(), kShownRows);
  for (std::size_t r = 0; r < shown; ++r) {
    const Row& row = sheet.rows[r];
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
      const auto moment =
          moments[i].per_ms > 0 && i < row.cells.size() ? NumberOf(row.cells[i]) : std::nullopt;
      cells.push_back(moment ? moments[i].Text(*moment)
                             : EscapedMarkdown(ShownText(sheet, row, i)));
    }
    for (int i = 0; i < row.indent && !cells.empty(); ++i) cells[0].insert(0, "&emsp;");
    PrintRow(cells, stream);
  }
  if (const std::size_t more = sheet.rows.size() - shown; more > 0) {
    const std::string rows = more == 1
                                 ? Say("and 1 more row")
                                 : Say("and {} more rows", WithThousands(std::to_string(more)));
    Print(stream, "\n\xE2\x80\xA6 {}\n", rows);
  }
  Print(stream, "\n");
}

}  // namespace

void WriteMarkdownFile(const Report& report, const std::filesystem::path& path) {
  io::TextFile file(path);
  PrintAnswer(report.story.empty() ? TextsOf(report.lines) : report.story, file.stream());
  if (report.settings && !report.settings->differing.empty())
    PrintList({SettingsLine(*report.settings)}, file.stream());
  for (const ScreenTable& screen : report.screens) PrintScreen(screen, file.stream());
  for (const Sheet& sheet : report.sheets) PrintSheet(sheet, file.stream());
  if (!report.notes.empty()) {
    PrintTitle(Say("Notes"), file.stream());
    PrintList(report.notes, file.stream());
  }
  file.Close();
}

}  // namespace mpa::writers
