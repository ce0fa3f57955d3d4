// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/report/page.h"

namespace mpa {

/// What the numbers of a charted column are. Times are drawn in the unit that fits the largest.
enum class Measured : std::uint8_t {
  kNs,
  kUs,
  kMs,
  kBytes,
  kCount,    ///< of Chart::counted
  kPercent,  ///< 100: all
  kShare,    ///< 1: all
  kGbPerSecond,
  kMhz,
};

/// The unit of the numbers themselves: "ns", "bytes"; empty: Chart::counted says it.
std::string_view NameOf(Measured measured);

/// The unit in which values of at most `largest` are drawn, and how many of theirs are one of it.
struct ChartUnit {
  std::string_view name;
  double size = 1;
};
ChartUnit ChartUnitOf(Measured measured, double largest);

/// A column that a chart draws. Its tint says what it means, as on all pages.
struct ChartedColumn {
  std::string name;
  Tint tint{};
  std::string words{};  ///< of the key; empty: those of the column's name
};

/// A drawing of the rows of a sheet, declared beside its columns. Pages and notebooks draw the
/// same. All of its values are amounts of one quantity: never moments, never ids.
struct Chart {
  enum class Kind : std::uint8_t {
    kBars,     ///< of each column, side by side
    kStacked,  ///< of all columns one behind the other: parts of a whole
    kBoxes,    ///< of five columns: the least, the quartiles, the most
    kHeat,     ///< a cell for each label and each value of the column `across`
  };
  /// What rows with the same label are drawn as.
  enum class SameLabel : std::uint8_t { kNever, kSum, kMean };
  enum class Order : std::uint8_t {
    kAsWritten,
    kLargestFirst,
    kFarthestFirst,  ///< from the median of its column, all columns added
  };
  Kind kind{};
  std::string title{};                  ///< what it shows, without the unit
  std::vector<std::string> labels{};    ///< the columns that together name a row
  std::vector<ChartedColumn> values{};  ///< of kHeat one
  Measured measured{};
  std::string counted{};  ///< of kCount, in the plural: "tokens"
  SameLabel same{};
  Order order{};
  bool of_ranks = false;                ///< the label is a rank: of many all are drawn
  std::vector<std::string> culprits{};  ///< labels that come first, and are named as such
  std::string across{};
  bool own_scale = false;     ///< of kHeat: of each value of `across`, whose amounts differ by far
  bool without_same = false;  ///< of kHeat: no cells where both are the same
  /// Rows with this text in this column alone. Empty: all.
  std::string only_in{}, only{};
};

/// Bars, those of the largest sums first.
Chart LargestBars(std::string title, std::vector<std::string> labels,
                  std::vector<ChartedColumn> values, Measured measured,
                  Chart::SameLabel same = Chart::SameLabel::kNever);
/// A box of the durations of each label, those with the longest median first. `columns`: the least,
/// the quartiles and the most, in ns.
Chart BoxesOf(std::string title, std::vector<std::string> labels,
              const std::array<const char*, 5>& columns = {"MinNs", "Q1Ns", "MedianNs", "Q3Ns",
                                                           "MaxNs"});
/// A cell for each label and each value of the column `across`.
Chart HeatOf(std::string title, std::string label, std::string across, ChartedColumn value,
             Measured measured, Chart::SameLabel same);

/// "stacked", "mean", "largest".
std::string_view NameOf(Chart::Kind kind);
std::string_view NameOf(Chart::SameLabel same);
std::string_view NameOf(Chart::Order order);

/// Lanes on one clock, from the begin of the timeline, whose title and text are those of the chart.
PageChart LanesOf(Timeline timeline);

}  // namespace mpa
