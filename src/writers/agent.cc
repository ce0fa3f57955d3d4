// SPDX-License-Identifier: Apache-2.0
#include "mpa/writers/agent.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "mpa/base/error.h"
#include "mpa/base/utf8.h"
#include "sheet_values.h"

namespace mpa {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 200;  // of a list, however much there is room for
constexpr std::size_t kAny = static_cast<std::size_t>(-1);

// What is said beside the rows; each measure is tighter than the one before it.
struct Measure {
  std::size_t bytes = kAny;   // of a text
  std::size_t texts = kAny;   // of a list of texts
  std::size_t headed = kAny;  // lists whose columns are named
  std::size_t lists = kAny;
  bool meanings = true, totals = true, members = true;
};
constexpr Measure kMeasures[] = {
    {},
    {.meanings = false},
    {.bytes = 1000, .texts = 3, .meanings = false},
    {.bytes = 1000, .texts = 3, .meanings = false, .totals = false},
    {.bytes = 400, .texts = 2, .headed = 1, .meanings = false, .totals = false},
    {400, 1, 1, kAny, false, false, false},
    {200, 1, 1, 1, false, false, false},
    {80, 1, 0, 1, false, false, false},
    {24, 0, 0, 1, false, false, false}};

// The beginning of a text that has more than so many bytes in JSON.
std::string Begin(std::string_view text, std::size_t bytes) {
  const std::string valid = ValidUtf8(text);
  std::size_t used = 0;
  for (std::size_t at = 0; at < valid.size();
       at += Utf8Length(std::string_view(valid).substr(at))) {
    const unsigned char c = static_cast<unsigned char>(valid[at]);
    constexpr std::size_t kEscape = 6;  // as "\u0001"
    used +=
        c < ' ' || c == '"' || c == '\\' ? kEscape : Utf8Length(std::string_view(valid).substr(at));
    if (used > bytes) return valid.substr(0, at) + "...";
  }
  return valid;
}

// A command as a whole, or none.
std::string CommandIn(std::string_view command, std::size_t bytes) {
  return Json(ValidUtf8(command)).dump().size() > bytes ? "" : ValidUtf8(command);
}

// The first of a list, and how many more there are.
Json Texts(const std::vector<std::string>& texts, std::size_t most, std::size_t bytes) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(most, texts.size()); ++i)
    list.push_back(Begin(texts[i], bytes));
  if (texts.size() > most) list.push_back(std::to_string(texts.size() - most) + " more");
  return list;
}

Json Members(const std::vector<std::pair<std::string, Cell>>& cells, std::size_t bytes) {
  constexpr std::size_t kMost = 3;  // where there is room for few words
  Json object = Json::object();
  for (const auto& [key, cell] : cells) {
    if (bytes < 100 && object.size() == kMost) break;
    const auto* text = std::get_if<std::string>(&cell);
    object[Begin(key, bytes)] = text != nullptr ? Json(Begin(*text, bytes)) : JsonOf(cell);
  }
  return object;
}

// Without rows: all of them are left.
Json Heading(const AgentTable& table, const Measure& measure, bool with_columns) {
  Json object = Json::object();
  object["name"] = Begin(table.name, measure.bytes);
  if (measure.meanings && !table.meaning.empty()) object["meaning"] = ValidUtf8(table.meaning);
  if (with_columns) object["columns"] = Texts(table.columns, kAny, kAny);
  object["rows"] = Json::array();
  object["left"] = table.of;
  if (measure.totals && !table.totals.empty()) object["totals"] = Members(table.totals, kAny);
  return object;
}

Json WithoutRows(const AgentAnswer& answer, const Measure& measure) {
  const std::size_t bytes = measure.bytes;
  Json message = {{"question", Begin(answer.question, bytes)},
                  {"answer", Texts(answer.answer, std::max<std::size_t>(1, measure.texts), bytes)},
                  {"scope", Members(answer.scope, bytes)},
                  {"complete", answer.lost.empty()}};
  if (!answer.lost.empty()) message["lost"] = Begin(answer.lost, bytes);
  Json& lists = message["data"] = Json::array();
  for (const AgentTable& table : answer.tables) {
    if (lists.size() == measure.lists) break;
    lists.push_back(Heading(table, measure, lists.size() < measure.headed));
  }
  const std::size_t untold = answer.tables.size() - lists.size();
  if (untold > 0) message["lists_left"] = untold;
  message["caveats"] = Texts(answer.caveats, measure.texts, bytes);
  for (const auto& [key, text] : answer.members) {
    if (!measure.members) break;
    Json& value = message[key] = Json::parse(text);
    if (value.is_array()) value = Texts(value.get<std::vector<std::string>>(), measure.texts, kAny);
  }
  message["rest"] = CommandIn(answer.rest, bytes);
  return message;
}

