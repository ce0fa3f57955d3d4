// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/base/rank.h"
#include "mpa/measure/earlier_time.h"
#include "mpa/recipe/arguments.h"
#include "mpa/recipe/rank_spread.h"
#include "mpa/report/screen_list.h"

/// What the screens of recipes say of ranks.
namespace mpa {

/// "rank 3: no device work was recorded, so nothing is judged; ..."
std::string NoDeviceWorkNote(RankId rank);

/// A line with EarlierTimeText() of the rank that has most of it, and on how many there is any.
void AddEarlierTimeLine(const std::vector<EarlierTime>& of_ranks, ScreenLines& lines);

/// A list of what ranks differ in: behind those of `front` the columns "min", "median" and
/// "max (rank)", each like `value`.
ScreenList SpreadList(std::vector<ScreenColumn> front, ScreenColumn value);
/// A line of it: the cells of `front`, then those of the ranks' values.
std::vector<Cell> SpreadCells(std::vector<Cell> front, const std::vector<RankValue>& values);

/// The ranks that stand out in what a screen lists, in a few lines.
class OutlierLines {
 public:
  /// `what` by rank; `text` gives a value with its unit.
  void Add(std::string_view what, const std::vector<RankValue>& values,
           const std::function<std::string(double)>& text);
  /// A line for each rank that stands out, with where it does so most. Those of the farthest ranks
  /// come first; further ranks are counted.
  void AppendTo(ScreenLines& lines) const;

 private:
  struct Outlier {
    RankId rank{};
    double distance;  ///< as a part of the median
    std::string text;
  };
  std::vector<Outlier> outliers_;
};

}  // namespace mpa
