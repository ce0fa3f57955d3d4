// SPDX-License-Identifier: Apache-2.0
// What the diagnosis of a job tells a timeline of its ranks.
#include "mpa/diagnosis/timeline_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "diagnose.h"
#include "mpa/base/error.h"
#include "mpa/base/rank.h"
#include "mpa/base/text.h"
#include "mpa/diagnosis/job/operations.h"
#include "mpa/diagnosis/part/part.h"
#include "mpa/diagnosis/recipe.h"
#include "mpa/diagnosis/report/finding_text.h"
#include "mpa/diagnosis/report/outputs.h"
#include "mpa/diagnosis/report/pictures.h"

namespace mpa {
namespace {

// Tables of Evidence::table with times of the host.
bool IsOnHost(std::string_view table) {
  return IsOneOf(table, {"host_ops", "PYTORCH_API", "host_calls", "CANN_API", "garbage_collections",
                         "GC_RECORD", "system_calls", "lock_uses", "thread_states"});
}

// The finding with the key, or with that number on the screen of `advisor all`.
const Finding& FindingAround(const Diagnosis& diagnosis, const std::string& asked) {
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    if (std::to_string(i + 1) == asked) return diagnosis.findings[i];
  }
  return FindingAsked(diagnosis, asked);
}

class Planner {
 public:
  Planner(const std::vector<DiagnosedRank>& ranks, const Thresholds& thresholds,
          const std::string& around, const AbsentRanks& absent)
      : ranks_(ranks),
        diagnosis_(Diagnose(ranks, thresholds, "", false, absent)),
        joined_(JoinOperations(ranks, thresholds)) {
    plan_.first_step = std::numeric_limits<TimeNs>::max();
    for (RankIndex rank; rank < ranks.size(); ++rank) AddRank(rank);
    if (plan_.first_step == std::numeric_limits<TimeNs>::max()) plan_.first_step = 0;
    for (std::size_t i = 0; i < diagnosis_.findings.size(); ++i) AddMarks(i);
    NoteClocks();
    if (!around.empty()) plan_.focus = FocusOn(FindingAround(diagnosis_, around));
  }

  TimelinePlan Take() && { return std::move(plan_); }

 private:
  void AddRank(RankIndex rank) {
    TimelinePlan::Rank& planned = plan_.ranks.emplace_back();
    planned.rank = ranks_[rank].rank;
    planned.clock = joined_.clock[rank];
    for (const StepPart& step : ranks_[rank].part->steps) {
      planned.steps.push_back({step.id, {step.begin, step.end}});
      plan_.first_step = std::min(plan_.first_step, planned.clock.Convert(step.begin));
    }
  }

  // At each of its places; on ranks of a finding without any at the begin of its step.
  void AddMarks(std::size_t number) {
    const Finding& finding = diagnosis_.findings[number];
    if (!IsOfStep(finding)) return;
    TimelinePlan::Mark mark;
    mark.name = fmt::format("{} {}", number + 1, finding.key);
    const auto described = [&] {
      mark.details = {{"finding", TitleOf(finding)}, {"gain", GainText(diagnosis_, finding)}};
    };
    for (const Evidence& place : finding.evidence) {
      mark.rank = place.rank;
      mark.time = place.start;
      mark.on_host = IsOnHost(place.table);
      described();
      mark.details.emplace_back("where", AtLine(place.name, place.line, kAllColumns));
      mark.details.emplace_back("takes_us", fmt::format("{:.3f}", InUs(place.dur)));
      plan_.marks.push_back(mark);
    }
    const std::size_t step = SceneOf(ranks_, diagnosis_, finding).step;
    for (const DiagnosedRank& rank : ranks_) {
      const bool shown = !finding.Concerns(rank.rank) || step >= rank.part->steps.size() ||
                         std::ranges::any_of(finding.evidence, [&](const Evidence& place) {
                           return place.rank == rank.rank;
                         });
      if (shown) continue;
      mark.rank = rank.rank;
      mark.time = rank.part->steps[step].begin;
      mark.on_host = false;
      described();
      plan_.marks.push_back(mark);
    }
  }

  void NoteClocks() {
    std::vector<RankId> unknown;
    for (RankIndex rank = 1; rank < ranks_.size(); ++rank) {
      if (joined_.clock_root[rank] != joined_.clock_root[0]) unknown.push_back(ranks_[rank].rank);
    }
    if (!unknown.empty()) {
      constexpr std::size_t kNamed = 8;
      const std::size_t more = unknown.size() - std::min(unknown.size(), kNamed);
      unknown.resize(unknown.size() - more);
      const std::string names = RankNames(unknown, ", "), base = RankName(ranks_[0].rank);
      plan_.notes.push_back(
          unknown.size() == 1
              ? Say("no collectives tell how the clock of rank {} differs from that of rank {}:"
                    " times are shown as recorded, or with the first steps at one moment where the"
                    " ranks have no time in common",
                    names, base)
              : Say("no collectives tell how the clocks of ranks {} differ from that of rank {}:"
                    " times are shown as recorded, or with the first steps at one moment where the"
                    " ranks have no time in common",
                    more == 0 ? names : Say("{} and {} more", names, more), base));
    }
    const std::string doubts = ClockText(diagnosis_);
    if (!doubts.empty()) plan_.notes.push_back(doubts);
  }

  TimelinePlan::Focus FocusOn(const Finding& finding) const {
    TimelinePlan::Focus focus;
    focus.key = finding.key;
    const FindingScene scene = SceneOf(ranks_, diagnosis_, finding);
    for (const RankIndex rank : scene.ranks) focus.ranks.push_back(ranks_[rank].rank);
    std::ranges::sort(focus.ranks);
    focus.file_name = TimelineName(finding);
    for (const RankIndex rank : scene.ranks) {
      const std::vector<StepPart>& steps = ranks_[rank].part->steps;
      if (scene.step >= steps.size()) continue;
      const ClockLine& clock = joined_.clock[rank];
      const Interval step{clock.Convert(steps[scene.step].begin),
                          clock.Convert(steps[scene.step].end)};
      const bool first = focus.step == Interval{};
      focus.step = {first ? step.begin : std::min(focus.step.begin, step.begin),
                    first ? step.end : std::max(focus.step.end, step.end)};
    }
    focus.place = WindowOfPlace(finding).value_or(focus.step);
    return focus;
  }

  std::optional<Interval> WindowOfPlace(const Finding& finding) const {
    for (const Evidence& place : finding.evidence) {
      const auto rank = std::ranges::find(ranks_, place.rank, &DiagnosedRank::rank);
      if (rank == ranks_.end()) continue;
      const ClockLine& clock = joined_.clock[static_cast<std::size_t>(rank - ranks_.begin())];
      return WindowAround(clock.Convert(place.start), place.dur);
    }
    return std::nullopt;
  }

  const std::vector<DiagnosedRank>& ranks_;
  const Diagnosis diagnosis_;
  const JobOperations joined_;
  TimelinePlan plan_;
};

}  // namespace

const TimelinePlan::Rank* TimelinePlan::Find(RankId rank) const {
  const auto found = std::ranges::find(ranks, rank, &Rank::rank);
  return found == ranks.end() ? nullptr : &*found;
}

TimelinePlan PlanTimeline(const std::vector<RankPart>& parts, const RecipeArguments& arguments,
                          const std::string& around, const AbsentRanks& absent) {
  const std::vector<DiagnosedRank> ranks = DiagnosedRanksOf(parts);
  return Planner(ranks, arguments[kRules], around, absent).Take();
}

}  // namespace mpa
