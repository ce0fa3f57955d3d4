// SPDX-License-Identifier: Apache-2.0
#include "diagnosis_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "finding_text.h"
#include "metric_names.h"
#include "mpa/base/printable.h"

namespace mpa {
namespace {

// Of a finding; programs get all of them.
constexpr std::size_t kMostPlacesOfPage = 5;

constexpr std::string_view kStyle =
    ":root{color-scheme:light dark;--text:#1c2024;--dim:#60646c;--page:#fff;--card:#f5f6f8;--line:#d9dce1;"
    "--c0:#3e63dd;--c1:#e5484d;--c2:#ab4aba;--c3:#f76b15;--c4:#0d9488;--c5:#a3a8b3;"
    "--critical:#c62a2f;--high:#c4500a;--medium:#8f6400;--low:#3e63dd;--info:#60646c}"
    "@media(prefers-color-scheme:dark){:root{--text:#edeef0;--dim:#b0b4ba;--page:#111113;--card:#1b1c1f;--line:#363a3f;"
    "--critical:#ff9592;--high:#ffa057;--medium:#ffca16;--low:#9eb1ff;--info:#b0b4ba}}"
    "body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;padding:1.5em;max-width:60em;color:var(--text);background:var(--page)}"
    "h1{font-size:1.5em;margin:0}h2{font-size:1.15em;margin:1.8em 0 .6em}p{margin:.3em 0}.dim{color:var(--dim)}"
    ".bar{display:flex;height:1.8em;border-radius:4px;overflow:hidden;margin:.8em 0 .4em}.bar div{min-width:1px}"
    ".key{display:flex;flex-wrap:wrap;gap:.2em 1.4em}.key i{display:inline-block;width:.8em;height:.8em;border-radius:2px;"
    "margin-right:.4em}"
    "article{background:var(--card);border-left:4px solid var(--edge);border-radius:4px;padding:.7em 1em;margin:.7em 0}"
    "article h3{display:flex;flex-wrap:wrap;gap:.2em .8em;margin:0;font-size:1em}.gain{margin-left:auto}"
    ".severity{color:var(--edge)}table{border-collapse:collapse;font-size:.9em;margin:.5em 0}"
    "td,th{text-align:left;padding:.15em 1em .15em 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}"
    "td.n,th.n{text-align:right;white-space:nowrap}summary{cursor:pointer;color:var(--dim)}.scroll{overflow-x:auto}";

// Text between tags and in attributes.
std::string HtmlText(std::string_view text) {
  std::string escaped;
  for (const char letter : Printable(text)) {
    switch (letter) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += letter;
    }
  }
  return escaped;
}

class DiagnosisPageMaker {
 public:
  DiagnosisPageMaker(const Diagnosis& diagnosis, Language language)
      : of_(diagnosis), language_(language), ms_(diagnosis.step) {}

  std::string Make() && {
    const std::string title = Text({"What costs the step", "step 耗时诊断"});
    Add("<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n", language_ == Language::kChinese ? "zh" : "en");
    Add("<meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n");
    Add("<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n", title, kStyle, title);
    AddFacts();
    AddBar();
    for (const FindingSection section : kSections) AddFindings(section);
    if (std::none_of(of_.findings.begin(), of_.findings.end(), IsOfStep)) Add("<p>{}</p>\n", Text({"No finding above 1 % of the step.", "没有超过 step 1 % 的问题。"}));
    AddInnocents();
    AddNotJudged();
    Add("</body>\n</html>\n");
    return std::move(page_);
  }

 private:
  std::string Text(const Wording& text) const { return std::string(text.In(language_)); }
  template <typename... Values>
  void Add(std::string_view form, const Values&... values) {
    page_ += fmt::format(fmt::runtime(form), values...);
  }

  void AddFacts() {
    Add("<p>{}: <b>{} ms</b>", Text({"Step", "step 耗时"}), ms_(of_.step));
    if (!of_.findings.empty()) Add(", {} <b>{} ms</b>", Text({"after all of these", "全部解决后"}), ms_(of_.floor));
    Add("</p>\n<p class=\"dim\">{} {}", of_.ranks.size(), Text({"ranks", "卡"}));
    if (of_.steps.size() == 1) Add(", step {}", of_.steps[0]);
    if (of_.steps.size() > 1) Add(", step {}-{}", of_.steps.front(), of_.steps.back());
    if (!of_.level.empty()) Add(", {}", HtmlText(of_.level));
    Add("</p>\n");
  }

