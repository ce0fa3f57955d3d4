// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mpa/diagnosis/job/metric_names.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

// Of a finding; programs get all of them.
constexpr std::size_t kMaxPlacesOfPage = 5;
// Bars beyond that cannot be told apart.
constexpr std::size_t kMaxSteps = 60, kMaxBars = 64;

class DiagnosisPageMaker : Speaker {
 public:
  DiagnosisPageMaker(const Diagnosis& diagnosis, Language language)
      : Speaker(language), of_(diagnosis), ms_(diagnosis.step) {}

  Page Make() && {
    page_.language = language_ == Language::kChinese ? "zh" : "en";
    page_.title = Text({"What slows the step down", "step 耗时诊断"});
    AddFacts();
    AddAccount();
    for (const FindingSection section : kSections) AddFindings(section);
    if (std::ranges::none_of(of_.findings, IsOfStep)) {
      page_.sections.push_back({.heading = NoFindingText(of_, language_)});
    }
    AddPictures();
    AddHidden();
    AddInnocents();
    AddNotJudged();
    return std::move(page_);
  }

 private:
  void AddFacts() {
    std::string answer = fmt::format("{}: {} ms", Text({"Step", "step 耗时"}), ms_(of_.step));
    if (of_.accounting.empty())
      answer = Text(
          {"No device work was recorded: nothing is judged", "未采集到设备任务，不作任何判断"});
    if (!of_.findings.empty()) {
      answer +=
          fmt::format(", {} {} ms", Text({"after all of these", "全部解决后"}), ms_(of_.floor));
    }
    page_.lead = {std::move(answer), CaptureText(of_, language_)};
  }

  // A piece of the bar for each part of the step, and all categories below it.
  void AddAccount() {
    const std::optional<AccountRow> row = ShownAccount(of_);
    if (!row) return;
    PageSection section{.heading = Text({"Where the time goes", "时间分布"})};
    if (of_.ranks.size() > 1)
      section.heading += fmt::format(" (rank {}: {} ms)", row->rank, ms_(row->window));
    section.charts.push_back(StepsOf(row->rank));
    if (of_.ranks.size() > 1) section.charts.push_back(RanksChart());
    if (PageChart free = FreeChart(*row); !free.labels.empty())
      section.charts.push_back(std::move(free));
    section.tables.push_back(CategoriesOf(*row));
    page_.sections.push_back(std::move(section));
  }

  // Parts of each step of a rank.
  PageChart StepsOf(std::int64_t rank) const {
    PageChart chart{.kind = PageChart::Kind::kStacked,
                    .title = Fill({"The steps of rank {}", "rank {} 的各个 step"}, rank),
                    .unit = "ms",
                    .label = "step"};
    for (const AccountRow& row : of_.accounting) {
      if (row.rank == rank && chart.labels.size() < kMaxSteps)
        AddTo(row, row.step < 0 ? "" : std::to_string(row.step), chart);
    }
    return chart;
  }

  // Parts of the mean step of each rank.
  PageChart RanksChart() const {
    PageChart chart{
        .kind = of_.ranks.size() > kMaxBars ? PageChart::Kind::kHeat : PageChart::Kind::kStacked,
        .title = Text({"The mean step of each rank", "各 rank 的平均 step"}),
        .unit = "ms",
        .label = "rank"};
    std::map<std::int64_t, std::pair<AccountRow, TimeNs>> sums;  // with the number of steps
    for (const AccountRow& row : of_.accounting) {
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
      AddTo(sum, std::to_string(rank), chart);
    }
    return chart;
  }

  // What the host did while the device had nothing to do.
  PageChart FreeChart(const AccountRow& row) const {
    PageChart chart{
        .kind = PageChart::Kind::kBars,
        .title = Text({"Device free, by what the host did then", "设备空闲时 host 的活动"}),
        .unit = "ms",
        .label = Text({"the host", "host"})};
    PageSeries times{.name = Text({"time of the step", "step 内时间"}), .tint = Tint::kFree};
    auto categories = row.categories;
    std::ranges::stable_sort(categories, std::greater{},
                             [](const auto& category) { return category.second; });
    for (const auto& [category, time] : categories) {
      if (!category.starts_with("free.") || time <= 0) continue;
      chart.labels.push_back(CategoryText(category, language_));
      times.values.push_back(InMs(time));
    }
    chart.series.push_back(std::move(times));
    return chart;
  }

