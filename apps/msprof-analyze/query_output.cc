// SPDX-License-Identifier: Apache-2.0
// The forms of an answer to a query.
#include "query_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/notes.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"

namespace mpa {
namespace {

using QueryJson = nlohmann::ordered_json;

std::string CellText(const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{:.6g}", *number);
  if (const auto* text = std::get_if<std::string>(&cell)) return Printable(*text);
  return "";
}

bool IsText(const Cell& cell) { return std::holds_alternative<std::string>(cell); }

struct ScreenColumn {
  std::vector<std::string> cells;  // the name first
  bool is_text = false;
  std::size_t width = 0;

  void Measure() {
    width = 0;
    for (const std::string& cell : cells) width = std::max(width, ColumnsOf(cell));
  }
};

// The widest columns of texts give way.
void Fit(std::vector<ScreenColumn>& columns, std::size_t width) {
  constexpr std::size_t kLeast = 12, kBetween = 2;
  while (true) {
    std::size_t all = 0;
    ScreenColumn* widest = nullptr;
    for (ScreenColumn& column : columns) {
      all += column.width + kBetween;
      if (column.is_text && (widest == nullptr || column.width > widest->width)) widest = &column;
    }
    if (all <= width + kBetween || widest == nullptr || widest->width <= kLeast) return;
    const std::size_t excess = all - width - kBetween;
    widest->width = std::max(kLeast, widest->width - std::min(widest->width, (excess + 1) / 2));
  }
}

}  // namespace

std::string FormatAnswer(const QueryAnswer& answer, std::size_t width) {
  std::vector<ScreenColumn> columns;
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    ScreenColumn& column = columns.emplace_back();
    column.cells.push_back(Printable(answer.columns[i].name));
    for (const auto& row : answer.rows) {
      column.cells.push_back(CellText(row[i]));
      column.is_text = column.is_text || IsText(row[i]);
    }
    column.Measure();
  }
  Fit(columns, width);
  std::string text;
  for (std::size_t row = 0; row <= answer.rows.size(); ++row) {
    std::string line;
    for (const ScreenColumn& column : columns) {
      const std::string& whole = column.cells[row];
      const bool is_sentence = whole.find(' ') != std::string::npos;
      const std::string cell =
          is_sentence ? CutEnd(whole, column.width) : ShortenName(whole, column.width);
      line += column.is_text ? PaddedBehind(cell, column.width) : PaddedBefore(cell, column.width);
      line += "  ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  if (answer.rows.empty()) text += Say("no rows") + "\n";
  if (answer.truncated)
    text += Say("more rows follow; add LIMIT or GROUP BY, or give --max_rows") + "\n";
  return text;
}

std::string AnswerCsv(const QueryAnswer& answer) {
  std::string text;
  const auto add_line = [&](std::size_t count, auto cell) {
    for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + cell(i);
    text += "\r\n";
  };
  add_line(answer.columns.size(), [&](std::size_t i) { return CsvCell(answer.columns[i].name); });
  for (const auto& row : answer.rows) {
    add_line(row.size(), [&](std::size_t i) {
      if (const auto* name = std::get_if<std::string>(&row[i])) return CsvCell(*name);
      if (const auto* number = std::get_if<double>(&row[i])) return fmt::format("{}", *number);
      return CellText(row[i]);
    });
  }
  return text;
}

// Units stand behind the names of columns.
void TellAgent(const QueryAnswer& answer, AgentAnswer& agent) {
  AgentTable table{.name = "rows", .rows = answer.rows, .of = answer.rows.size()};
  for (const auto& [name, unit, meaning] : answer.columns) {
    const bool says_it = unit.empty() || name.ends_with("_" + unit);
    table.columns.push_back(says_it ? name : name + " " + unit);
  }
  agent.answer = {fmt::format("rows: {}{}", answer.truncated ? "more than " : "", table.of)};
  if (answer.truncated) {
    ++table.of;  // at least
    agent.lost = Say("more rows follow; add LIMIT or GROUP BY, or give --max_rows");
  } else if (answer.partial) {
    agent.lost = answer.notes.empty() ? "ranks were left out" : answer.notes.front();
  }
  agent.caveats = FoldNotes(answer.notes);
  agent.scope = {{"ranks", RankList(answer.ranks).Names(RankList::kAllRuns)},
                 {"times", kTimesOfCaptures}};
  agent.tables = {std::move(table)};
}

std::string AnswerJson(const QueryAnswer& answer, std::size_t most) {
  QueryJson columns = QueryJson::array();
  for (const QueryColumn& column : answer.columns) {
    QueryJson json = QueryJson::object();
    json["name"] = column.name;
    if (!column.unit.empty()) json["unit"] = column.unit;
    if (!column.meaning.empty()) json["meaning"] = column.meaning;
    columns.push_back(std::move(json));
  }
  QueryJson document = QueryJson::object();
  document["schema"] = "mpa.query/1";
  document["columns"] = std::move(columns);
  document["rows"] = QueryJson::array();
  document["truncated"] = answer.truncated;
  document["complete"] = !answer.partial && !answer.truncated;
  document["ranks"] = answer.ranks.size();
  document["notes"] = answer.notes;
  const auto dump = [](const QueryJson& json) {
    return PrintableJson(json.dump(-1, ' ', false, QueryJson::error_handler_t::replace));
  };
  std::size_t size = dump(document).size();
  std::size_t shown = 0;
  for (const auto& row : answer.rows) {
    QueryJson cells = QueryJson::array();
    for (const Cell& cell : row) cells.push_back(JsonOf(cell));
    size += dump(cells).size() + 1;
    if (most > 0 && size > most) break;
    document["rows"].push_back(std::move(cells));
    ++shown;
  }
  if (shown < answer.rows.size()) {
    document["truncated"] = true;
    document["complete"] = false;
    document["notes"].push_back(
        fmt::format("{} more rows; add LIMIT or GROUP BY", answer.rows.size() - shown));
  }
  return dump(document) + "\n";
}

}  // namespace mpa
