// SPDX-License-Identifier: Apache-2.0
// Reports as Markdown, to be pasted into an issue or a chat: the beginning of each sheet.
#include <algorithm>

#include "formats.h"
#include "markup_text.h"
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
      cells.push_back(EscapedMarkdown(ShownText(sheet, row, i)));
    }
    for (int i = 0; i < row.indent && !cells.empty(); ++i) cells[0].insert(0, "&emsp;");
    PrintRow(cells, stream);
  }
  if (const std::size_t more = sheet.rows.size() - shown; more > 0) {
    Print(stream, "\n\xE2\x80\xA6 and {} more {}\n", WithThousands(std::to_string(more)),
          Plural(more, "row"));
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
  if (report.settings && !report.settings->differing.empty())
    PrintList({SettingsLine(*report.settings)}, file.stream());
  for (const ScreenTable& screen : report.screens) PrintScreen(screen, file.stream());
  for (const Sheet& sheet : report.sheets) PrintSheet(sheet, file.stream());
  if (!report.notes.empty()) {
    PrintTitle("Notes", file.stream());
    PrintList(report.notes, file.stream());
  }
  file.Close();
}

}  // namespace mpa::writers
