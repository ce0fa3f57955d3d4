// SPDX-License-Identifier: Apache-2.0
// Charts as bars of letters, for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/writers/writers.h"
#include "sheet_chart.h"

namespace mpa {
namespace {

constexpr std::size_t kMostLabels = 16, kLeastLabels = 4, kNumber = 10;
constexpr std::string_view kLetters = "#=-+~o";  // of the series, in their order

char LetterOf(std::size_t series) { return kLetters[series % kLetters.size()]; }

double ValueOf(const PageSeries& series, std::size_t label) {
  const double value = label < series.values.size() ? series.values[label] : 0;
  return std::isfinite(value) && value > 0 ? value : 0;
}

// What each label comes to, of all parts.
std::vector<double> LengthsOf(const PageChart& chart, std::size_t labels) {
  std::vector<double> lengths(labels);
  for (std::size_t i = 0; i < labels; ++i) {
    for (const PageSeries& series : chart.series) lengths[i] += ValueOf(series, i);
  }
  return lengths;
}

// Parts of a whole, or one bar for each label.
bool CanBeDrawn(const PageChart& chart) {
  using enum PageChart::Kind;
  return chart.kind == kStacked ||
         ((chart.kind == kBars || chart.kind == kHistogram) && chart.series.size() == 1);
}

// The labels of a histogram are its ranges.
std::vector<std::string> LabelsOf(const PageChart& chart) {
  if (chart.kind != PageChart::Kind::kHistogram) return chart.labels;
  std::vector<std::string> labels;
  for (std::size_t i = 0; i + 1 < chart.at.size(); ++i) {
    labels.push_back(
        fmt::format("{:g} - {:g} {}", chart.at[i], chart.at[i + 1], chart.unit_of_places));
  }
  return labels;
}

class TextChart {
 public:
  // In `room` lines.
  TextChart(const PageChart& chart, std::size_t columns, std::size_t room)
      : chart_(chart), labels_(LabelsOf(chart)), lengths_(LengthsOf(chart, labels_.size())) {
    constexpr std::size_t kBeside = 4;  // blank line, title, key, and how many more there are
    shown_ = std::min({kMostLabels, labels_.size(), room - std::min(room, kBeside)});
    for (std::size_t i = 0; i < shown_; ++i) {
      width_ = std::max(width_, ColumnsOf(Printable(labels_[i])));
      largest_ = std::max(largest_, lengths_[i]);
    }
    width_ = std::min(width_, columns / 3);
    bar_ = columns - width_ - kNumber - 4;
    const bool whole =
        std::ranges::all_of(lengths_, [](double value) { return value == std::floor(value); });
    decimals_ = whole || largest_ >= 1000 ? 0 : largest_ >= 100 ? 1 : largest_ >= 10 ? 2 : 3;
  }

  // Empty where fewer than two bars fit, or none is longer than 0.
  std::vector<std::string> Draw() const {
    if (shown_ < std::min(kLeastLabels, labels_.size()) || shown_ < 2 || largest_ <= 0) return {};
    std::string title(Translated(chart_.title));
    if (!chart_.unit.empty()) title += fmt::format(" ({})", Translated(chart_.unit));
    std::vector<std::string> lines = Wrapped(title, 2);
    if (chart_.series.size() > 1) {
      for (std::string& line : Wrapped(Key(), 2)) lines.push_back(std::move(line));
    }
    for (std::size_t i = 0; i < shown_; ++i) lines.push_back(Line(i));
    if (labels_.size() > shown_) lines.push_back(Say("  ... {} more", labels_.size() - shown_));
    return lines;
  }

 private:
  std::string Key() const {
    std::string key = " ";
    for (std::size_t s = 0; s < chart_.series.size(); ++s)
      key += fmt::format(" {} {} ", LetterOf(s), chart_.series[s].name);
    return key.substr(0, key.find_last_not_of(' ') + 1);
  }

  std::size_t Ends(double value) const {
    return static_cast<std::size_t>(std::lround(value / largest_ * static_cast<double>(bar_)));
  }

  std::string Line(std::size_t i) const {
    std::string bar;
    double sum = 0;
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      sum += ValueOf(chart_.series[s], i);
      bar.resize(std::max(bar.size(), Ends(sum)), LetterOf(s));
    }
    const std::string label = ShortenName(Printable(labels_[i]), width_);
    return fmt::format("  {}  {}{:>{}.{}f}", PaddedBehind(label, width_), PaddedBehind(bar, bar_),
                       lengths_[i], kNumber, decimals_);
  }

  const PageChart& chart_;
  const std::vector<std::string> labels_;
  const std::vector<double> lengths_;
  std::size_t shown_ = 0, width_ = 0, bar_ = 0;
  double largest_ = 0;
  int decimals_ = 0;
};

}  // namespace

std::vector<std::string> TextChartsOf(const Report& report, std::size_t room) {
  std::vector<PageChart> charts = report.drawings;
  for (const Sheet& sheet : report.sheets) {
    for (const Chart& chart : sheet.charts) {
      if (auto drawn = writers::DrawnChart(sheet, chart)) charts.push_back(std::move(*drawn));
    }
  }
  std::vector<std::string> lines;
  for (const PageChart& chart : charts) {
    if (!CanBeDrawn(chart)) continue;
    const std::size_t left = room - std::min(room, lines.size());
    const std::vector<std::string> text = TextChart(chart, ScreenColumns(), left).Draw();
    if (text.empty()) continue;
    lines.emplace_back();
    lines.insert(lines.end(), text.begin(), text.end());
  }
  return lines;
}

}  // namespace mpa
