// SPDX-License-Identifier: Apache-2.0
// The ranks that delay a job, in words.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "mpa/base/columns.h"
#include "mpa/base/language.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/recipe/culprits.h"

namespace mpa {
namespace {

constexpr std::size_t kShownCulprits = 3;

std::string MsOf(TimeNs time, TimeNs step) {
  return fmt::format("{:.{}f}", InMs(time), step >= 10'000'000 ? 1 : step >= 1'000'000 ? 2 : 3);
}

class CulpritWords {
 public:
  CulpritWords(const JobVerdict& verdict, const Culprit& culprit)
      : verdict_(verdict), culprit_(culprit), many_(culprit.ranks.size() > 1) {}

  std::string Text() const {
    const std::string own = Ms(culprit_.own), usual = Ms(culprit_.usual);
    const std::string cost = Ms(culprit_.cost), step = Ms(verdict_.step);
    switch (culprit_.part) {
      case LatePart::kUnknown:
        return Uncaptured();
      case LatePart::kStage:
        return Say(
            "the pipeline stage of {} has more work: it computes {} ms a step, the"
            " mean of the stages is {}; costs about {} of {} ms",
            Who(true), own, usual, cost, step);
      case LatePart::kFree:
        return many_ ? Say("{} hold up the others: their devices are free {} ms a step, those of"
                           " the others {}; the others wait {} of {} ms for them",
                           Who(true), own, usual, cost, step)
                     : Say("{} holds up the others: its device is free {} ms a step, theirs {};"
                           " they wait {} of {} ms for it",
                           Who(true), own, usual, cost, step);
      case LatePart::kCopies:
        return many_ ? Say("{} hold up the others: their copies without other work take {} ms a"
                           " step, those of the others {}; the others wait {} of {} ms for them",
                           Who(true), own, usual, cost, step)
                     : Say("{} holds up the others: its copies without other work take {} ms a"
                           " step, theirs {}; they wait {} of {} ms for it",
                           Who(true), own, usual, cost, step);
      case LatePart::kLink:
        return Say("slow link: {}", SlowLinkText(*culprit_.link));
      case LatePart::kComputing:
        break;
    }
    return many_ ? Say("{} hold up the others: they compute {} ms a step, the others {}{}; the"
                       " others wait {} of {} ms for them",
                       Who(true), own, usual, MorePercent(), cost, step)
                 : Say("{} holds up the others: it computes {} ms a step, they {}{}; they wait {}"
                       " of {} ms for it",
                       Who(true), own, usual, MorePercent(), cost, step);
  }

 private:
  std::string Ms(TimeNs time) const { return MsOf(time, verdict_.step); }
  std::string Who(bool captured) const {
    return LateRanksText(culprit_.ranks, captured, verdict_.lateness.absent);
  }
  std::string MorePercent() const {
    if (culprit_.usual <= 0) return "";
    const double more = PercentOf(culprit_.own - culprit_.usual, culprit_.usual);
    if (culprit_.kind.empty()) return fmt::format(" (+{:.0f} %)", more);
    return Say(" (+{:.0f} %, mostly {})", more, culprit_.kind);
  }

  // Of several ranks that were not captured each has its own share of the waiting.
  std::string Uncaptured() const {
    const std::string who = Who(false);
    const TimeNs waiting = verdict_.waiting;
    const bool is_nearly_all = waiting > 0 && 3 * culprit_.cost >= 2 * waiting;
    const TimeNs time = is_nearly_all ? waiting : culprit_.cost;
    return 2 * time >= verdict_.step ? Say("most of the step is waiting for {}: {} of {} ms", who,
                                           Ms(time), Ms(verdict_.step))
                                     : Say("part of the step is waiting for {}: {} of {} ms", who,
                                           Ms(time), Ms(verdict_.step));
  }

  const JobVerdict& verdict_;
  const Culprit& culprit_;
  const bool many_;
};

}  // namespace

std::string CulpritText(const JobVerdict& verdict, const Culprit& culprit) {
  return CulpritWords(verdict, culprit).Text();
}

std::vector<std::string> NamesOfCulprits(const JobVerdict& verdict) {
  std::vector<std::string> names;
  for (const Culprit& culprit : verdict.culprits) {
    for (const RankId rank : culprit.ranks) names.push_back(RankName(rank));
  }
  return names;
}

void AddVerdictLines(const JobVerdict& verdict, ScreenLines& lines) {
  if (!verdict.judged || verdict.step <= 0) return;
  if (verdict.culprits.empty()) {
    lines.emplace_back(Say("no rank holds up the others by 1 % of the step"));
    return;
  }
  const std::size_t shown = std::min(kShownCulprits, verdict.culprits.size());
  for (std::size_t i = 0; i < shown; ++i) {
    AddSentence(CulpritText(verdict, verdict.culprits[i]), lines);
  }
}

void AddLateLines(const JobVerdict& verdict, std::size_t most, ScreenLines& lines) {
  // Without a culprit the ranks that come late in turn are told, if it costs something.
  const auto costs = [&](const LateRanks& late) {
    return verdict.culprits.empty() &&
           late.as_last >= verdict.LeastCost() * static_cast<TimeNs>(verdict.steps);
  };
  AddLatenessLines(verdict.lateness, most, lines, [&](const LateRanks& late) {
    return (verdict.HoldUp(late.ranks, late.captured) && late.sum >= verdict.LeastCost()) ||
           costs(late);
  });
}

}  // namespace mpa
