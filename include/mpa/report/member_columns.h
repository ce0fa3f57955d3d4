// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/base/time.h"
#include "mpa/report/report.h"

/// Columns of sheets, each declared by the members that lead to its cells.
namespace mpa {

/// Of a sheet with a row for each item.
template <typename Item>
using SheetColumns = std::vector<ColumnOf<Item>>;

template <typename Item, typename Value>
Item ItemWith(Value Item::*member);

/// The type that has the member, a variable or a function without arguments.
template <auto First>
using ItemOf = decltype(ItemWith(First));

/// The cell of a value; of an enumeration it is the name that NameOf() gives.
template <typename Value>
Cell CellOf(const Value& value) {
  if constexpr (std::integral<Value>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::same_as<Value, RankId>) {
    return value.Number();
  } else if constexpr (std::floating_point<Value>) {
    return static_cast<double>(value);
  } else if constexpr (std::convertible_to<const Value&, std::string_view>) {
    return std::string(std::string_view(value));
  } else if constexpr (std::is_enum_v<Value> && !std::same_as<Value, NoNumber>) {
    return std::string(NameOf(value));
  } else {
    return value;
  }
}
/// Empty without a value.
template <typename Value>
Cell CellOf(const std::optional<Value>& value) {
  return value ? CellOf(*value) : Cell();
}

/// Ends the members that lead to a cell: it is empty for numbers below 0, which are unknown.
inline constexpr auto kIfKnown = [](auto value) { return value >= 0 ? CellOf(value) : Cell(); };

/// The same: an element of a list, and a time in microseconds, which is empty without a time.
template <auto kPlace>
inline constexpr auto kAt = [](const auto& list) { return list[static_cast<std::size_t>(kPlace)]; };
inline constexpr auto kAsUs = [](std::optional<TimeNs> time) {
  return time ? Cell(InUs(*time)) : Cell();
};

/// The cell of a member of an item, or of a member of that member: `Member<&Row::spread,
/// &Spread::sum>`. Members may be functions and pointers, too.
template <auto First, auto... Rest, typename Item>
Cell Member(const Item& item) {
  if constexpr (sizeof...(Rest) == 0) {
    return CellOf(std::invoke(First, item));
  } else {
    return Member<Rest...>(std::invoke(First, item));
  }
}

template <auto First, auto... Rest>
ColumnOf<ItemOf<First>> ValueColumn(Column column) {
  return {std::move(column),
          [](const ItemOf<First>& item) { return Member<First, Rest...>(item); }};
}

template <auto... Path>
auto TextColumn(std::string_view name, double width, std::string_view meaning,
                std::string_view title = {}) {
  return ValueColumn<Path...>(NamedColumn(name, Format::kText, width, meaning, title));
}

template <auto... Path>
auto CountColumn(std::string_view name, double width, std::string_view meaning,
                 std::string_view title = {}) {
  return ValueColumn<Path...>(NamedColumn(name, Format::kInteger, width, meaning, title));
}

template <auto... Path>
auto NumberColumn(std::string_view name, Format format, double width, std::string_view meaning,
                  std::string_view title = {}) {
  return ValueColumn<Path...>(NamedColumn(name, format, width, meaning, title));
}

/// A column of 14 characters with cells that are computed.
template <typename Item>
ColumnOf<Item> ComputedColumn(const char* name, Format format, const char* meaning,
                              Cell (*cell)(const Item&)) {
  return {NamedColumn(name, format, 14, meaning), cell};
}

/// Columns one behind the other.
template <typename Item>
SheetColumns<Item> Joined(SheetColumns<Item> columns, SheetColumns<Item> more,
                          SheetColumns<Item> last = {}) {
  std::move(more.begin(), more.end(), std::back_inserter(columns));
  std::move(last.begin(), last.end(), std::back_inserter(columns));
  return columns;
}

/// A time in ns, which people see in another unit.
template <auto... Path>
auto TimeColumn(std::string_view name, double width, Unit unit, std::string_view meaning) {
  Column column = NamedColumn(name, Format::kDecimals3, width, meaning);
  column.unit = unit;
  return ValueColumn<Path...>(std::move(column));
}

}  // namespace mpa
