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

class Why {
 public:
  Why(const Diagnosis& diagnosis, const Finding& finding)
      : diagnosis_(diagnosis), finding_(finding), ms_(diagnosis.step) {}

  std::vector<std::string> Make(std::size_t places) && {
    const std::string gain = GainText(diagnosis_, finding_);
    const std::string title =
        fmt::format("{} {}", SeverityText(diagnosis_, finding_), TitleOf(finding_));
    Add(gain.empty() ? title : Say("{}: {}", title, gain));
    Add(Say("  gain       {} ms of a step of {} ms; alone {} ms; at most {} ms", ms_(finding_.gain),
            ms_(diagnosis_.step), ms_(finding_.alone), ms_(finding_.gain_max)));
    if (IsOfStep(finding_)) Add(Say("  kind       {}", KindText()));
    Add(Say("  sure       {}", CertaintyText()));
    Add(Say("  ranks      {}",
            finding_.ranks.empty() && !finding_.absent ? Say("all") : CulpritsText(finding_)));
    Add(Say("  steps      {}", StepsText()));
    if (!finding_.category.empty()) {
      Add(Say("  mostly in  {} ({})", CategoryText(finding_.category), finding_.category));
    }
    AddMetrics();
    AddSetting();
    for (const WhyLine& line : ChainLines(finding_, ms_, Room())) AddLine(line.label, line.text);
    AddHiding();
    AddPlaces(places);
    Add(Say("  looked at  {}", Translated(finding_.type->looked_at)));
    Add(Say("  not if     {}", Translated(finding_.type->refuted_by)));
    Add(Say("  -> {}", AdviceOf(finding_)));
    return std::move(lines_);
  }

 private:
  void Add(const std::string& text) {
    constexpr std::size_t kIndent = 13;
    for (std::string& line : Wrapped(text, kIndent)) lines_.push_back(std::move(line));
  }

  std::string KindText() const {
    return IsFault(finding_) ? Say("fault: deviates from what is normal")
                             : Say("works as written, could be faster");
  }

  std::string CertaintyText() const {
    static constexpr std::string_view kNames[] = {"low", "medium", "high"};
    return std::string(Translated(kNames[static_cast<std::size_t>(finding_.confidence)]));
  }

  std::string StepsText() const {
    constexpr std::size_t kMaxSteps = 12;
    const std::size_t shown = std::min(kMaxSteps, finding_.steps.size());
    std::string text = fmt::format(
        "{}", fmt::join(finding_.steps.begin(),
                        finding_.steps.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown < finding_.steps.size()) text += ", ...";
    if (finding_.steps.empty() || finding_.steps.front() < 0) return Say("the whole capture");
    return Say("{} of {}: {}", finding_.steps.size(), diagnosis_.steps.size(), text);
  }

  void AddMetrics() {
    for (const Metric& metric : finding_.metrics) {
      const std::string text = FactText(finding_, metric);
      if (text.empty()) continue;
      if (metric.info == &kIfOthersCame) {
        Add(Say("  assumed    {}", text));
      } else {
        Add(Say("  measured   {}", text));
      }
    }
  }

  void AddSetting() {
    if (!finding_.setting) return;
    for (const auto& [value, ranks] : finding_.setting->values) {
      Add(Say("  set        {} on {}", value.empty() ? Say("no value") : Printable(value),
              RankList(ranks).Text(RankList::kMostRuns)));
    }
    if (!finding_.setting->serves.empty())
      Add(Say("  adds to    {}", Printable(finding_.setting->serves)));
  }

  // What has to be fixed first, and what shows once this is fixed.
  void AddHiding() {
    for (const std::string& key : finding_.after) Add(Say("  hidden by  {}", Printable(key)));
    for (const Finding& other : diagnosis_.findings) {
      const bool hides = std::ranges::find(other.after, finding_.key) != other.after.end();
      if (hides) Add(Say("  hides      {}", Printable(other.key)));
    }
    for (const Finding& other : diagnosis_.hidden) {
      const bool covers = std::ranges::find(other.after, finding_.key) != other.after.end();
      if (covers && other.if_uncaptured_ranks_do_too)
        Add(Say("  covers     {}: up to {} ms if the other ranks do the same", Printable(other.key),
                ms_(other.alone)));
      if (covers && !other.if_uncaptured_ranks_do_too)
        Add(Say("  covers     {}: alone {} ms, hardly anything more after this",
                Printable(other.key), ms_(other.alone)));
    }
    for (const InnocentCall& call : diagnosis_.innocent_calls) {
      if (call.explained_by != finding_.key) continue;
      Add(Say("  explains   {}, {} ms", AtLine(call.name, call.line, Room() - 12), ms_(call.cost)));
    }
  }

  void AddPlaces(std::size_t most) {
    if (finding_.setting) {
      Add(Say("  where      profiler_metadata.json of the captures, META_DATA of databases"));
      return;
    }
    if (finding_.evidence.empty()) {
      Add(Say("  where      the capture does not say"));
      return;
    }
    std::map<RankId, std::string> captures;
    const std::size_t shown = std::min(most, finding_.evidence.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const Evidence& place = finding_.evidence[i];
      captures[place.rank] = place.capture;
      const std::string label = i == 0 ? Say("where") : "";
      const std::string peer = place.peer < 0 ? "" : Say(" for rank {}", RankName(place.peer));
      const std::string rank = fmt::format("rank {}: ", RankName(place.rank));
      const std::string name = place.op.empty() ? place.name : place.op + ": " + place.name;
      AddLine(label,
              rank + AtLine(name, place.line, Room() - rank.size() - ColumnsOf(peer)) + peer);
      AddLine("", Say("  {} of {} a step{}", TimeWithUnit(ms_, place.time),
                      TimeWithUnit(ms_, place.of_all), CallsOf(place)));
      AddLine("", Say("  longest {} at {} ns, {}: {}", TimeWithUnit(ms_, place.dur), place.start,
                      place.source, place.table));
    }
    if (finding_.evidence.size() > shown) {
      AddLine("", Say("{} more: --evidence N", finding_.evidence.size() - shown));
    }
    for (const auto& [rank, capture] : captures)
      AddLine("", fmt::format("rank {}: {}", RankName(rank), Printable(capture)));
  }

  // ", 2 calls"; left out where the number is too small to matter.
  std::string CallsOf(const Evidence& place) const {
    const bool is_part = place.calls < 10 && std::abs(place.calls - std::round(place.calls)) > 0.05;
    const std::string calls = fmt::format("{:.{}f}", place.calls, is_part ? 1 : 0);
    if (calls == "0") return "";
    return calls == "1" ? Say(", 1 call") : Say(", {} calls", calls);
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
                                  std::size_t places) {
  return Why(diagnosis, finding).Make(places);
}

}  // namespace mpa