// The exit code of bad input says that no capture could be used.
std::string_view StatusOf(int exit_code) {
  if (exit_code == 0) return "success";
  return exit_code == ExitCode(ErrorKind::kInput) ? "error" : "warning";
}

Json Envelope(std::string_view status, int exit_code, Json message, std::string suggestion) {
  return {{"status", std::string(status)},
          {"code", exit_code},
          {"message", std::move(message)},
          {"suggestion", std::move(suggestion)},
          {"log_path", ""}};
}

// Rows as far as there is room, of all lists alike.
void FillRows(const AgentAnswer& answer, std::size_t room, Json& lists) {
  std::vector<bool> is_full(lists.size(), false);
  for (std::size_t i = 0; std::ranges::count(is_full, false) > 0; ++i) {
    for (std::size_t k = 0; k < lists.size(); ++k) {
      const AgentTable& table = answer.tables[k];
      is_full[k] = is_full[k] || i == table.rows.size() || !lists[k].contains("columns");
      if (is_full[k]) continue;
      Json row = Json::array();
      for (const Cell& cell : table.rows[i]) row.push_back(JsonOf(cell));
      const std::size_t bytes = row.dump().size() + 1;
      is_full[k] = bytes > room;
      if (is_full[k]) continue;
      room -= bytes;
      lists[k]["rows"].push_back(std::move(row));
      lists[k]["left"] = table.of - (i + 1);
    }
  }
}

}  // namespace

AgentTable AgentTableOf(const Sheet& sheet) {
  AgentTable table{.name = sheet.name,
                   .meaning = std::string(sheet.meaning),
                   .columns = writers::ColumnKeys(sheet),
                   .of = sheet.rows.size()};
  const std::size_t width = sheet.columns.size();
  const bool has_levels = writers::HasLevels(sheet);
  for (std::size_t i = 0; i < std::min(kMostRows, sheet.rows.size()); ++i) {
    const Row& row = sheet.rows[i];
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (std::size_t k = 0; k < width; ++k) cells.push_back(writers::ProgramCell(sheet, row, k));
    if (has_levels) cells.emplace_back(std::int64_t{row.indent});
  }
  for (std::size_t k = 0; k < width; ++k) {
    const bool may_be_added = std::ranges::any_of(sheet.charts, [&](const Chart& chart) {
      return chart.same == Chart::SameLabel::kSum && chart.only_in.empty() &&
             std::ranges::any_of(chart.values, [&](const ChartedColumn& value) {
               return value.name == sheet.columns[k].name;
             });
    });
    if (!may_be_added) continue;
    double sum = 0;
    std::int64_t whole = 0;
    bool is_whole = true;
    for (const Row& row : sheet.rows) {
      const Cell cell = writers::ProgramCell(sheet, row, k);
      if (const auto* number = std::get_if<std::int64_t>(&cell)) {
        whole += *number;
      } else if (const auto* real = std::get_if<double>(&cell)) {
        sum += *real;
        is_whole = false;
      }
    }
    table.totals.emplace_back(table.columns[k],
                              is_whole ? Cell(whole) : Cell(sum + static_cast<double>(whole)));
  }
  if (has_levels) table.columns.emplace_back(writers::kLevelKey);
  return table;
}

Json JsonOf(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return ValidUtf8(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return {};
}

std::string FormatAgent(const AgentAnswer& answer, int exit_code, std::size_t most) {
  const std::size_t limit =
      most == 0 ? kAny : most - std::min<std::size_t>(most, 1);  // the newline
  Json object;
  std::size_t used = 0;
  for (const Measure& measure : kMeasures) {
    constexpr std::size_t kSooner = 5;  // texts are cut before the command that goes on is dropped
    const std::size_t room = measure.bytes == kAny ? kAny : kSooner * measure.bytes;
    object = Envelope(StatusOf(exit_code), exit_code, WithoutRows(answer, measure),
                      CommandIn(answer.next, room));
    used = object.dump().size();
    if (used <= limit) break;
  }
  FillRows(answer, limit - std::min(used, limit), object["message"]["data"]);
  return object.dump() + '\n';
}

std::string FormatAgentError(std::string_view text, std::string_view suggestion, int exit_code,
                             std::size_t most) {
  const auto object = [&](std::string err, const std::string& next) {
    Json message = Json::object();
    message["err"] = std::move(err);
    return Envelope("error", exit_code, std::move(message), next).dump() + '\n';
  };
  const std::size_t limit = most == 0 ? kAny : most;
  const std::string next = CommandIn(suggestion, limit / 2);
  constexpr std::size_t kDots = 3;
  return object(Begin(text, limit - std::min(limit, object("", next).size() + kDots)), next);
}

}  // namespace mpa
