// SPDX-License-Identifier: Apache-2.0
// The first screen of a diagnosis: where the step goes, what costs it, what to do.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mpa/base/columns.h"
#include "mpa/base/printable.h"
#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/diagnosis/job/metric_names.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"
#include "screen_lines.h"

namespace mpa {
namespace {

constexpr std::size_t kMaxLines = 25;

class Screen {
 public:
  Screen(const Diagnosis& diagnosis, const NextQuestion& next)
      : diagnosis_(diagnosis), ms_(diagnosis.step), next_(next) {}

  std::vector<std::string> Make(std::size_t most) && {
    if (IsNotJudged()) return NothingJudged();
    lines_ = AccountLines(diagnosis_);
    std::size_t shown = 0;
    FindingSection section = FindingSection::kStep;  // needs no heading
    for (const Finding& finding : diagnosis_.findings) {
      std::vector<std::string> block = Block(finding, shown + 1);
      const FindingSection of_finding = SectionOf(finding);
      if (of_finding != section)
        block.insert(block.begin(), Say("{}:", Translated(HeadingOf(of_finding))));
      if (shown == most || lines_.size() + block.size() + Below(shown + 1).size() > kMaxLines)
        break;
      section = of_finding;
      lines_.insert(lines_.end(), block.begin(), block.end());
      ++shown;
    }
    for (std::string& line : Below(shown)) lines_.push_back(std::move(line));
    return std::move(lines_);
  }

  // Without the findings.
  std::vector<std::string> MakeHead() && {
    if (IsNotJudged()) return NothingJudged();
    lines_ = AccountLines(diagnosis_);
    if (const std::string floor = FloorText(); !floor.empty()) lines_.push_back(floor);
    return std::move(lines_);
  }

 private:
  bool IsNotJudged() const { return !diagnosis_.ranks.empty() && diagnosis_.accounting.empty(); }

  std::vector<std::string> NothingJudged() const {
    std::vector<std::string> lines = Wrapped(
        Say("{}: no device work was recorded, so nothing is judged", CaptureText(diagnosis_)), 2);
    if (diagnosis_.on_host) {
      // What the host did has a line of its own.
      const std::string text = OnHostText(*diagnosis_.on_host), mark(Translated("; "));
      const std::size_t end = text.find(mark);
      lines.push_back("  " + text.substr(0, end));
      if (end != std::string::npos) lines.push_back("    " + text.substr(end + mark.size()));
    }
    if (!diagnosis_.not_judged.empty())
      lines.push_back(
          Say("    -> capture with {}", Translated(diagnosis_.not_judged.front().hint)));
    return lines;
  }

  // The step without what the findings save.
  std::string FloorText() const {
    if (diagnosis_.findings.empty() || !IsOfStep(diagnosis_.findings.front())) return "";
    return Say("After all of these{}: {} ms", NeededText(), ms_(diagnosis_.step_after_fixes));
  }

  std::vector<std::string> Block(const Finding& finding, std::size_t number) const {
    std::vector<std::string> block;
    const std::string head =
        fmt::format("{} {} ", number, PaddedBehind(SeverityText(diagnosis_, finding), 8));
    const std::string gain = GainText(diagnosis_, finding);
    const std::size_t column = GainColumn();
    const std::string title = head + TitleOf(finding);
    block = Wrapped(title, 11);
    if (!gain.empty()) {
      // A title that is longer than the common column still has its gain in its line if both fit.
      const std::size_t end = column + WidestGain(), own = end - ColumnsOf(gain);
      const bool fits = block.size() == 1 && ColumnsOf(title) < own;
      if (!fits) block.emplace_back();
      const bool in_column = ColumnsOf(block.back()) < column;
      block.back() = PaddedBehind(std::move(block.back()), in_column ? column : own) + gain;
    }
    const std::string facts = FactsText(finding, ScreenColumns() - 4);
    if (!facts.empty()) block.push_back("    " + facts);
    for (const Metric& metric : finding.metrics) {
      if (metric.info != &kIfOthersCame) continue;
      for (std::string& line : Wrapped("    " + MetricText(metric), 6))
        block.push_back(std::move(line));
    }
    for (std::string& line : Wrapped(fmt::format("    -> {}", AdviceOf(finding)), 7)) {
      block.push_back(std::move(line));
    }
    return block;
  }

  std::size_t WidestGain() const {
    std::size_t widest = 0;
    for (const Finding& finding : diagnosis_.findings) {
      widest = std::max(widest, ColumnsOf(GainText(diagnosis_, finding)));
    }
    return widest;
  }

  // Where what a fix saves stands in all blocks.
  std::size_t GainColumn() const {
    constexpr std::size_t kFarthest = 100;  // beyond this column, the eye loses the line
    return std::min(ScreenColumns(), kFarthest) - WidestGain();
  }

  // What follows the findings when so many of them are shown.
  std::vector<std::string> Below(std::size_t shown) const {
    std::vector<std::string> lines = LinesBelowFindings(diagnosis_, shown);
    for (std::string& line : NextLines()) lines.push_back(std::move(line));
    return lines;
  }

  // The last line can be pasted into a shell as it stands, and is not broken for that reason.
  std::vector<std::string> NextLines() const {
    if (diagnosis_.findings.empty()) return {};
    std::vector<std::string> lines;
    if (const std::string floor = FloorText(); !floor.empty()) lines = Wrapped(floor, 2);
    lines.push_back(
        Say("Next: msprof-analyze advisor why {} -d {}", next_.finding, next_.captures));
    return lines;
  }

  // Findings that are not here, and have to be fixed as well.
  std::string NeededText() const {
    if (diagnosis_.hiding_findings_not_shown.empty()) return "";
    const std::string first = Printable(diagnosis_.hiding_findings_not_shown.front().key);
    if (diagnosis_.hiding_findings_not_shown.size() == 1)
      return Say(" and {} of 'advisor all'", first);
    return Say(" and {}, {} more of 'advisor all'", first,
               diagnosis_.hiding_findings_not_shown.size() - 1);
  }

  const Diagnosis& diagnosis_;
  const MsText ms_;
  const NextQuestion& next_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> DiagnosisScreen(const Diagnosis& diagnosis, std::size_t findings,
                                         const NextQuestion& next) {
  return Screen(diagnosis, next).Make(findings);
}

std::vector<std::string> DiagnosisHead(const Diagnosis& diagnosis) {
  return Screen(diagnosis, {}).MakeHead();
}

}  // namespace mpa
