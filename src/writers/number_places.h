// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpa/report/report.h"

namespace mpa::writers {

/// A number that the screen shows.
struct ShownNumber {
  double value = 0;  ///< rounded to `decimals`
  int decimals = 0;
  std::string unit{};  ///< "ms"; empty: a count
  Cell rank{};         ///< whose it is; empty: not of one rank
  std::string text{};  ///< the line that states it
};

/// So many decimals has the number in the text that states it.
int DecimalsIn(std::string_view text, double value);

/// Where each number is in the sheets: the cell that, in its unit, rounds to the same number. Of
/// several the one whose row names most of what the line names. Empty: no cell has it, or it could
/// be any of several.
std::vector<std::optional<RowPlace>> PlacesOf(const std::vector<ShownNumber>& numbers,
                                              const std::vector<Sheet>& sheets);

}  // namespace mpa::writers
