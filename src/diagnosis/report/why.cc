// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "chain_views.h"
#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/base/rank.h"
#include "mpa/diagnosis/job/metric_names.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

class Why : Speaker {
 public:
  Why(const Diagnosis& diagnosis, const Finding& finding, Language language)
      : Speaker(language), diagnosis_(diagnosis), finding_(finding), ms_(diagnosis.step) {}

  std::vector<std::string> Make(std::size_t places) && {
    const std::string gain = GainText(diagnosis_, finding_, language_);
    Add(gain.empty() ? Wording{"{} {}", "{} {}"} : Wording{"{} {}: {}", "{} {}：{}"},
        SeverityText(diagnosis_, finding_), TitleOf(finding_, language_), gain);
    Add({"  gain       {} ms of a step of {} ms; alone {} ms; at most {} ms",
         "  收益       step {1} ms 中可省 {0} ms；单独解决 {2} ms；最多 {3} ms"},
        ms_(finding_.gain), ms_(diagnosis_.step), ms_(finding_.alone), ms_(finding_.gain_max));
    if (IsOfStep(finding_)) Add({"  kind       {}", "  类别       {}"}, KindText());
    Add({"  sure       {}", "  置信度     {}"}, CertaintyText());
    Add({"  ranks      {}", "  卡         {}"}, finding_.ranks.empty() && !finding_.absent
                                                    ? Text({"all", "全部"})
                                                    : CulpritsText(finding_, language_));
    Add({"  steps      {}", "  step       {}"}, StepsText());
    if (!finding_.category.empty()) {
      Add({"  mostly in  {} ({})", "  主要在     {}（{}）"},
          CategoryText(finding_.category, language_), finding_.category);
    }
    AddMetrics();
    AddSetting();
    for (const WhyLine& line : ChainLines(finding_, ms_, language_, Room()))
      AddLine(line.label, line.text);
    AddHiding();
    AddPlaces(places);
    Add({"  looked at  {}", "  依据       {}"}, Text(finding_.type->looked_at));
    Add({"  not if     {}", "  排除条件   {}"}, Text(finding_.type->refuted_by));
    Add({"  -> {}", "  -> {}"}, AdviceOf(finding_, language_));
    return std::move(lines_);
  }

 private:
  template <typename... Values>
  void Add(const Wording& form, const Values&... values) {
    constexpr std::size_t kIndent = 13;
    for (std::string& line : Wrapped(Fill(form, values...), kIndent)) {
      lines_.push_back(std::move(line));
    }
  }

  std::string KindText() const {
    return IsFault(finding_) ? Text({"fault: deviates from what is normal", "问题：偏离正常情况"})
                             : Text({"works as written, could be faster", "可优化项：可以更快"});
  }

  std::string CertaintyText() const {
    static constexpr Wording kNames[] = {{"low", "低"}, {"medium", "中"}, {"high", "高"}};
    return Text(kNames[static_cast<std::size_t>(finding_.confidence)]);
  }

