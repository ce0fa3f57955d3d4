// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace mpa {

/// Why a cell of a column of numbers holds none. People read a word, programs an empty cell.
enum class NoNumber : std::uint8_t {
  kNotCounted,  ///< nothing is counted here: "/"
  kUnknown,     ///< the capture does not say: "N/A"
};
/// The word for people.
std::string_view TextOf(NoNumber reason);

using Cell = std::variant<std::monostate, std::int64_t, double, std::string, NoNumber>;
/// Empty: the cell holds no number.
std::optional<double> NumberOf(const Cell& cell);

}  // namespace mpa
