// SPDX-License-Identifier: Apache-2.0
// Reports as Markdown, to be pasted into an issue or a chat: the beginning of each sheet.
#include <algorithm>
#include <cmath>

#include "formats.h"
#include "markdown_text.h"
#include "mpa/io/output_file.h"
#include "print.h"
#include "sheet_values.h"

namespace mpa::writers {
namespace {

constexpr std::size_t kShownRows = 20;

std::string Number(double value, Format format) {
  switch (format) {
    case Format::kInteger:
      return WithThousands(Fixed(value, 0));
    case Format::kDecimals2:
      return WithThousands(Fixed(value, 2));
    case Format::kDecimals3:
      return WithThousands(Fixed(value, 3));
    case Format::kDecimals4:
      return Fixed(value, 4);
    case Format::kPercent:
      return Fixed(value * 100, 2) + '%';
    case Format::kGeneral:
    case Format::kText:
      break;
  }
  return fmt::format("{}", value);
}

std::string Shown(const Cell& cell, Format format) {
  if (const auto* text = std::get_if<std::string>(&cell)) return EscapedMarkdown(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    const std::string digits = std::to_string(*whole);
    return format == Format::kInteger ? WithThousands(digits)
                                      : Number(static_cast<double>(*whole), format);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return std::isinf(*real) ? "INF" : Number(*real, format);
  }
  if (const auto* reason = std::get_if<NoNumber>(&cell)) return std::string(TextOf(*reason));
  return {};
}

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

void PrintList(const std::vector<std::string>& lines, std::FILE* stream) {
  for (const std::string& line : lines) Print(stream, "- {}\n", EscapedMarkdown(line));
  Print(stream, "\n");
}

std::vector<std::string> AllEscaped(std::vector<std::string> texts) {
  for (std::string& text : texts) text = EscapedMarkdown(text);
  return texts;
}

void PrintScreen(const ScreenTable& screen, std::FILE* stream) {
  PrintTitle(screen.title, stream);
  PrintHeader(AllEscaped(screen.headers), stream);
  for (const auto& row : screen.rows) PrintRow(AllEscaped(row), stream);
  Print(stream, "\n");
}

void PrintSheet(const Sheet& sheet, std::FILE* stream) {
  PrintTitle(sheet.name, stream);
  for (const Banner& banner : sheet.banners) Print(stream, "- {}\n", EscapedMarkdown(banner.text));
  if (!sheet.banners.empty()) Print(stream, "\n");
  std::vector<std::string> headers;
  for (const Column& column : sheet.columns) headers.push_back(EscapedMarkdown(SidedName(column)));
  PrintHeader(headers, stream);
  const std::size_t shown = std::min(sheet.rows.size(), kShownRows);
  for (std::size_t r = 0; r < shown; ++r) {
    const Row& row = sheet.rows[r];
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
      cells.push_back(Shown(ShownCell(sheet, row, i), sheet.columns[i].format));
    }
    for (int i = 0; i < row.indent && !cells.empty(); ++i) cells[0].insert(0, "&emsp;");
    PrintRow(cells, stream);
  }
  if (const std::size_t more = sheet.rows.size() - shown; more > 0) {
    Print(stream, "\n\xE2\x80\xA6 and {} more row{}\n", WithThousands(std::to_string(more)),
          more == 1 ? "" : "s");
  }
  Print(stream, "\n");
}

}  // namespace

void WriteMarkdownFile(const Report& report, const std::filesystem::path& path) {
  io::TextFile file(path);
  if (!report.story.empty()) {
    PrintTitle("What changed most", file.stream());
    PrintList(report.story, file.stream());
  }
  for (const ScreenTable& screen : report.screens) PrintScreen(screen, file.stream());
  for (const Sheet& sheet : report.sheets) PrintSheet(sheet, file.stream());
  if (!report.notes.empty()) {
    PrintTitle("Notes", file.stream());
    PrintList(report.notes, file.stream());
  }
  file.Close();
}

}  // namespace mpa::writers