  // One piece of the bar for each part of the step.
  void AddBar() {
    const std::optional<AccountRow> row = ShownAccount(of_);
    if (!row) return;
    std::string bar, key;
    const std::vector<StepShare> shares = SharesOf(*row);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i].time <= 0) continue;
      const std::string text = fmt::format("{} {} ms ({} %)", shares[i].name.In(language_), ms_(shares[i].time), shares[i].percent);
      bar += fmt::format("<div style=\"flex:{} 0 0;background:var(--c{})\" title=\"{}\"></div>", shares[i].time, i, text);
      key += fmt::format("<span><i style=\"background:var(--c{})\"></i>{}</span>", i, text);
    }
    Add("<h2>{}{}</h2>\n", Text({"Where the time goes", "时间分布"}), row->rank < 0 ? "" : fmt::format(" (rank {})", row->rank));
    Add("<div class=\"bar\">{}</div>\n<div class=\"key\">{}</div>\n", bar, key);
    AddLeaves(*row);
  }

  void AddLeaves(const AccountRow& row) {
    auto leaves = row.leaves;
    std::stable_sort(leaves.begin(), leaves.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    Add("<details><summary>{}</summary><table>\n", Text({"All parts", "全部明细"}));
    for (const auto& [leaf, time] : leaves) {
      const double share = row.window > 0 ? 100 * static_cast<double>(time) / static_cast<double>(row.window) : 0;
      Add("<tr><td>{}</td><td class=\"dim\">{}</td><td class=\"n\">{} ms</td><td class=\"n\">{:.1f} %</td></tr>\n",
          LeafText(leaf, language_), leaf, ms_(time), share);
    }
    Add("</table></details>\n");
  }

  void AddFindings(FindingSection section) {
    bool any = false;
    for (std::size_t i = 0; i < of_.findings.size(); ++i) {
      if (SectionOf(of_.findings[i]) != section) continue;
      if (!any) Add("<h2>{}</h2>\n", Text(HeadingOf(section)));
      any = true;
      AddFinding(of_.findings[i], i + 1);
    }
  }

  void AddFinding(const FoundCause& finding, std::size_t number) {
    const std::string_view severity = NameOf(ImpactOf(of_, finding));
    Add("<article style=\"--edge:var(--{})\">\n<h3><span>{}</span><span class=\"severity\">{}</span>", severity, number,
        SeverityText(of_, finding));
    Add("<span>{}</span><span class=\"gain\">{}</span></h3>\n", HtmlText(TitleOf(finding, language_)),
        GainText(of_, finding, language_));
    std::string facts;
    for (const Metric& metric : finding.metrics) {
      const std::string fact = MetricText(metric, language_);
      if (!fact.empty()) facts += (facts.empty() ? "" : language_ == Language::kChinese ? "，" : ", ") + fact;
    }
    if (!facts.empty()) Add("<p>{}</p>\n", HtmlText(facts));
    Add("<p><b>&rarr; {}</b></p>\n", HtmlText(AdviceOf(finding, language_)));
    AddPlaces(finding);
    Add("<p class=\"dim\"><code>advisor why {}</code></p>\n</article>\n", HtmlText(finding.key));
  }

  void AddPlaces(const FoundCause& finding) {
    if (finding.evidence.empty()) return;
    Add("<details><summary>{}</summary><div class=\"scroll\"><table>\n", Text({"Where it shows", "出现位置"}));
    Add("<tr><th>rank</th><th>{}</th><th class=\"n\">ms</th><th class=\"n\">{} (ns)</th><th>{}</th></tr>\n",
        Text({"name", "名称"}), Text({"start", "起始"}), Text({"file", "文件"}));
    for (std::size_t i = 0; i < std::min(kMostPlacesOfPage, finding.evidence.size()); ++i) {
      const Evidence& place = finding.evidence[i];
      Add("<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}: {}</td></tr>\n", place.rank,
          HtmlText(place.name), ms_(place.dur), place.start, HtmlText(place.source), HtmlText(place.table));
    }
    Add("</table></div></details>\n");
  }

  void AddInnocents() {
    if (of_.not_causes.empty()) return;
    Add("<h2>{}</h2>\n<table>\n", Text({"Looks guilty, is not a cause", "看似问题但不是原因"}));
    Add("<tr><th>{}</th><th class=\"n\">ms</th><th>{}</th></tr>\n", Text({"call", "调用"}), Text({"it waits for what this delays", "在等它造成的延迟"}));
    for (const NotACause& innocent : of_.not_causes) {
      Add("<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n", HtmlText(innocent.name), ms_(innocent.cost),
          innocent.explained_by.empty() ? Text({"nothing waits for it", "没有任务在等它"}) : HtmlText(innocent.explained_by));
    }
    Add("</table>\n");
  }

  void AddNotJudged() {
    if (of_.not_judged.empty()) return;
    Add("<h2>{}</h2>\n<table>\n", Text({"Not judged", "无法判断"}));
    Add("<tr><th>{}</th><th>{}</th><th>{}</th></tr>\n", Text({"finding", "问题"}), Text({"needs", "需要的数据"}), Text({"to be had by", "获取方式"}));
    for (const NotJudged& row : of_.not_judged) {
      Add("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", HtmlText(row.id), HtmlText(NeedText(row.needs, language_)), HtmlText(NeedText(row.hint, language_)));
    }
    Add("</table>\n");
  }

  const Diagnosis& of_;
  const Language language_;
  const MsText ms_;
  std::string page_;
};

}  // namespace

std::string DiagnosisPage(const Diagnosis& diagnosis, Language language) {
  return DiagnosisPageMaker(diagnosis, language).Make();
}

}  // namespace mpa
