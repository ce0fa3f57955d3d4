// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "diagnosis_charts.h"
#include "mpa/base/rank.h"
#include "mpa/base/stable_sort.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

// Of a finding; programs get all of them.
constexpr std::size_t kMaxPlacesOfPage = 5;

class DiagnosisPageMaker : Speaker {
 public:
  DiagnosisPageMaker(const Diagnosis& diagnosis, Language language, std::string_view captures)
      : Speaker(language), diagnosis_(diagnosis), ms_(diagnosis.step), captures_(captures) {}

  Page Make() && {
    page_.language = language_ == Language::kChinese ? "zh" : "en";
    page_.title = Text({"What slows the step down", "step 耗时诊断"});
    AddFacts();
    for (const FindingSection section : kSections) AddFindings(section);
    AddAccount();
    for (PageSection& section : PictureSections(diagnosis_, language_))
      page_.sections.push_back(std::move(section));
    AddHidden();
    AddInnocentCalls();
    AddNotJudged();
    return std::move(page_);
  }

 private:
  void AddFacts() {
    page_.lead = {VerdictText(diagnosis_, language_), CaptureText(diagnosis_, language_)};
    if (std::ranges::any_of(diagnosis_.findings, IsOfStep)) {
      page_.lead.push_back(
          Fill({"With all findings below fixed, the step takes {} instead of {} ms",
                "下列问题全部解决后，step 耗时由 {1} ms 降至 {0} ms"},
               ms_(diagnosis_.step_after_fixes), ms_(diagnosis_.step)));
    }
    if (diagnosis_.on_host) page_.lead.push_back(OnHostText(*diagnosis_.on_host, language_));
  }

  // A piece of the bar for each part of the step, and all categories below it.
  void AddAccount() {
    const std::optional<AccountRow> row = ShownAccount(diagnosis_);
    if (!row) return;
    PageSection section{.heading = Text({"Where the time goes", "时间分布"})};
    if (diagnosis_.ranks.size() > 1)
      section.heading += fmt::format(" (rank {}: {} ms)", RankName(row->rank), ms_(row->window));
    if (diagnosis_.ranks.size() > 1) section.points = {WhyRank(row->rank)};
    section.charts = AccountCharts(diagnosis_, *row, language_);
    section.tables.push_back(CategoriesOf(*row));
    page_.sections.push_back(std::move(section));
  }

  std::string WhyRank(RankId rank) const {
    return IsBlamed(diagnosis_, rank)
               ? Fill({"Rank {} is shown because its step is nearest to that of the job",
                       "所示为 rank {}：其 step 耗时最接近整个作业"},
                      RankName(rank))
               : Fill({"Rank {} is shown because no finding blames it, and its step is nearest to"
                       " that of the job",
                       "所示为 rank {}：不涉及任何问题，且其 step 耗时最接近整个作业"},
                      RankName(rank));
  }

  PageTable CategoriesOf(const AccountRow& row) const {
    auto categories = row.categories;
    StableSort(categories, std::greater{}, [](const auto& category) { return category.second; });
    PageTable table{.title = Text({"All parts", "全部明细"}), .numbers = {2, 3}};
    for (const auto& [category, time] : categories) {
      const double share = row.window > 0 ? 100 * Share(time, row.window) : 0;
      table.rows.push_back({CategoryText(category, language_), std::string(category),
                            ms_(time) + " ms", fmt::format("{:.1f} %", share)});
    }
    return table;
  }

  void AddFindings(FindingSection section) {
    PageSection shown{.heading = Text(HeadingOf(section))};
    for (const Finding& finding : diagnosis_.findings) {
      if (SectionOf(finding) == section) shown.cards.push_back(CardOf(finding));
    }
    if (!shown.cards.empty()) page_.sections.push_back(std::move(shown));
  }

  PageCard CardOf(const Finding& finding) const {
    PageCard card{.severity = std::string(NameOf(ImpactOf(diagnosis_, finding))),
                  .label = SeverityText(diagnosis_, finding),
                  .title = TitleOf(finding, language_),
                  .gain = GainText(diagnosis_, finding, language_)};
    card.facts = FactsText(finding, language_, kAllColumns);
    card.advice = AdviceOf(finding, language_);
    card.places = PlacesOf(finding);
    const auto add = [&](std::string_view command) {
      card.commands.push_back(
          fmt::format("msprof-analyze {} {} -d {}", command, finding.key, captures_));
    };
    add("advisor why");
    for (const auto& [key, around] : diagnosis_.pictures.places) {
      if (key != finding.key) continue;
      card.around = PageChart{.kind = PageChart::Kind::kTimeline,
                              .title = Say("Around the place"),
                              .unit = "ms",
                              .timeline = around};
      add("export timeline --around");
    }
    return card;
  }

  PageTable PlacesOf(const Finding& finding) const {
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
      const double share = place.of_all > 0 ? 100 * Share(place.time, place.of_all) : 0;
      table.rows.push_back({RankName(place.rank), NameAndLine(place.name, place.line),
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
    if (diagnosis_.hidden.empty()) return;
    PageTable table{.numbers = {1}};
    table.headers = {Text({"cause", "原因"}), Text({"saves alone, ms", "单独可省 ms"}),
                     Text({"covered by", "被以下问题掩盖"})};
    for (const Finding& hidden : diagnosis_.hidden) {
      const std::string alone =
          hidden.if_uncaptured_ranks_do_too
              ? Fill({"{} if the others do the same", "{}（若其他卡相同）"}, ms_(hidden.alone))
              : ms_(hidden.alone);
      table.rows.push_back(
          {TitleOf(hidden, language_), alone, fmt::format("{}", fmt::join(hidden.after, ", "))});
    }
    page_.sections.push_back(
        {.heading = Text({"Hidden: saves hardly anything once the findings are fixed",
                          "被掩盖：解决上述问题后几乎无额外收益"}),
         .tables = {std::move(table)}});
  }

  void AddInnocentCalls() {
    if (diagnosis_.innocent_calls.empty()) return;
    PageTable table{.numbers = {1}};
    table.headers = {Text({"call", "调用"}), "ms",
                     Text({"it waits for what this finding delays", "在等它造成的延迟"})};
    for (const InnocentCall& call : diagnosis_.innocent_calls) {
      table.rows.push_back({NameAndLine(call.name, call.line), ms_(call.cost),
                            call.explained_by.empty()
                                ? Text({"the wait itself costs nothing", "等待本身不增加耗时"})
                                : call.explained_by});
    }
    page_.sections.push_back(
        {.heading = Text({"Looks like a cause, but is not", "看似问题但不是原因"}),
         .tables = {std::move(table)}});
  }

  void AddNotJudged() {
    if (diagnosis_.not_judged.empty()) return;
    PageTable table;
    table.headers = {Text({"finding", "问题"}), Text({"needs", "需要的数据"}),
                     Text({"how to record it", "获取方式"})};
    for (const NotJudged& row : diagnosis_.not_judged) {
      table.rows.push_back({std::string(row.type->id), NeedsText(row, language_), Text(row.hint)});
    }
    page_.sections.push_back(
        {.heading = Text({"Not judged", "无法判断"}), .tables = {std::move(table)}});
  }

  const Diagnosis& diagnosis_;
  const MsText ms_;
  const std::string_view captures_;
  Page page_;
};

}  // namespace

Page DiagnosisPage(const Diagnosis& diagnosis, Language language, std::string_view captures) {
  return DiagnosisPageMaker(diagnosis, language, captures).Make();
}

}  // namespace mpa
