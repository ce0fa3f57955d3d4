// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "meanings.h"
#include "mpa/base/rank.h"
#include "mpa/model/rank_trace.h"
#include "mpa/model/table.h"
#include "reflection.h"

/// Tables as statements see them: columns with names, units and meanings, whatever holds the rows.
namespace mpa::query {

/// A cell. Texts stay where they are.
struct Value {
  enum class Kind : std::uint8_t { kNull, kInteger, kReal, kText };
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text{};
};

struct TableColumn {
  std::string name;
  Value::Kind kind{};
  std::string unit{}, meaning{};
  Tables needs{};  ///< what is read for this column beside that which the table needs
  /// Of a stored column: its cell in row `row` of the table.
  Value (*cell)(const void* table, const StringPool& texts, std::size_t row) = nullptr;
  /// Of one that is worked out, when it is first asked for: a number for each row, -1 for none.
  std::vector<std::int64_t> (*derive)(const RankTrace& trace) = nullptr;
};

class Job;

struct TableInfo {
  std::string name, meaning;
  Tables needs{};
  std::vector<TableColumn> columns{};
  int time = -1;  ///< the column by which ranges are found; -1: none
  std::size_t (*rows)(const void* table) = nullptr;
  /// Where the rows of a rank are.
  const void* (*stored)(const RankTrace& trace) = nullptr;
  /// Or what makes them of a rank, or of a whole job (they have a rank of their own).
  std::shared_ptr<const void> (*make)(const RankTrace& trace) = nullptr;
  std::shared_ptr<const void> (*make_of_job)(Job& job) = nullptr;

  bool IsOfRank() const { return make_of_job == nullptr; }
  /// Its ids are its first column; of others the number of the row stands before them.
  bool HasOwnId() const { return !columns.empty() && columns.front().name == "id"; }
};

/// All tables, those of the store first.
const std::vector<TableInfo>& AllTables();
const TableInfo* FindTable(std::string_view name);

/// Appends the tables of the store, one for each of kRankTables, and those that are computed.
void AddStoreTables(std::vector<TableInfo>& tables);
void AddComputedTables(std::vector<TableInfo>& tables);
/// Appends the columns that are worked out for rows of the store.
void AddDerivedColumns(std::vector<TableInfo>& tables);

template <typename Cell>
constexpr Value::Kind KindOf() {
  if constexpr (std::is_floating_point_v<Cell>) {
    return Value::Kind::kReal;
  } else if constexpr (std::is_integral_v<Cell> || std::is_same_v<Cell, RankId>) {
    return Value::Kind::kInteger;
  } else if constexpr (std::is_enum_v<Cell> || std::is_convertible_v<Cell, std::string_view>) {
    return Value::Kind::kText;
  } else {
    return Value::Kind::kNull;
  }
}

/// The label of a rank without a number.
std::string_view TextOfLabel(RankId rank);

/// What captures write where they have no value.
inline constexpr std::string_view kNotAvailable = "N/A";

/// NULL for what new rows have where that is no value: -1, and the empty text.
template <typename Cell>
Value ValueOf(const Cell& cell, const Cell& initial, const StringPool& texts) {
  Value value;
  const auto text = [&](std::string_view shown) {
    if (!shown.empty() && shown != kNotAvailable)
      value = {.kind = Value::Kind::kText, .text = shown};
  };
  if constexpr (std::is_same_v<Cell, StringId>) {
    text(texts.View(cell));
  } else if constexpr (std::is_enum_v<Cell>) {
    text(EnumeratorName(cell));
  } else if constexpr (std::is_same_v<Cell, RankId>) {
    if (cell.IsLabel())
      text(TextOfLabel(cell));
    else if (cell.IsKnown())
      value = {.kind = Value::Kind::kInteger, .integer = cell.Number()};
  } else if constexpr (std::is_floating_point_v<Cell>) {
    if (!std::isnan(cell) && (cell >= 0 || cell != initial))
      value = {.kind = Value::Kind::kReal, .real = cell};
  } else if constexpr (std::is_integral_v<Cell>) {
    if (cell >= Cell{} || cell != initial)
      value = {.kind = Value::Kind::kInteger, .integer = static_cast<std::int64_t>(cell)};
  } else {
    text(cell);
  }
  return value;
}

/// The columns of the declaration `Fields` of `Table`, by their names there.
template <typename Table, template <template <typename> class> class Fields>
void AddFields(std::vector<TableColumn>& columns) {
  using Row = Fields<InRow>;
  const Meanings& meanings = MeaningsOf(TemplateName<Row>());
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto add = [&]<std::size_t kField>(std::integral_constant<std::size_t, kField>) {
      using Cell = std::remove_reference_t<
          std::tuple_element_t<kField, decltype(FieldsOf(std::declval<Row&>()))>>;
      if constexpr (KindOf<Cell>() != Value::Kind::kNull) {
        TableColumn& column = columns.emplace_back();
        column.name = FieldName<Row, kField>();
        column.kind = KindOf<Cell>();
        column.unit = meanings.UnitOf(column.name);
        column.meaning = meanings.Of(column.name);
        if constexpr (std::is_enum_v<Cell> && !std::is_same_v<Cell, StringId>) {
          if (column.meaning.empty()) column.meaning = AllEnumerators<Cell>();
        }
        column.cell = [](const void* table, const StringPool& texts, std::size_t row) {
          static const Row initial{};
          const auto& rows = static_cast<const Fields<InTable>&>(*static_cast<const Table*>(table));
          const auto& cell = std::get<kField>(FieldsOf(rows))[row];
          const Cell& none = std::get<kField>(FieldsOf(initial));
          if constexpr (std::is_same_v<Cell, bool>)  // which tables keep as a number
            return ValueOf<int>(cell, 0, texts);
          else
            return ValueOf<Cell>(cell, none, texts);
        };
      }
    };
    (add(std::integral_constant<std::size_t, I>()), ...);
  }
  (std::make_index_sequence<kFields<Row>>());
}

template <typename Whole, template <template <typename> class> class... Fields>
void AddColumns(const Table<Fields...>*, std::vector<TableColumn>& columns, std::string& meaning) {
  (AddFields<Whole, Fields>(columns), ...);
  ((meaning = MeaningsOf(TemplateName<Fields<InRow>>()).table), ...);  // the last says what it is
}

/// The columns and the meaning of a table that is declared as those of the model are.
template <typename Table>
TableInfo TableOf(std::string name, Tables needs) {
  TableInfo info{.name = std::move(name), .meaning = {}, .needs = needs};
  AddColumns<Table>(static_cast<const Table*>(nullptr), info.columns, info.meaning);
  info.rows = [](const void* table) { return static_cast<const Table*>(table)->Size(); };
  return info;
}

}  // namespace mpa::query
