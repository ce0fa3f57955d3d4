// SPDX-License-Identifier: Apache-2.0
#include "mpa/writers/agent.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "mpa/base/utf8.h"
#include "sheet_values.h"

namespace mpa {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 200;  // of a list, however much there is room for

Json ToJson(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return ValidUtf8(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return {};
}

Json ToJson(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(ValidUtf8(text));
  return list;
}

Json Members(const std::vector<std::pair<std::string, Cell>>& cells) {
  Json object = Json::object();
  for (const auto& [key, cell] : cells) object[ValidUtf8(key)] = ToJson(cell);
  return object;
}

// Without rows: all of them are left.
Json Heading(const AgentTable& table) {
  Json object = {{"name", ValidUtf8(table.name)}};
  if (!table.meaning.empty()) object["meaning"] = ValidUtf8(table.meaning);
  object["columns"] = ToJson(table.columns);
  object["rows"] = Json::array();
  object["left"] = table.of;
  if (!table.totals.empty()) object["totals"] = Members(table.totals);
  return object;
}

Json WithoutRows(const AgentAnswer& answer) {
  Json message = {{"question", ValidUtf8(answer.question)},
                  {"answer", ToJson(answer.answer)},
                  {"scope", Members(answer.scope)},
                  {"complete", answer.lost.empty()}};
  if (!answer.lost.empty()) message["lost"] = ValidUtf8(answer.lost);
  message["data"] = Json::array();
  for (const AgentTable& table : answer.tables) message["data"].push_back(Heading(table));
  message["caveats"] = ToJson(answer.caveats);
  for (const auto& [key, text] : answer.members) message[key] = Json::parse(text);
  message["rest"] = ValidUtf8(answer.rest);
  return message;
}

// The first of a list, and how many more there are.
Json FirstOf(std::size_t count, const Json& all) {
  Json kept = all;
  if (all.size() <= count) return kept;
  kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(count), kept.end());
  kept.push_back(std::to_string(all.size() - count) + " more");
  return kept;
}

// What goes where even the headings of the lists are too much, until the message fits.
void Shorten(std::size_t most, const AgentAnswer& answer, Json& message) {
  const auto keep = [&](std::size_t count, const char* key, const std::vector<std::string>& all) {
    message[key] = FirstOf(count, ToJson(all));
  };
  const auto each = [&](auto&& change) {
    for (Json& table : message["data"]) change(table);
  };
  const std::function<void()> steps[] = {
      [&] { each([](Json& table) { table.erase("meaning"); }); },
      [&] { keep(3, "caveats", answer.caveats); },
      [&] { keep(3, "answer", answer.answer); },
      [&] {
        for (const auto& [key, text] : answer.members) {
          if (message[key].is_array()) message[key] = FirstOf(2, message[key]);
        }
      },
      [&] { each([](Json& table) { table.erase("totals"); }); },
      [&] {  // names and numbers of rows
        for (std::size_t i = 1; i < message["data"].size(); ++i)
          message["data"][i].erase("columns");
      },
      [&] { keep(1, "caveats", answer.caveats); },
      [&] {
        for (const auto& [key, text] : answer.members) message.erase(key);
      },
      [&] {
        const std::size_t lists = message["data"].size();
        if (lists > 1) message["data"].erase(message["data"].begin() + 1, message["data"].end());
        message["lists_left"] = lists - std::min<std::size_t>(lists, 1);
      },
      [&] { keep(1, "answer", answer.answer); },
      [&] { each([](Json& table) { table.erase("columns"); }); },
      [&] { keep(0, "caveats", answer.caveats); },
  };
  for (const auto& step : steps) {
    if (message.dump().size() <= most) return;
    step();
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

std::string AgentMessage(const AgentAnswer& answer, std::size_t most) {
  const std::size_t limit = most == 0 ? static_cast<std::size_t>(-1) : most;
  Json message = WithoutRows(answer);
  Shorten(limit, answer, message);
  std::size_t used = message.dump().size();
  Json& lists = message["data"];
  std::vector<bool> is_full(lists.size(), false);
  for (std::size_t i = 0; std::ranges::count(is_full, false) > 0; ++i) {
    for (std::size_t k = 0; k < lists.size(); ++k) {
      const AgentTable& table = answer.tables[k];
      if (is_full[k] || i == table.rows.size() || !lists[k].contains("columns")) {
        is_full[k] = true;
        continue;
      }
      Json row = Json::array();
      for (const Cell& cell : table.rows[i]) row.push_back(ToJson(cell));
      const std::size_t bytes = row.dump().size() + 1;
      if (bytes > limit - std::min(used, limit)) {
        is_full[k] = true;
        continue;
      }
      used += bytes;
      lists[k]["rows"].push_back(std::move(row));
      lists[k]["left"] = table.of - (i + 1);
    }
  }
  return message.dump();
}

}  // namespace mpa