  std::string StepsText() const {
    constexpr std::size_t kMaxSteps = 12;
    const std::size_t shown = std::min(kMaxSteps, finding_.steps.size());
    std::string text = fmt::format(
        "{}", fmt::join(finding_.steps.begin(),
                        finding_.steps.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < finding_.steps.size()) text += ", ...";
    const std::string of =
        Fill({"{} of {}: ", "{}/{}："}, finding_.steps.size(), diagnosis_.steps.size());
    const bool has_steps = !finding_.steps.empty() && finding_.steps.front() >= 0;
    return has_steps ? of + text : Text({"the whole capture", "整个采集"});
  }

  void AddMetrics() {
    for (const Metric& metric : finding_.metrics) {
      const std::string text = FactText(finding_, metric, language_);
      if (text.empty()) continue;
      if (metric.info == &kIfOthersCame) {
        Add({"  assumed    {}", "  假设       {}"}, text);
      } else {
        Add({"  measured   {}", "  实测       {}"}, text);
      }
    }
  }

  void AddSetting() {
    if (!finding_.setting) return;
    for (const auto& [value, ranks] : finding_.setting->values) {
      Add({"  set        {} on {}", "  取值       {}：{}"},
          value.empty() ? Text({"no value", "未设置"}) : Printable(value),
          RankList(ranks).Text(RankList::kMostRuns, language_));
    }
    if (!finding_.setting->serves.empty())
      Add({"  adds to    {}", "  影响       {}"}, Printable(finding_.setting->serves));
  }

  // What has to be fixed first, and what shows once this is fixed.
  void AddHiding() {
    for (const std::string& key : finding_.after)
      Add({"  hidden by  {}", "  被掩盖于   {}"}, Printable(key));
    for (const Finding& other : diagnosis_.findings) {
      const bool hides = std::ranges::find(other.after, finding_.key) != other.after.end();
      if (hides) Add({"  hides      {}", "  掩盖了     {}"}, Printable(other.key));
    }
    for (const Finding& other : diagnosis_.hidden) {
      const bool covers = std::ranges::find(other.after, finding_.key) != other.after.end();
      if (covers && other.if_uncaptured_ranks_do_too)
        Add({"  covers     {}: up to {} ms if the other ranks do the same",
             "  覆盖了     {}：若其他卡相同，最多可省 {} ms"},
            Printable(other.key), ms_(other.alone));
      if (covers && !other.if_uncaptured_ranks_do_too)
        Add({"  covers     {}: alone {} ms, hardly anything more after this",
             "  覆盖了     {}：单独可省 {} ms，本项解决后几乎无额外收益"},
            Printable(other.key), ms_(other.alone));
    }
    for (const InnocentCall& call : diagnosis_.innocent_calls) {
      if (call.explained_by != finding_.key) continue;
      Add({"  explains   {}, {} ms", "  可解释     {}，{} ms"},
          AtLine(call.name, call.line, language_, Room() - 12), ms_(call.cost));
    }
  }

  void AddPlaces(std::size_t most) {
    if (finding_.setting) {
      Add({"  where      profiler_metadata.json of the captures, META_DATA of databases",
           "  位置       采集目录的 profiler_metadata.json，或数据库的 META_DATA"});
      return;
    }
    if (finding_.evidence.empty()) {
      Add({"  where      the capture does not say", "  位置       采集数据无法定位"});
      return;
    }
    std::map<RankId, std::string> captures;
    const std::size_t shown = std::min(most, finding_.evidence.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const Evidence& place = finding_.evidence[i];
      captures[place.rank] = place.capture;
      const std::string label = i == 0 ? Text({"where", "位置"}) : "";
      const std::string peer =
          place.peer < 0 ? "" : Fill({" for rank {}", "，对端 rank {}"}, RankName(place.peer));
      const std::string rank = fmt::format("rank {}: ", RankName(place.rank));
      const std::string name = place.op.empty() ? place.name : place.op + ": " + place.name;
      AddLine(label,
              rank + AtLine(name, place.line, language_, Room() - rank.size() - ColumnsOf(peer)) +
                  peer);
      AddLine("",
              Fill({"  {} of {} a step{}", "  每个 step {1} 中的 {0}{2}"},
                   TimeWithUnit(ms_, place.time), TimeWithUnit(ms_, place.of_all), CallsOf(place)));
      AddLine("", Fill({"  longest {} at {} ns, {}: {}", "  最长 {}，起始 {} ns，{}：{}"},
                       TimeWithUnit(ms_, place.dur), place.start, place.source, place.table));
    }
    if (finding_.evidence.size() > shown) {
      AddLine("", Fill({"{} more: --evidence N", "另有 {} 处，见 --evidence N"},
                       finding_.evidence.size() - shown));
    }
    for (const auto& [rank, capture] : captures)
      AddLine("", fmt::format("rank {}: {}", RankName(rank), Printable(capture)));
  }

  // ", 2 calls"; left out where the number is too small to matter.
  std::string CallsOf(const Evidence& place) const {
    const bool is_part = place.calls < 10 && std::abs(place.calls - std::round(place.calls)) > 0.05;
    const std::string calls = fmt::format("{:.{}f}", place.calls, is_part ? 1 : 0);
    if (calls == "0") return "";
    return Fill({calls == "1" ? ", {} call" : ", {} calls", "，{} 次"}, calls);
  }

  static std::size_t Room() { return ScreenColumns() - 13; }  // behind a label

  // A label of ten columns, then the text.
  void AddLine(const std::string& label, const std::string& text) {
    lines_.push_back(fmt::format("  {} {}", PaddedBehind(label, 10), text));
  }

  const Diagnosis& diagnosis_;
  const Finding& finding_;
  const MsText ms_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> WhyLines(const Diagnosis& diagnosis, const Finding& finding,
                                  Language language, std::size_t places) {
  return Why(diagnosis, finding, language).Make(places);
}

}  // namespace mpa
