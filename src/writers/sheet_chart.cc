// SPDX-License-Identifier: Apache-2.0
// The charts that sheets declare, as pages draw them.
#include "sheet_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "chart_words.h"
#include "mpa/base/language.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "sheet_values.h"

namespace mpa::writers {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Bars of more names, and of more ranks, cannot be told apart.
constexpr std::size_t kMaxNames = 40, kMaxRanks = 64;

// Rows of one label: for each charted column the sum of its numbers.
struct Labelled {
  struct Sum {
    double sum = 0;
    std::size_t count = 0;
  };
  std::string label;
  std::vector<Sum> sums{};
};

double MedianOf(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class ChartDrawer {
 public:
  ChartDrawer(const Sheet& sheet, const Chart& chart)
      : sheet_(sheet), chart_(chart), keys_(ColumnKeys(sheet)) {
    for (const std::string& label : chart.labels) Add(label, labels_);
    for (const ChartedColumn& value : chart.values) {
      if (!Add(value.name, columns_)) continue;
      tints_.push_back(value.tint);
      words_.push_back(value.words);
    }
    if (!chart.across.empty()) Add(chart.across, across_);
    if (!chart.only_in.empty()) Add(chart.only_in, only_);
  }

  std::optional<PageChart> Draw() {
    const bool is_whole = chart_.kind != Chart::Kind::kBoxes || columns_.size() == 5;
    if (labels_.size() != chart_.labels.size() || columns_.empty() || !is_whole)
      return std::nullopt;
    if (chart_.kind == Chart::Kind::kHeat) return DrawHeat();
    SumRows();
    if (rows_.size() < 2) return std::nullopt;
    return DrawRows();
  }

 private:
  bool Add(const std::string& name, std::vector<std::size_t>& places) const {
    const auto found = std::ranges::find(sheet_.columns, name, &Column::name);
    if (found == sheet_.columns.end()) return false;
    places.push_back(static_cast<std::size_t>(found - sheet_.columns.begin()));
    return true;
  }

  std::string WordsOf(const std::vector<std::size_t>& columns) const {
    std::string words;
    for (const std::size_t label : columns) {
      std::string more = ChartWords(keys_[label]);
      words = words.empty() ? std::move(more) : Say("{}, {}", words, more);
    }
    return words;
  }

  std::string TextOf(const Row& row, const std::vector<std::size_t>& places) const {
    std::string text;
    for (const std::size_t place : places) {
      std::string shown = ShownText(sheet_, row, place);
      // Numbers that name a row are no amounts.
      if (place < row.cells.size() && std::holds_alternative<std::int64_t>(row.cells[place]))
        std::erase(shown, ',');
      if (!shown.empty()) text.append(text.empty() ? "" : ", ").append(shown);
    }
    return text;
  }

  bool IsDrawn(const Row& row) const { return only_.empty() || TextOf(row, only_) == chart_.only; }

  static double NumberIn(const Row& row, std::size_t place) {
    return place < row.cells.size() ? NumberOf(row.cells[place]).value_or(kNone) : kNone;
  }

  void SumRows() {
    std::unordered_map<std::string, std::size_t> places;
    std::unordered_map<std::string, std::size_t> times;
    for (const Row& row : sheet_.rows) {
      if (!IsDrawn(row)) continue;
      std::string label = TextOf(row, labels_);
      if (chart_.same == Chart::SameLabel::kNever) {
        const std::size_t time = ++times[label];
        if (time > 1) label += fmt::format(" ({})", time);
      }
      const auto [place, is_new] = places.try_emplace(label, rows_.size());
      if (is_new) rows_.push_back({std::move(label), std::vector<Labelled::Sum>(columns_.size())});
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const double value = NumberIn(row, columns_[i]);
        if (!std::isfinite(value)) continue;
        Labelled::Sum& sum = rows_[place->second].sums[i];
        sum.sum += value;
        ++sum.count;
      }
    }
    std::erase_if(rows_, [](const Labelled& row) {
      return std::ranges::all_of(row.sums, [](const auto& sum) { return sum.count == 0; });
    });
  }

  double ValueOf(const Labelled& row, std::size_t column) const {
    const Labelled::Sum& sum = row.sums[column];
    if (sum.count == 0) return kNone;
    const bool is_mean = chart_.same == Chart::SameLabel::kMean;
    return is_mean ? sum.sum / static_cast<double>(sum.count) : sum.sum;
  }

  // By what its kind makes seen: the median of boxes, the length of bars.
  double SizeOf(const Labelled& row) const {
    if (chart_.kind == Chart::Kind::kBoxes) return ValueOf(row, 2);
    double size = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double value = ValueOf(row, i);
      if (!std::isnan(value)) size += value;
    }
    return size;
  }