  void AddPictures() {
    const JobPictures& pictures = of_.pictures;
    if (pictures.wait) {
      PageChart chart{.kind = PageChart::Kind::kTimeline,
                      .title = Text({"The longest wait for another rank; the wheel, a drag, and "
                                     "the keys + - and arrows zoom",
                                     "等待其他卡最久的时刻；滚轮、拖动、+ - 和方向键可缩放"}),
                      .unit = "us",
                      .timeline = pictures.wait};
      // In the order of the picture.
      constexpr std::array<std::string_view, 6> kChinese = {
          "算子", "拷贝", "通信", "等待其他卡", "host 执行", "host 等待设备"};
      std::vector<TimelineKind>& kinds = chart.timeline->kinds;
      if (language_ == Language::kChinese && kinds.size() == kChinese.size()) {
        for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i].meaning = kChinese[i];
      }
      page_.sections.push_back(
          {.heading = Text({"The longest wait", "最长的等待"}), .charts = {std::move(chart)}});
    }
    PageSection section{.heading = Text({"Kernels and links", "算子与链路"})};
    if (!pictures.kernels.empty()) {
      PageChart chart{.kind = PageChart::Kind::kBars,
                      .title = Text({"Kernels that take most time, in the mean step of all ranks",
                                     "各 rank 平均 step 中耗时最多的算子"}),
                      .unit = "ms",
                      .label = Text({"type", "类型"})};
      PageSeries times{.name = Text({"time of the step", "step 内时间"}), .tint = Tint::kCompute};
      for (const auto& [type, time] : pictures.kernels) {
        chart.labels.push_back(type);
        times.values.push_back(InMs(time));
      }
      chart.series.push_back(std::move(times));
      section.charts.push_back(std::move(chart));
    }
    if (pictures.roofline) {
      PageChart chart = *pictures.roofline;
      if (language_ == Language::kChinese)
        chart.title = "各算子的算力与其每字节计算量；线为芯片上限";
      section.charts.push_back(std::move(chart));
    }
    if (!pictures.links.empty()) section.charts.push_back(LinksChart());
    if (!section.charts.empty()) page_.sections.push_back(std::move(section));
  }

  // A row and a column for each rank; of many ranks for so many neighbours, with their slowest
  // link.
  PageChart LinksChart() const {
    const std::vector<LinkPicture>& links = of_.pictures.links;
    std::map<std::int64_t, std::size_t> places;
    for (const LinkPicture& link : links) {
      places.try_emplace(link.low);
      places.try_emplace(link.high);
    }
    const std::size_t share = (places.size() + kMaxBars - 1) / kMaxBars;
    PageChart chart{
        .kind = PageChart::Kind::kHeat,
        .title = share > 1
                     ? Fill({"How fast ranks moved data: the slowest link between {} and {} "
                             "neighbours",
                             "rank 之间的传输带宽：每 {} 与 {} 个相邻 rank 间最慢的链路"},
                            share, share)
                     : Text({"How fast each pair of ranks moved data", "各对 rank 之间的传输带宽"}),
        .unit = "GB/s",
        .label = "rank"};
    std::size_t next = 0;
    for (auto& [rank, place] : places) {
      place = next++ / share;
      if (place == chart.labels.size()) chart.labels.push_back(std::to_string(rank));
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

  void AddTo(const AccountRow& row, std::string label, PageChart& chart) const {
    chart.labels.push_back(std::move(label));
    const std::vector<StepShare> shares = SharesOf(row);
    if (chart.series.empty()) {
      for (const StepShare& share : shares)
        chart.series.push_back({.name = Text(share.name), .tint = share.tint});
    }
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      chart.series[i].values.push_back(i < shares.size() ? InMs(shares[i].time) : 0);
  }

  PageTable CategoriesOf(const AccountRow& row) const {
    auto categories = row.categories;
    std::ranges::stable_sort(categories, std::greater{},
                             [](const auto& category) { return category.second; });
    PageTable table{.title = Text({"All parts", "全部明细"}), .numbers = {2, 3}};
    for (const auto& [category, time] : categories) {
      const double share = row.window > 0 ? 100 * Ratio(time, row.window) : 0;
      table.rows.push_back({CategoryText(category, language_), std::string(category),
                            ms_(time) + " ms", fmt::format("{:.1f} %", share)});
    }
    return table;
  }

  void AddFindings(FindingSection section) {
    PageSection shown{.heading = Text(HeadingOf(section))};
    for (const FoundCause& finding : of_.findings) {
      if (SectionOf(finding) == section) shown.cards.push_back(CardOf(finding));
    }
    if (!shown.cards.empty()) page_.sections.push_back(std::move(shown));
  }

  PageCard CardOf(const FoundCause& finding) const {
    PageCard card{.severity = std::string(NameOf(ImpactOf(of_, finding))),
                  .label = SeverityText(of_, finding),
                  .title = TitleOf(finding, language_),
                  .gain = GainText(of_, finding, language_)};
    for (const Metric& metric : finding.metrics) {
      const std::string fact = MetricText(metric, language_);
      if (fact.empty()) continue;
      if (!card.facts.empty()) card.facts += Text({", ", "，"});
      card.facts += fact;
    }
    if (finding.setting) card.facts = FactsText(finding, language_, kAllColumns);
    card.advice = AdviceOf(finding, language_);
    card.places = PlacesOf(finding);
    card.command = "advisor why " + finding.key;
    return card;
  }

  PageTable PlacesOf(const FoundCause& finding) const {
    PageTable table{.title = Text({"Where it shows", "出现位置"}), .numbers = {2, 3, 4, 5, 6}};
    table.headers = {"rank",
                     Text({"name", "名称"}),
                     Text({"calls a step", "每个 step 次数"}),
                     Text({"ms a step", "每个 step ms"}),
                     Text({"% of the finding", "占比 %"}),
                     Text({"longest, ms", "最长 ms"}),
                     Text({"start of it", "其起始"}) + " (ns)",
                     Text({"file", "文件"})};
    for (std::size_t i = 0; i < std::min(kMaxPlacesOfPage, finding.evidence.size()); ++i) {
      const Evidence& place = finding.evidence[i];
      const double share = place.of_all > 0 ? 100 * Ratio(place.time, place.of_all) : 0;
      table.rows.push_back({fmt::format("{}", place.rank), NameAndLine(place.name, place.line),
                            fmt::format("{:.1f}", place.calls), ms_(place.time),
                            fmt::format("{:.0f}", share), ms_(place.dur),
                            fmt::format("{}", place.start), place.source + ": " + place.table});
    }
    return table;
  }

  std::string NameAndLine(const std::string& name, const std::string& line) const {
    return line.empty() || NamesLine(name, line) ? name : name + Text({" at ", "，"}) + line;
  }

  void AddHidden() {
    if (of_.hidden.empty()) return;
    PageTable table{.numbers = {1}};
    table.headers = {Text({"cause", "原因"}), Text({"saves alone, ms", "单独可省 ms"}),
                     Text({"covered by", "被以下问题掩盖"})};
    for (const FoundCause& cause : of_.hidden) {
      const std::string alone =
          cause.if_others_do
              ? Fill({"{} if the others do the same", "{}（若其他卡相同）"}, ms_(cause.alone))
              : ms_(cause.alone);
      table.rows.push_back(
          {TitleOf(cause, language_), alone, fmt::format("{}", fmt::join(cause.after, ", "))});
    }
    page_.sections.push_back(
        {.heading = Text({"Hidden: hardly anything to save once the findings are fixed",
                          "被掩盖：解决上述问题后几乎无额外收益"}),
         .tables = {std::move(table)}});
  }

  void AddInnocents() {
    if (of_.not_causes.empty()) return;
    PageTable table{.numbers = {1}};
    table.headers = {Text({"call", "调用"}), "ms",
                     Text({"it waits for what this delays", "在等它造成的延迟"})};
    for (const Symptom& symptom : of_.not_causes) {
      table.rows.push_back({NameAndLine(symptom.name, symptom.line), ms_(symptom.cost),
                            symptom.explained_by.empty()
                                ? Text({"the wait itself costs nothing", "等待本身不增加耗时"})
                                : symptom.explained_by});
    }
    page_.sections.push_back(
        {.heading = Text({"Looks guilty, but is not a cause", "看似问题但不是原因"}),
         .tables = {std::move(table)}});
  }

  void AddNotJudged() {
    if (of_.not_judged.empty()) return;
    PageTable table;
    table.headers = {Text({"finding", "问题"}), Text({"needs", "需要的数据"}),
                     Text({"how to record it", "获取方式"})};
    for (const NotJudged& row : of_.not_judged) {
      table.rows.push_back({std::string(row.finding->id), Text(row.needs), Text(row.hint)});
    }
    page_.sections.push_back(
        {.heading = Text({"Not judged", "无法判断"}), .tables = {std::move(table)}});
  }

  const Diagnosis& of_;
  const MsText ms_;
  Page page_;
};

}  // namespace

Page DiagnosisPage(const Diagnosis& diagnosis, Language language) {
  return DiagnosisPageMaker(diagnosis, language).Make();
}

}  // namespace mpa
