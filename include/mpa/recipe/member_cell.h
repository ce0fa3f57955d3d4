// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "mpa/report/report.h"

namespace mpa {

/// The cell of a value: empty where there is none.
inline Cell CellOf(std::string_view text) { return std::string(text); }
template <typename Value, typename = std::enable_if_t<std::is_arithmetic_v<Value>>>
Cell CellOf(Value number) {
  if constexpr (std::is_floating_point_v<Value>) return static_cast<double>(number);
  return static_cast<std::int64_t>(number);
}
template <typename Value>
Cell CellOf(const std::optional<Value>& value) {
  return value ? CellOf(*value) : Cell();
}

/// How a column gets its cell where a member of the item holds it, or a member of that member:
/// `Member<&Row::spread, &Spread::sum>`. Members may be functions and pointers, too.
template <auto kFirst, auto... kRest, typename Item>
Cell Member(const Item& item) {
  if constexpr (sizeof...(kRest) == 0) {
    return CellOf(std::invoke(kFirst, item));
  } else {
    return Member<kRest...>(std::invoke(kFirst, item));
  }
}

}  // namespace mpa
