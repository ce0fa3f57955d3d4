// SPDX-License-Identifier: Apache-2.0
#include "mpa/recipe/rank_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/base/text.h"
#include "mpa/report/report.h"

namespace mpa {

std::string NoDeviceWorkNote(RankId rank) {
  return Say(
      "rank {}: no device work was recorded, so nothing is judged; collect with the activity NPU,"
      " or CUDA on a GPU",
      RankName(rank));
}

void AddEarlierTimeLine(const std::vector<EarlierTime>& of_ranks, ScreenLines& lines) {
  const auto most = std::ranges::max_element(of_ranks, {}, &EarlierTime::time);
  if (most == of_ranks.end() || most->time <= 0) return;
  lines.push_back(EarlierTimeText(*most));
  const auto affected =
      std::ranges::count_if(of_ranks, [](const EarlierTime& earlier) { return earlier.time > 0; });
  if (affected > 1) lines.push_back(Say("  on {}, that is the longest", Counted(affected, "rank")));
}

ScreenList SpreadList(std::vector<ScreenColumn> front, ScreenColumn value) {
  for (const char* header : {"min", "median", "max (rank)"}) {
    value.header = header;
    front.push_back(value);
  }
  front.push_back(ScreenText(""));
  return {2, std::move(front)};
}

std::vector<Cell> SpreadCells(std::vector<Cell> front, const std::vector<RankValue>& values) {
  const RankSpread spread = SpreadOf(values);
  front.insert(front.end(), {spread.min.value, spread.median, spread.max.value,
                             fmt::format("({})", RankName(spread.max.rank))});
  return front;
}

void OutlierLines::Add(std::string_view what, const std::vector<RankValue>& values,
                       const std::function<std::string(double)>& text) {
  const std::vector<RankValue> outliers = OutliersOf(values);
  if (outliers.empty()) return;
  const double median = SpreadOf(values).median;
  for (const RankValue& outlier : outliers) {
    const double change = median != 0 ? (outlier.value - median) / std::abs(median)
                                      : std::numeric_limits<double>::infinity();
    outliers_.push_back(
        {outlier.rank, std::abs(change),
         Say("{}: {} instead of {}{}", ShortenName(Printable(what), NameColumns(20)),
             text(outlier.value), text(median),
             median != 0 ? fmt::format(" ({:+.1f} %)", 100 * change) : "")});
  }
}

void OutlierLines::AppendTo(ScreenLines& lines) const {
  constexpr std::size_t kMax = 5;
  std::vector<Outlier> farthest;  // of each rank
  for (const Outlier& outlier : outliers_) {
    const auto found = std::ranges::find(farthest, outlier.rank, &Outlier::rank);
    if (found == farthest.end()) {
      farthest.push_back(outlier);
    } else if (outlier.distance > found->distance) {
      *found = outlier;
    }
  }
  StableSort(farthest, std::greater(), &Outlier::distance);
  for (std::size_t i = 0; i < std::min(kMax, farthest.size()); ++i) {
    lines.push_back(Say("stands out: {}, {}", RankText(farthest[i].rank), farthest[i].text));
  }
  AddMoreLine(farthest.size(), kMax, "rank", lines);
}

}  // namespace mpa