  bool IsCulprit(const Labelled& row) const {
    return std::ranges::find(chart_.culprits, row.label) != chart_.culprits.end();
  }

  void Sort() {
    SortBySize();
    StableSort(rows_, std::greater(), [&](const Labelled& row) { return IsCulprit(row); });
  }

  void SortBySize() {
    if (chart_.order == Chart::Order::kAsWritten) return;
    if (chart_.order == Chart::Order::kLargestFirst)
      return StableSort(rows_, std::greater(), [&](const Labelled& row) { return SizeOf(row); });
    std::vector<double> medians;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::vector<double> values;
      for (const Labelled& row : rows_) values.push_back(ValueOf(row, i));
      medians.push_back(MedianOf(std::move(values)));
    }
    StableSort(rows_, std::greater(), [&](const Labelled& row) {
      double distance = 0;
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const double value = ValueOf(row, i);
        if (!std::isnan(value)) distance += std::abs(value - medians[i]);
      }
      return distance;
    });
  }

  // Of bars by size those that are long enough to be seen.
  std::size_t CountToDraw() const {
    constexpr double kSeen = 0.005;
    constexpr std::size_t kLeast = 8;
    std::size_t count = std::min(rows_.size(), kMaxNames);
    if (chart_.order != Chart::Order::kLargestFirst || chart_.kind == Chart::Kind::kBoxes)
      return count;
    const double seen = kSeen * SizeOf(rows_.front());
    const auto is_short = [&](double size) { return size == 0 || (count > kLeast && size < seen); };
    while (count > 1 && is_short(SizeOf(rows_[count - 1]))) --count;
    return count;
  }

  std::optional<PageChart> DrawRows() {
    Sort();
    const std::size_t all = rows_.size(), most = chart_.of_ranks ? all : CountToDraw();
    if (all > most) rows_.resize(most);
    PageChart drawn{.kind = KindOf(chart_.of_ranks && all > kMaxRanks), .title = chart_.title};
    if (all > most) {
      const std::string count = WithThousands(std::to_string(all));
      drawn.title = chart_.order == Chart::Order::kAsWritten
                        ? Say("{}: the first {} of {}", Translated(chart_.title), most, count)
                        : Say("{}: the largest {} of {}", Translated(chart_.title), most, count);
    }
    drawn.label = WordsOf(labels_);
    double largest = 0;
    for (const Labelled& row : rows_) {
      drawn.labels.push_back(IsCulprit(row) ? Say("{}, culprit", row.label) : row.label);
      for (std::size_t i = 0; i < columns_.size(); ++i) {
        const double value = ValueOf(row, i);
        if (!std::isnan(value)) largest = std::max(largest, std::abs(value));
      }
    }
    if (largest == 0) return std::nullopt;
    const ChartUnit unit = UnitFor(largest, drawn);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      PageSeries& series = drawn.series.emplace_back();
      series.name =
          words_[i].empty() ? ChartWords(keys_[columns_[i]]) : std::string(Translated(words_[i]));
      series.tint = tints_[i];
      for (const Labelled& row : rows_) series.values.push_back(ValueOf(row, i) / unit.size);
    }
    return drawn;
  }

  ChartUnit UnitFor(double largest, PageChart& drawn) const {
    const ChartUnit unit = ChartUnitOf(chart_.measured, largest);
    drawn.unit = chart_.measured == Measured::kCount ? chart_.counted : unit.name;
    return unit;
  }

  PageChart::Kind KindOf(bool is_crowded) const {
    if (chart_.kind == Chart::Kind::kBoxes) return PageChart::Kind::kBoxes;
    if (is_crowded) return PageChart::Kind::kDistribution;
    return chart_.kind == Chart::Kind::kStacked ? PageChart::Kind::kStacked
                                                : PageChart::Kind::kBars;
  }

  // Names in the order of their numbers, or else of the rows.
  static void SortNames(std::vector<std::string>& names) {
    const auto number = [](const std::string& name) { return WholeNumber<std::int64_t>(name); };
    if (std::ranges::all_of(names, [&](const auto& name) { return number(name).has_value(); }))
      StableSort(names, {}, [&](const std::string& name) { return *number(name); });
  }

  // Of more names neighbours share a cell: it has the value that is farthest from the median.
  std::optional<PageChart> DrawHeat() {
    std::map<std::pair<std::string, std::string>, Labelled::Sum> cells;
    std::vector<std::string> down, across;
    std::unordered_map<std::string, std::size_t> is_down, is_across;
    for (const Row& row : sheet_.rows) {
      const double value = NumberIn(row, columns_.front());
      if (!IsDrawn(row) || !std::isfinite(value)) continue;
      std::string label = TextOf(row, labels_), other = TextOf(row, across_);
      if (chart_.without_same && label == other) continue;
      if (is_down.try_emplace(label, 0).second) down.push_back(label);
      if (is_across.try_emplace(other, 0).second) across.push_back(other);
      Labelled::Sum& sum = cells[{std::move(label), std::move(other)}];
      sum.sum += value;
      ++sum.count;
    }
    if (cells.size() < 2) return std::nullopt;
    const bool is_mean = chart_.same == Chart::SameLabel::kMean;
    const auto value_of = [&](const Labelled::Sum& sum) {
      return is_mean ? sum.sum / static_cast<double>(sum.count) : sum.sum;
    };
    std::vector<double> values;
    for (const auto& [names, sum] : cells) values.push_back(value_of(sum));
    const double median = MedianOf(values);
    SortNames(down);
    SortNames(across);
    const auto number = [](const std::vector<std::string>& names, auto& places) {
      const std::size_t share = (names.size() + kMaxRanks - 1) / kMaxRanks;
      std::vector<std::string> shown;
      for (std::size_t i = 0; i < names.size(); ++i) {
        places[names[i]] = i / share;
        if (i % share == 0) shown.push_back(names[i]);
        if (i % share == share - 1 && share > 1) shown.back() += "-" + names[i];
      }
      return shown;
    };
    PageChart drawn{.kind = PageChart::Kind::kHeat, .title = chart_.title};
    drawn.own_scale = chart_.own_scale;
    const ChartUnit unit = UnitFor(std::ranges::max(values), drawn);
    drawn.label = WordsOf(labels_);
    drawn.unit_of_places = WordsOf(across_);
    drawn.labels = number(down, is_down);
    for (std::string& name : number(across, is_across)) {
      drawn.series.push_back({.name = std::move(name),
                              .values = std::vector<double>(drawn.labels.size(), kNone),
                              .tint = tints_.front()});
    }
    for (const auto& [names, sum] : cells) {
      const double value = value_of(sum);
      double& cell = drawn.series[is_across[names.second]].values[is_down[names.first]];
      if (std::isnan(cell) || std::abs(value - median) > std::abs(cell * unit.size - median))
        cell = value / unit.size;
    }
    return drawn;
  }

  const Sheet& sheet_;
  const Chart& chart_;
  const std::vector<std::string> keys_;
  std::vector<std::size_t> labels_, columns_, across_, only_;
  std::vector<Tint> tints_;
  std::vector<std::string> words_;
  std::vector<Labelled> rows_;
};

}  // namespace

std::optional<PageChart> DrawnChart(const Sheet& sheet, const Chart& chart) {
  return ChartDrawer(sheet, chart).Draw();
}

}  // namespace mpa::writers
