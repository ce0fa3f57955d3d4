// SPDX-License-Identifier: Apache-2.0
// Finds the cells that numbers of the screen come from.
#include "number_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "mpa/base/text.h"
#include "mpa/report/screen_line.h"
#include "sheet_values.h"

namespace mpa::writers {
namespace {

// How much of the base of its dimension a unit is.
struct UnitSize {
  std::string_view name;
  char dimension;  // of time, bytes, and parts of a whole
  double size;
};
constexpr auto kUnitSizes = std::to_array<UnitSize>({{"ns", 't', 1},
                                                     {"us", 't', 1e3},
                                                     {"ms", 't', 1e6},
                                                     {"s", 't', 1e9},
                                                     {"B", 'b', 1},
                                                     {"bytes", 'b', 1},
                                                     {"kB", 'b', 1e3},
                                                     {"KB", 'b', 1e3},
                                                     {"MB", 'b', 1e6},
                                                     {"GB", 'b', 1e9},
                                                     {"%", 'p', 0.01}});

const UnitSize* UnitNamed(std::string_view name) {
  const auto found = std::ranges::find(kUnitSizes, name, &UnitSize::name);
  return found == kUnitSizes.end() ? nullptr : &*found;
}

// Of the numbers that the column shows; nullptr: it does not tell.
const UnitSize* ShownUnitOf(const Column& column) {
  if (column.unit == Unit::kNsShownAsMs) return UnitNamed("ms");
  if (column.unit == Unit::kNsShownAsUs) return UnitNamed("us");
  for (const UnitSize& unit : kUnitSizes) {
    if (column.name.ends_with(fmt::format("({})", unit.name))) return &unit;
  }
  if (column.name.ends_with("Ns") || column.name.ends_with("_ns")) return UnitNamed("ns");
  if (column.name.ends_with("Bytes") || column.name.ends_with("_bytes")) return UnitNamed("B");
  return UnitNamed(UnitIn(column.meaning));
}

// By what a cell of the column is multiplied to be in the unit of the number: each that may be.
std::vector<double> FactorsOf(const Column& column, const std::string& unit) {
  const UnitSize* wanted = UnitNamed(unit);
  const UnitSize* has = ShownUnitOf(column);
  if (wanted == nullptr) {
    if (!unit.empty())
      return column.name.find(unit) != std::string::npos ? std::vector<double>{1}
                                                         : std::vector<double>{};
    return has == nullptr ? std::vector<double>{1} : std::vector<double>{};
  }
  if (wanted->dimension == 'p') {
    if (has != nullptr && has->dimension != 'p') return {};
    return has != nullptr ? std::vector<double>{1} : std::vector<double>{100, 1};
  }
  if (has != nullptr && has->dimension != wanted->dimension) return {};
  if (has != nullptr) return {has->size / wanted->size};
  std::vector<double> factors;
  for (const double size : {1.0, 1e3, 1e6}) factors.push_back(size / wanted->size);
  return factors;
}

// How far a cell may be from the number; halves may have been rounded either way.
double ReachOf(const ShownNumber& number) {
  return 0.5 * std::pow(10.0, -number.decimals) * (1 + 1e-9);
}

std::size_t DigitsOf(const ShownNumber& number) {
  const std::string text = fmt::format("{:.{}f}", std::abs(number.value), number.decimals);
  const std::size_t first = text.find_first_not_of("0.");
  if (first == std::string::npos) return 0;
  return static_cast<std::size_t>(
      std::ranges::count_if(text.substr(first), [](char c) { return c != '.'; }));
}

// How much of the line the row is about: its names that the line has, and its rank.
int LikenessOf(const Sheet& sheet, const Row& row, const ShownNumber& number) {
  constexpr std::size_t kShortest = 3;
  int likeness = 0;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < std::min(row.cells.size(), sheet.columns.size()); ++i) {
    const Cell& cell = row.cells[i];
    const auto* text = std::get_if<std::string>(&cell);
    if (ToLower(sheet.columns[i].name).find("rank") != std::string::npos &&
        !std::holds_alternative<std::monostate>(number.rank)) {
      const std::string rank = text != nullptr ? *text : ShownText(sheet, row, i);
      const auto* wanted = std::get_if<std::int64_t>(&number.rank);
      if (wanted != nullptr && rank == std::to_string(*wanted)) likeness += 2;
    } else if (text != nullptr && text->size() >= kShortest && seen.insert(*text).second &&
               number.text.find(*text) != std::string::npos) {
      likeness += 2;
    }
  }
  return likeness;
}

// The best place of a number so far.
struct Found {
  RowPlace place{};
  int likeness = -1;
  std::size_t alike = 0;  // rows with that likeness
};

}  // namespace

int DecimalsIn(std::string_view text, double value) {
  constexpr int kMost = 4;
  const auto goes_on = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  for (int decimals = 0; decimals <= kMost; ++decimals) {
    const std::string shown = fmt::format("{:.{}f}", std::abs(value), decimals);
    for (std::size_t at = text.find(shown); at != std::string_view::npos;
         at = text.find(shown, at + 1)) {
      const std::size_t end = at + shown.size();
      const bool whole = (at == 0 || !goes_on(text[at - 1])) &&
                         (end >= text.size() || !goes_on(text[end]) ||
                          (text[end] == '.' && (end + 1 == text.size() || text[end + 1] == ' ')));
      if (whole) return decimals;
    }
  }
  return 0;
}

std::vector<std::optional<RowPlace>> PlacesOf(const std::vector<ShownNumber>& numbers,
                                              const std::vector<Sheet>& sheets) {
  constexpr std::size_t kRows = 20'000;  // what screens show is in front
  std::vector<Found> found(numbers.size());
  std::vector<double> reach;
  for (const ShownNumber& number : numbers) reach.push_back(ReachOf(number));
  for (const Sheet& sheet : sheets) {
    std::vector<std::vector<std::vector<double>>> factors;  // by column and number
    for (const Column& column : sheet.columns) {
      auto& of_column = factors.emplace_back();
      for (const ShownNumber& number : numbers) of_column.push_back(FactorsOf(column, number.unit));
    }
    for (std::size_t at = 0; at < std::min(sheet.rows.size(), kRows); ++at) {
      const Row& row = sheet.rows[at];
      for (std::size_t i = 0; i < std::min(row.cells.size(), sheet.columns.size()); ++i) {
        if (std::holds_alternative<std::string>(row.cells[i])) continue;
        const std::optional<double> value = NumberOf(ShownCell(sheet, row, i));
        if (!value || !std::isfinite(*value)) continue;
        for (std::size_t n = 0; n < numbers.size(); ++n) {
          const bool is_it = std::ranges::any_of(factors[i][n], [&](double factor) {
            return std::abs(*value * factor - numbers[n].value) <= reach[n];
          });
          if (!is_it) continue;
          const int likeness = LikenessOf(sheet, row, numbers[n]);
          Found& best = found[n];
          if (likeness == best.likeness) ++best.alike;
          if (likeness > best.likeness) best = {{sheet.name, at, i}, likeness, 1};
        }
      }
    }
  }
  constexpr std::size_t kTelling = 4;  // digits that are hardly another number by chance
  std::vector<std::optional<RowPlace>> places(numbers.size());
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const Found& best = found[n];
    const bool is_telling = DigitsOf(numbers[n]) >= kTelling;
    if (best.likeness > 0 || (best.alike == 1 && is_telling)) places[n] = best.place;
  }
  return places;
}

}  // namespace mpa::writers
