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
#include "mpa/base/text.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

// Of a finding; programs get all of them.
constexpr std::size_t kMaxPlacesOfPage = 5;

class DiagnosisPageMaker {
 public:
  DiagnosisPageMaker(const Diagnosis& diagnosis, std::string_view captures)
      : diagnosis_(diagnosis), ms_(diagnosis.step), captures_(captures) {}

  Page Make() && {
    page_.title = Say("What slows the step down");
    AddFacts();
    for (const FindingSection section : kSections) AddFindings(section);
    AddAccount();
    for (PageSection& section : PictureSections(diagnosis_))
      page_.sections.push_back(std::move(section));
    AddHidden();
    AddInnocentCalls();
    AddNotJudged();
    return std::move(page_);
  }

 private:
  void AddFacts() {
    page_.lead = {VerdictText(diagnosis_), CaptureText(diagnosis_)};
    if (std::ranges::any_of(diagnosis_.findings, IsOfStep)) {
      page_.lead.push_back(Say("With all findings below fixed, the step takes {} instead of {} ms",
                               ms_(diagnosis_.step_after_fixes), ms_(diagnosis_.step)));
    }
    if (diagnosis_.on_host) page_.lead.push_back(OnHostText(*diagnosis_.on_host));
  }

  // A piece of the bar for each part of the step, and all categories below it.
  void AddAccount() {
    const std::optional<AccountRow> row = ShownAccount(diagnosis_);
    if (!row) return;
    PageSection section{.heading = Say("Where the time goes")};
    section.charts = AccountCharts(diagnosis_, *row, WhyRank(*row));
    section.tables.push_back(CategoriesOf(*row));
    if (diagnosis_.ranks.size() > 1) {
      section.tables.back().title =
          Say("All parts of the mean step of rank {}", RankName(row->rank));
    }
    page_.sections.push_back(std::move(section));
  }

  std::string WhyRank(const AccountRow& row) const {
    const std::string rank = RankName(row.rank), step = ms_(row.window);
    return IsBlamed(diagnosis_, row.rank)
               ? Say("Rank {} is shown because its step ({} ms) is nearest to that of the job",
                     rank, step)
               : Say("Rank {} is shown because no finding is about it alone, and its step ({} ms)"
                     " is nearest to that of the job",
                     rank, step);
  }

  PageTable CategoriesOf(const AccountRow& row) const {
    auto categories = row.categories;
    StableSort(categories, std::greater{}, [](const auto& category) { return category.second; });
    PageTable table{.title = Say("All parts"), .numbers = {2, 3}};
    for (const auto& [category, time] : categories) {
      const double share = row.window > 0 ? 100 * Share(time, row.window) : 0;
      table.rows.push_back({CategoryText(category), std::string(category), ms_(time) + " ms",
                            fmt::format("{:.1f} %", share)});
    }
    return table;
  }

  void AddFindings(FindingSection section) {
    PageSection shown{.heading = std::string(Translated(HeadingOf(section)))};
    for (const Finding& finding : diagnosis_.findings) {
      if (SectionOf(finding) == section) shown.cards.push_back(CardOf(finding));
    }
    if (!shown.cards.empty()) page_.sections.push_back(std::move(shown));
  }

  PageCard CardOf(const Finding& finding) const {
    PageCard card{.severity = std::string(NameOf(ImpactOf(diagnosis_, finding))),
                  .label = SeverityText(diagnosis_, finding),
                  .title = TitleOf(finding),
                  .gain = GainText(diagnosis_, finding)};
    card.facts = FactsText(finding, kAllColumns);
    card.advice = AdviceOf(finding);
    card.places = PlacesOf(finding);
    const auto add = [&](std::string_view command) {
      card.commands.push_back(
          fmt::format("msprof-analyze {} {} -d {}", command, ShellWord(finding.key), captures_));
    };
    add("advisor why");
    for (const auto& [key, around] : diagnosis_.pictures.places) {
      if (key != finding.key) continue;
      card.around = PageChart{.kind = PageChart::Kind::kTimeline,
                              .title = around.title,
                              .unit = "ms",
                              .timeline = around};
      add("export timeline --around");
    }
    return card;
  }

  PageTable PlacesOf(const Finding& finding) const {
    PageTable table{.title = Say("Where it shows"), .numbers = {2, 3, 4, 5, 6}};
    table.headers = {"rank",
                     Say("name"),
                     Say("calls a step"),
                     Say("ms a step"),
                     Say("% of the finding"),
                     Say("longest, ms"),
                     Say("start of it (ns)"),
                     Say("file")};
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
    return line.empty() || NamesLine(name, line) ? name : Say("{} at {}", name, line);
  }

  void AddHidden() {
    if (diagnosis_.hidden.empty()) return;
    PageTable table{.numbers = {1}};
    table.headers = {Say("cause"), Say("saves alone, ms"), Say("covered by")};
    for (const Finding& hidden : diagnosis_.hidden) {
      const std::string alone = hidden.if_uncaptured_ranks_do_too
                                    ? Say("{} if the others do the same", ms_(hidden.alone))
                                    : ms_(hidden.alone);
      table.rows.push_back(
          {TitleOf(hidden), alone, fmt::format("{}", fmt::join(hidden.after, ", "))});
    }
    page_.sections.push_back(
        {.heading = Say("Hidden: saves hardly anything once the findings are fixed"),
         .tables = {std::move(table)}});
  }

  void AddInnocentCalls() {
    if (diagnosis_.innocent_calls.empty()) return;
    PageTable table{.numbers = {1}};
    table.headers = {Say("call"), "ms", Say("it waits for what this finding delays")};
    for (const InnocentCall& call : diagnosis_.innocent_calls) {
      table.rows.push_back(
          {NameAndLine(call.name, call.line), ms_(call.cost),
           call.explained_by.empty() ? Say("the wait itself costs nothing") : call.explained_by});
    }
    page_.sections.push_back(
        {.heading = Say("Looks like a cause, but is not"), .tables = {std::move(table)}});
  }

  void AddNotJudged() {
    if (diagnosis_.not_judged.empty()) return;
    PageTable table;
    table.headers = {Say("finding"), Say("needs"), Say("how to record it")};
    for (const NotJudged& row : diagnosis_.not_judged) {
      table.rows.push_back(
          {std::string(row.type->id), NeedsText(row), std::string(Translated(row.hint))});
    }
    page_.sections.push_back({.heading = Say("Not judged"), .tables = {std::move(table)}});
  }

  const Diagnosis& diagnosis_;
  const MsText ms_;
  const std::string_view captures_;
  Page page_;
};

}  // namespace

Page DiagnosisPage(const Diagnosis& diagnosis, std::string_view captures) {
  return DiagnosisPageMaker(diagnosis, captures).Make();
}

}  // namespace mpa
