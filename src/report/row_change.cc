// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>

#include "mpa/report/report.h"

namespace mpa {
namespace {

std::optional<double> NumberIn(const Row& row, std::size_t column) {
  if (column >= row.cells.size()) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&row.cells[column]))
    return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&row.cells[column]);
  return real != nullptr && std::isfinite(*real) ? std::optional(*real) : std::nullopt;
}

}  // namespace

std::optional<double> ChangeOf(const Sheet& sheet, const Row& row) {
  std::array<std::optional<double>, 2> totals;
  for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
    const Column& column = sheet.columns[i];
    if (column.change == ChangeRole::kNone) continue;
    const std::optional<double> number = NumberIn(row, i);
    if (column.change == ChangeRole::kDifference && number) return number;
    if (column.change == ChangeRole::kTotal) totals[column.side == Side::kBase ? 0 : 1] = number;
  }
  if (!totals[0] || !totals[1]) return std::nullopt;
  return *totals[1] - *totals[0];
}

}  // namespace mpa
