// SPDX-License-Identifier: Apache-2.0
// Rows of both sides with their change, for the screen.
#include "screen_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/utf8.h"
#include "mpa/report/change_tree.h"

namespace mpa {
namespace {

// The columns of numbers with the blanks before them; the names have the rest of the line.
constexpr std::array<std::size_t, 4> kNumberWidths = {10, 10, 10, 8};
constexpr std::size_t kNumbersWidth = 4 * 2 + 10 + 10 + 10 + 8;
constexpr std::size_t kMaxRows = 24;

std::string RightAligned(const std::string& text, std::size_t width) {
  return PaddedBefore(text, width);
}

std::string DiffPercent(std::int64_t base, std::int64_t comparison) {
  if (base == comparison) return "0.0";
  if (base == 0) return Say("new");
  return comparison == 0 ? Say("gone") : GrowthText(base, comparison);
}

}  // namespace

ScreenRows::ScreenRows(std::size_t width) : name_width_(width - kNumbersWidth) {}

void ScreenRows::Add(const AmountScale& scale, const std::string& name, int level,
                     const OverallValue& base, const OverallValue& comparison) {
  const auto value = [&](const OverallValue& side) {
    return side.known ? scale.Text(scale.Rounded(side.time)) : "N/A";
  };
  const bool known = base.known && comparison.known;
  const std::int64_t change = scale.Rounded(comparison.time - base.time);
  const std::array<std::string, 4> numbers = {
      value(base), value(comparison),
      !known        ? "N/A"
      : change == 0 ? scale.Text(0)
                    : scale.Signed(change),
      known ? DiffPercent(base.time, comparison.time) : "N/A"};
  const std::string indent(static_cast<std::size_t>(2 * level), ' ');
  std::vector<std::string> row = {
      CutEnd(ShortenMiddle(indent + Printable(name), name_width_), name_width_)};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    row.push_back(RightAligned(numbers[i], kNumberWidths[i]));
  }
  rows_.push_back(
      {std::move(row), level, std::max(std::abs(base.time), std::abs(comparison.time))});
}

std::vector<std::string> ScreenRows::MoreRow(std::size_t more, std::string_view sheet) {
  return {Say("({} more in {})", more, sheet)};
}

std::vector<std::vector<std::string>> ScreenRows::Take(const char* sheet) {
  const std::size_t all = rows_.size();
  if (all > kMaxRows) std::erase_if(rows_, [](const Entry& row) { return row.level > 1; });
  while (rows_.size() > kMaxRows) {
    rows_.erase(std::ranges::min_element(rows_, [](const Entry& a, const Entry& b) {
      return std::pair(-a.level, a.size) < std::pair(-b.level, b.size);
    }));
  }
  std::vector<std::vector<std::string>> rows;
  for (Entry& row : rows_) rows.push_back(std::move(row.cells));
  if (rows.size() < all) rows.push_back(MoreRow(all - rows.size(), sheet));
  return rows;
}

void SetHeaders(std::string what, ScreenTable& table) {
  table.headers = {std::move(what)};
  constexpr std::array<const char*, 4> kHeaders = {"Base", "Comparison", "Diff", "Diff %"};
  for (std::size_t i = 0; i < kHeaders.size(); ++i) {
    table.headers.push_back(RightAligned(std::string(Translated(kHeaders[i])), kNumberWidths[i]));
  }
}

}  // namespace mpa
