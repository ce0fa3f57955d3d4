// SPDX-License-Identifier: Apache-2.0
// Ratios, and numbers as people read them: rounded once and in one way.
#include "mpa/report/report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "mpa/base/enum_name.h"
#include "mpa/base/text.h"
#include "mpa/report/page.h"

namespace mpa {

std::string_view TextOf(NoNumber reason) { return reason == NoNumber::kNotCounted ? "/" : "N/A"; }

std::optional<double> NumberOf(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&cell);
  return real != nullptr ? std::optional(*real) : std::nullopt;
}

std::string_view NameOf(Severity severity) {
  return EnumName<Severity::kHigh>(severity, {"info", "warn", "high"});
}

Column NamedColumn(std::string_view name, Format format, double width, std::string_view meaning,
                   std::string_view title) {
  return {.name = std::string(name),
          .format = format,
          .width = width,
          .meaning = std::string(meaning),
          .in_workbook = {.title = std::string(title)}};
}

std::string MoreText(std::size_t left_out, std::string_view noun) {
  return "  ... " + Counted(left_out, fmt::format("more {}", noun));
}

double Rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  const double scaled = std::abs(value) * scale;
  constexpr double kWholeFrom = 1e15;  // has no decimals to speak of, or is not finite
  if (!(scaled < kWholeFrom)) return value;
  // A decimal half is off by up to half an ulp as a double, and by as much when scaled.
  constexpr double kUlps = 2 * std::numeric_limits<double>::epsilon();
  const double rounded = std::floor(scaled * (1 + kUlps) + 0.5) / scale;
  return rounded == 0 ? 0.0 : std::copysign(rounded, value);
}

std::string Fixed(double value, int decimals) {
  return fmt::format("{:.{}f}", Rounded(value, decimals), decimals);
}

double GrowthRatio(double base, double comparison) {
  if (base == 0) return comparison == 0 ? 1.0 : std::numeric_limits<double>::infinity();
  return comparison / base;
}

namespace {

std::optional<double> NumberIn(const Row& row, std::size_t column) {
  const auto number = column < row.cells.size() ? NumberOf(row.cells[column]) : std::nullopt;
  return number && std::isfinite(*number) ? number : std::nullopt;
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
