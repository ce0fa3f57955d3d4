// SPDX-License-Identifier: Apache-2.0
// The lines of a screen for programs.
#include <fmt/format.h>

#include "markup_text.h"
#include "mpa/writers/writers.h"

namespace mpa {
namespace {

std::string TextOrNull(std::string_view text) {
  return text.empty() ? "null" : writers::Quoted(text);
}

std::string RankOrNull(const Cell& rank) {
  if (const auto* label = std::get_if<std::string>(&rank)) return writers::Quoted(*label);
  const auto* number = std::get_if<std::int64_t>(&rank);
  return number != nullptr ? fmt::format("{}", *number) : "null";
}

std::string MembersOf(const StatedNumber& number, const Cell& rank) {
  return fmt::format("\"value\": {}, \"unit\": {}, \"rank\": {}", number.value,
                     TextOrNull(number.unit), RankOrNull(rank));
}

std::string LineJson(const ScreenLine& line) {
  const std::vector<StatedNumber> numbers = line.Numbers();
  const StatedNumber* leading = LeadingOf(numbers);
  const Cell rank =
      leading != nullptr && leading->rank != Cell() ? leading->rank : OnlyRankIn(line.Text());
  std::string all;
  for (const StatedNumber& number : numbers) {
    all += fmt::format("{}{{\"name\": {}, {}}}", all.empty() ? "" : ", ", TextOrNull(number.name),
                       MembersOf(number, number.rank));
  }
  return fmt::format("{{\"text\": {}, {}, \"numbers\": [{}]}}", writers::Quoted(line.Text()),
                     leading != nullptr ? MembersOf(*leading, rank)
                                        : fmt::format("\"value\": null, \"unit\": null,"
                                                      " \"rank\": {}",
                                                      RankOrNull(rank)),
                     all);
}

// "GB" of "Peak memory (GB)".
std::string_view UnitInBrackets(std::string_view text) {
  const std::size_t open = text.rfind('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return {};
  const std::string_view inner = text.substr(open + 1, text.size() - open - 2);
  return UnitIn(inner) == inner ? inner : std::string_view();
}

// Its numbers have the names of their columns. Their unit stands in the header, before the numbers
// of the row, or in the header of the first column: "Time (ms)".
ScreenLine RowLine(const ScreenTable& table, const std::vector<std::string>& row) {
  if (row.size() != table.headers.size() || row.size() < 2) return row.empty() ? "" : row.front();
  std::string text = row.front();
  std::vector<StatedNumber> numbers;
  for (std::size_t i = 1; i < row.size(); ++i) {
    text += "  " + row[i];
    for (StatedNumber& number : NumbersIn(row[i])) {
      number.name = table.headers[i];
      if (number.unit.empty()) number.unit = UnitIn(table.headers[i]);
      if (number.unit.empty()) number.unit = UnitInBrackets(row.front());
      if (number.unit.empty()) number.unit = UnitIn(table.headers.front());
      numbers.push_back(std::move(number));
    }
  }
  return {std::move(text), std::move(numbers)};
}

void AddTableLines(const ScreenTable& table, ScreenLines& lines) {
  if (!table.title.empty()) lines.push_back(table.title);
  lines.insert(lines.end(), table.heading.begin(), table.heading.end());
  std::string headers;
  for (const std::string& header : table.headers) headers += (headers.empty() ? "" : "  ") + header;
  lines.emplace_back(std::move(headers), std::vector<StatedNumber>());
  for (const auto& row : table.rows) lines.push_back(RowLine(table, row));
}

}  // namespace

ScreenLines StoryOf(const Report& report) {
  ScreenLines lines;
  if (!report.preface.empty()) lines.push_back(report.preface);
  for (const ScreenTable& table : report.screens) AddTableLines(table, lines);
  lines.insert(lines.end(), report.lines.begin(), report.lines.end());
  lines.insert(lines.end(), report.story.begin(), report.story.end());
  return lines;
}

std::string StoryJson(const ScreenLines& lines) {
  std::string text;
  for (const ScreenLine& line : lines) {
    if (line.Text().find_first_not_of(' ') == std::string::npos) continue;
    text += fmt::format("{}\n  {}", text.empty() ? "" : ",", LineJson(line));
  }
  return '[' + text + ']';
}

}  // namespace mpa
