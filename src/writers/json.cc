// SPDX-License-Identifier: Apache-2.0
// Reports as JSON, for programs. Written as it goes: a sheet can have a million rows.
#include <fmt/ranges.h>

#include <map>

#include "formats.h"
#include "markup_text.h"
#include "mpa/base/rank.h"
#include "mpa/io/output_file.h"
#include "mpa/writers/writers.h"
#include "sheet_values.h"

namespace mpa {
namespace {

using writers::Print;
using writers::Quoted;
using writers::QuotedList;

constexpr int kSchemaVersion = 2;

std::string QuotedOrNull(const std::optional<std::string>& text) {
  return text ? Quoted(*text) : "null";
}

std::string Value(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return Quoted(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  return "null";
}

void PrintSheet(const Sheet& sheet, std::FILE* stream) {
  std::vector<std::string> keys = writers::ColumnKeys(sheet);
  const bool has_levels = writers::HasLevels(sheet);
  if (has_levels) keys.emplace_back(writers::kLevelKey);
  Print(stream,
        "{{\"name\": {}, \"base\": {}, \"comparison\": {},\n   \"columns\": {},\n   \"rows\": [",
        Quoted(sheet.name), QuotedOrNull(writers::CaptureOf(sheet, Side::kBase)),
        QuotedOrNull(writers::CaptureOf(sheet, Side::kComparison)), QuotedList(keys));
  for (std::string& key : keys) key = Quoted(key) + ": ";
  const char* separator = "\n";
  std::string line;
  for (const Row& row : sheet.rows) {
    line.clear();
    for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
      line += (i == 0 ? "" : ", ") + keys[i] + Value(writers::ProgramCell(sheet, row, i));
    }
    if (has_levels) line += fmt::format(", {}{}", keys.back(), row.indent);
    Print(stream, "{}    {{{}}}", separator, line);
    separator = ",\n";
  }
  Print(stream, "]}}");
}

// A number, the label of a capture without one, or null.
std::string RankJson(RankId rank) {
  if (rank.IsLabel()) return Quoted(RankName(rank));
  return rank.IsKnown() ? fmt::format("{}", rank.Number()) : "null";
}

// By state: lists of ranks.
std::string AbsentText(const AbsentRanks& absent) {
  std::map<RankState, std::vector<std::string>> ranks;
  for (const auto& [rank, state] : absent.states) ranks[state].push_back(RankJson(rank));
  std::vector<std::string> texts;
  for (const auto& [state, of_state] : ranks) {
    texts.push_back(fmt::format("\"{}\": [{}]", NameOf(state), fmt::join(of_state, ", ")));
  }
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

std::string CardText(const AdviceCard& card) {
  return fmt::format(
      "{{\"rule\": {}, \"severity\": \"{}\", \"rank\": {}, \"scope\": {}, \"owner\": {}, \"text\":"
      " {},"
      " \"gain_ns\": {}}}",
      Quoted(card.rule), NameOf(card.severity), RankJson(card.rank), Quoted(card.scope),
      Quoted(card.owner), Quoted(card.text), card.gain ? fmt::format("{}", *card.gain) : "null");
}

}  // namespace

void PrintJson(const Report& report, std::FILE* stream) {
  if (report.gate) return Print(stream, "{}", FormatGateJson(*report.gate));
  Print(stream, "{{\"schema_version\": {},\n \"notes\": {},\n \"story\": {},\n", kSchemaVersion,
        QuotedList(report.notes), StoryJson(StoryOf(report)));
  if (report.settings) Print(stream, " {},\n", writers::SettingsJson(*report.settings));
  if (!report.absent.states.empty()) {
    Print(stream, " \"absent_ranks\": {},\n", AbsentText(report.absent));
  }
  if (!report.advice_cards.empty()) {
    Print(stream, " \"findings\": [");
    const char* between = "\n  ";
    for (const AdviceCard& card : report.advice_cards) {
      Print(stream, "{}{}", between, CardText(card));
      between = ",\n  ";
    }
    Print(stream, "],\n");
  }
  Print(stream, " \"sheets\": [");
  const char* separator = "\n  ";
  for (const Sheet& sheet : report.sheets) {
    Print(stream, "{}", separator);
    PrintSheet(sheet, stream);
    separator = ",\n  ";
  }
  Print(stream, "]}}\n");
}

void writers::WriteJsonFile(const Report& report, const std::filesystem::path& path) {
  io::TextFile file(path);
  PrintJson(report, file.stream());
  file.Close();
}

}  // namespace mpa
