// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_charts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/report/finding_text.h"

namespace mpa {
namespace {

// Bars beyond that cannot be told apart.
constexpr std::size_t kMaxSteps = 60, kMaxBars = 64;

class ChartMaker {
 public:
  explicit ChartMaker(const Diagnosis& diagnosis) : diagnosis_(diagnosis) {}

  // Parts of each step of a rank.
  PageChart StepsOf(RankId rank) const {
    PageChart chart{.kind = PageChart::Kind::kStacked,
                    .title = Say("The steps of rank {}", RankName(rank)),
                    .unit = "ms",
                    .label = "step"};
    for (const AccountRow& row : diagnosis_.accounting) {
      if (row.rank == rank && chart.labels.size() < kMaxSteps)
        AddTo(row, row.step < 0 ? "" : std::to_string(row.step), chart);
    }
    return chart;
  }

  // Parts of the mean step of each rank.
  PageChart RanksChart() const {
    PageChart chart{.kind = diagnosis_.ranks.size() > kMaxBars ? PageChart::Kind::kHeat
                                                               : PageChart::Kind::kStacked,
                    .title = Say("The mean step of each rank"),
                    .unit = "ms",
                    .label = "rank"};
    std::map<RankId, std::pair<AccountRow, TimeNs>> sums;  // with the number of steps
    for (const AccountRow& row : diagnosis_.accounting) {
      auto& [sum, steps] = sums[row.rank];
      if (++steps == 1) {
        sum = row;
        continue;
      }
      sum.window += row.window;
      for (std::size_t i = 0; i < std::min(sum.categories.size(), row.categories.size()); ++i)
        sum.categories[i].second += row.categories[i].second;
    }
    for (auto& [rank, of_rank] : sums) {
      auto& [sum, steps] = of_rank;
      for (auto& category : sum.categories) category.second /= steps;
      AddTo(sum, RankName(rank), chart);
    }
    return chart;
  }

  // What the host did while the device had nothing to do.
  PageChart FreeChart(const AccountRow& row) const {
    std::vector<std::pair<std::string, TimeNs>> times;
    for (const auto& [category, time] : row.categories) {
      if (category.starts_with("free.") && time > 0)
        times.emplace_back(CategoryText(category), time);
    }
    StableSort(times, std::greater{}, [](const auto& bar) { return bar.second; });
    return Bars(Say("Device free, by what the host did then"), Say("the host"), Tint::kFree, times);
  }

  PageChart KernelsChart() const {
    return Bars(Say("Kernels that take most time, in the mean step of all ranks"), Say("type"),
                Tint::kCompute, diagnosis_.pictures.kernels);
  }

  PageChart WaitChart() const {
    return {.kind = PageChart::Kind::kTimeline,
            .title = Say("The longest wait for another rank"),
            .unit = "us",
            .timeline = diagnosis_.pictures.wait};
  }

  // A row and a column for each rank; of many ranks for so many neighbours, with their slowest
  // link.
  PageChart LinksChart() const {
    const std::vector<LinkPicture>& links = diagnosis_.pictures.links;
    std::map<RankId, std::size_t> places;
    for (const LinkPicture& link : links) {
      places.try_emplace(link.low);
      places.try_emplace(link.high);
    }
    const std::size_t share = (places.size() + kMaxBars - 1) / kMaxBars;
    PageChart chart{
        .kind = PageChart::Kind::kHeat,
        .title = share > 1 ? Say("How fast ranks moved data: the slowest link between {} and {}"
                                 " neighbours",
                                 share, share)
                           : Say("How fast each pair of ranks moved data"),
        .unit = "GB/s",
        .label = "rank"};
    std::size_t next = 0;
    for (auto& [rank, place] : places) {
      place = next++ / share;
      if (place == chart.labels.size()) chart.labels.push_back(RankName(rank));
    }
    for (const std::string& label : chart.labels) {
      chart.series.push_back({.name = label,
                              .values = std::vector<double>(
                                  chart.labels.size(), std::numeric_limits<double>::quiet_NaN()),
                              .tint = Tint::kTransfer});
    }
    for (const LinkPicture& link : links) {
      for (const auto& [from, to] : {std::pair{link.low, link.high}, {link.high, link.low}}) {
        double& speed = chart.series[places.at(from)].values[places.at(to)];
        speed = std::isnan(speed) ? link.speed : std::min(speed, link.speed);
      }
    }
    return chart;
  }

 private:
  PageChart Bars(std::string title, std::string label, Tint tint,
                 const std::vector<std::pair<std::string, TimeNs>>& bars) const {
    PageChart chart{.kind = PageChart::Kind::kBars,
                    .title = std::move(title),
                    .unit = "ms",
                    .label = std::move(label)};
    PageSeries times{.name = Say("time of the step"), .tint = tint};
    for (const auto& [name, time] : bars) {
      chart.labels.push_back(name);
      times.values.push_back(InMs(time));
    }
    chart.series.push_back(std::move(times));
    return chart;
  }

  void AddTo(const AccountRow& row, std::string label, PageChart& chart) const {
    chart.labels.push_back(std::move(label));
    const std::vector<StepShare> shares = SharesOf(row);
    if (chart.series.empty()) {
      for (const StepShare& share : shares)
        chart.series.push_back({.name = std::string(Translated(share.name)), .tint = share.tint});
    }
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      chart.series[i].values.push_back(i < shares.size() ? InMs(shares[i].time) : 0);
  }

  const Diagnosis& diagnosis_;
};

}  // namespace

std::vector<PageChart> AccountCharts(const Diagnosis& diagnosis, const AccountRow& row,
                                     const std::string& why) {
  const ChartMaker make(diagnosis);
  std::vector<PageChart> charts;
  if (diagnosis.ranks.size() > 1) charts.push_back(make.RanksChart());
  PageChart& steps = charts.emplace_back(make.StepsOf(row.rank));
  if (diagnosis.ranks.size() > 1) steps.note = why;
  if (PageChart free = make.FreeChart(row); !free.labels.empty()) charts.push_back(std::move(free));
  return charts;
}

std::vector<PageSection> PictureSections(const Diagnosis& diagnosis) {
  const ChartMaker make(diagnosis);
  const JobPictures& pictures = diagnosis.pictures;
  std::vector<PageSection> sections;
  if (pictures.wait) {
    sections.push_back({.heading = Say("The longest wait"), .charts = {make.WaitChart()}});
  }
  PageSection section{.heading = Say("Kernels and links")};
  if (!pictures.kernels.empty()) section.charts.push_back(make.KernelsChart());
  if (pictures.roofline) section.charts.push_back(*pictures.roofline);
  if (!pictures.links.empty()) section.charts.push_back(make.LinksChart());
  if (!section.charts.empty()) sections.push_back(std::move(section));
  return sections;
}

}  // namespace mpa
