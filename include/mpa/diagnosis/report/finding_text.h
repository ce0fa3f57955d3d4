// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpa/diagnosis/findings/diagnosis.h"
#include "mpa/report/page.h"

namespace mpa {

/// What findings stand under, in the order of the lists.
enum class FindingSection : std::uint8_t { kStep, kLatency, kSettings, kCapture };
inline constexpr FindingSection kSections[] = {FindingSection::kStep, FindingSection::kLatency,
                                               FindingSection::kSettings, FindingSection::kCapture};
FindingSection SectionOf(const Finding& finding);
/// True for a deviation from what is normal that costs time of the step.
bool IsFault(const Finding& finding);
/// "What the step loses"
std::string_view HeadingOf(FindingSection section);
/// True for findings that tell something of the step, not of settings and captures.
bool IsOfStep(const Finding& finding);

/// Times of a diagnosis in ms. A short step gets more decimals, so that its parts do not all read
/// 0.0.
class MsText {
 public:
  explicit MsText(TimeNs step);
  std::string operator()(TimeNs time) const;

 private:
  int decimals_;
};

/// "rank 5 computes slowly", "probably: ..." where it is not sure; with the ranks on which it shows
/// where none is the culprit.
std::string TitleOf(const Finding& finding);
/// The same without those, for lines about several jobs.
std::string ShortTitleOf(const Finding& finding);
/// What to do, the cheapest first; without what its ranks have set already.
std::string AdviceOf(const Finding& finding);
/// "saves 12.3 ms (4 %)", with what it saves alone where that differs.
std::string GainText(const Diagnosis& diagnosis, const Finding& finding);
/// "shapes of kernels", "shapes of kernels on rank 3": what was not recorded.
/// True for ranks that a fault is about. Their steps show the cause, those of the others what it
/// does.
bool IsBlamed(const Diagnosis& diagnosis, RankId rank);
/// The answer in one sentence: the first finding, with its ranks, and how much of the step a fix
/// saves. Without a finding it says so.
std::string VerdictText(const Diagnosis& diagnosis);

std::string NeedsText(const NotJudged& row);
/// "1 %": the share of the step that a finding saves at least.
std::string LeastShareText(const Thresholds& thresholds);
/// "CRITICAL".
std::string SeverityText(const Diagnosis& diagnosis, const Finding& finding);
/// More than any line has.
inline constexpr std::size_t kAllColumns = 1000;
/// What a metric says to people. Time is that of all places on the rank where it shows most, which
/// is named where others show it, too. Empty where only programs read the metric.
std::string FactText(const Finding& finding, const Metric& metric);
/// Where it shows most, and the first metrics that people read: as much as fits into the columns.
std::string FactsText(const Finding& finding, std::size_t columns);
/// "2 of 8 ranks, steps 10-14 (10 left out: warm-up), Level1".
std::string CaptureText(const Diagnosis& diagnosis);
/// What is said where nothing costs much.
std::string NoFindingText(const Diagnosis& diagnosis);
/// True for a frame of Python that has the line in its name: "train.py(90): step" and
/// "train.py:90".
bool NamesLine(const std::string& name, const std::string& line);
/// "aten::item at train.py:90", where the line is known and not in the name: in so many columns,
/// unless these are few.
std::string AtLine(const std::string& name, const std::string& line, std::size_t columns);
/// "data loader" of "free.dataloader"; the category itself where it has no words.
std::string CategoryText(std::string_view category);

/// "on the host of rank 3: 5 steps, median 12.345 ms; Python 40 %, operator calls 31 %"
std::string OnHostText(const StepsOnHost& host);

/// That clocks of ranks contradict each other; empty where they do not.
std::string ClockText(const Diagnosis& diagnosis);

/// The captured rank that came last to collectives by most, with its cost; empty where findings
/// name it, or the cost is below that of a finding.
std::string LateText(const Diagnosis& diagnosis);

/// What people should know of the diagnosis as a whole.
std::vector<std::string> NotesOf(const Diagnosis& diagnosis);

/// A part of a step.
struct StepShare {
  std::string_view name;
  TimeNs time = 0;
  int percent = 0;
  bool always = false;  ///< shown even if it is 0
  Tint tint{};
};

/// Compute, waiting, transfer, free and the rest of an account; the percents add up to 100.
std::vector<StepShare> SharesOf(const AccountRow& row);
/// The account that people see: the mean over the diagnosed steps, of the rank whose mean step is
/// nearest to that of the diagnosis; one that no fault is about, if there is any. Its categories
/// add up to its window.
std::optional<AccountRow> ShownAccount(const Diagnosis& diagnosis);

}  // namespace mpa
