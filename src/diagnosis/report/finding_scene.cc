// SPDX-License-Identifier: Apache-2.0
// Where to look for a finding.
#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "mpa/base/rank.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "mpa/diagnosis/report/outputs.h"

namespace mpa {
namespace {

// Ranks that are shown; of many culprits the first ones.
constexpr std::size_t kMostLanes = 4;

// Rows of a rank in the trace.
enum TraceRow : int { kStepRow, kHostRow, kKernelRow, kCopyRow, kCollectiveRow, kFindingRow };

std::size_t CountSteps(const std::vector<DiagnosedRank>& ranks) {
  std::size_t steps = 0;
  for (const DiagnosedRank& rank : ranks) steps = std::max(steps, rank.part->steps.size());
  return steps;
}

class SceneFinder {
 public:
  SceneFinder(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
              const Finding& finding)
      : ranks_(ranks),
        diagnosis_(diagnosis),
        finding_(finding),
        categories_(CategoriesOf(finding)) {}

  FindingScene Find() const { return {ShownRanks(), WorstStep()}; }

 private:
  bool IsCulprit(RankId rank) const {
    return std::ranges::find(finding_.ranks, rank) != finding_.ranks.end();
  }

  // The step in which the categories of the finding take most on its ranks; of equal ones the
  // longest.
  std::size_t WorstStep() const {
    std::pair<TimeNs, TimeNs> most{-1, -1};
    std::size_t worst = 0;
    for (std::size_t step = 0; step < CountSteps(ranks_); ++step) {
      std::pair<TimeNs, TimeNs> cost{0, 0};
      for (const DiagnosedRank& rank : ranks_) {
        if (step >= rank.part->steps.size()) continue;
        const StepPart& part = rank.part->steps[step];
        cost.second = std::max(cost.second, part.end - part.begin);
        if (!finding_.ranks.empty() && !IsCulprit(rank.rank)) continue;
        for (const TimeCategory category : categories_)
          cost.first += part.categories[static_cast<std::size_t>(category)];
      }
      const bool counts =
          std::ranges::find(diagnosis_.dropped_steps, IdOf(step)) == diagnosis_.dropped_steps.end();
      if (counts && cost > most) {
        most = cost;
        worst = step;
      }
    }
    return worst;
  }

  std::int32_t IdOf(std::size_t step) const {
    for (const DiagnosedRank& rank : ranks_) {
      if (step < rank.part->steps.size()) return rank.part->steps[step].id;
    }
    return -1;
  }

  // The culprits, or the ranks of the places that show it, and one rank beside them.
  std::vector<std::size_t> ShownRanks() const {
    std::vector<std::size_t> shown;
    std::optional<std::size_t> peer;
    const auto is_place = [&](RankId rank) {
      return std::ranges::any_of(finding_.evidence,
                                 [&](const Evidence& place) { return place.rank == rank; });
    };
    const bool captured = std::ranges::any_of(
        ranks_, [&](const DiagnosedRank& rank) { return IsCulprit(rank.rank); });
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const bool wanted = captured ? IsCulprit(ranks_[i].rank) : is_place(ranks_[i].rank);
      if (wanted && shown.size() < kMostLanes) {
        shown.push_back(i);
      } else if (!wanted && !peer) {
        peer = i;
      }
    }
    if (peer) shown.push_back(*peer);
    return shown;
  }

  const std::vector<DiagnosedRank>& ranks_;
  const Diagnosis& diagnosis_;
  const Finding& finding_;
  const std::vector<TimeCategory> categories_;
};

}  // namespace

FindingScene SceneOf(const std::vector<DiagnosedRank>& ranks, const Diagnosis& diagnosis,
                     const Finding& finding) {
  return SceneFinder(ranks, diagnosis, finding).Find();
}

std::string TimelineName(const Finding& finding) {
  // Keys of jobs of thousands of ranks are longer than names of files may be.
  constexpr std::size_t kMaxLength = 100;
  std::string name = "timeline_" + finding.key.substr(0, kMaxLength);
  for (char& letter : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' ||
                       letter == '-' || letter == '+';
    if (!plain) letter = '_';
  }
  return name + ".json";
}

}  // namespace mpa
