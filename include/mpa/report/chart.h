// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpa {

struct Sheet;
struct Report;

/// A drawing of the first rows of a sheet.
struct Chart {
  enum class Kind : std::uint8_t {
    kBars,   ///< of each column
    kBoxes,  ///< of five columns: the least, the quartiles, the most
  };
  Kind kind{};
  std::string sheet;                ///< its name
  std::string label;                ///< the column that says what a row is
  std::vector<std::string> values;  ///< the columns drawn
};

/// A chart of the first columns of numbers, or of quartiles where the sheet has them. Empty where
/// there are none.
std::optional<Chart> StandardChart(const Sheet& sheet);

/// Those of the report, and of each other sheet the standard one; in order of the sheets.
std::vector<Chart> ChartsOf(const Report& report);

}  // namespace mpa
