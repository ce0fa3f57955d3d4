// SPDX-License-Identifier: Apache-2.0
// Ranks that were not captured and hold up those that were: others saw them come, but did not see
// why.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "finders.h"
#include "mpa/diagnosis/causes/cause.h"

namespace mpa {
namespace {

struct Outsider {
  std::vector<std::int64_t> ranks;
  TimeNs worst = 0, sum = 0;  // behind the last of the others
  std::set<std::int32_t> steps;
  Removal removal;
};

class OutsiderCauses {
 public:
  OutsiderCauses(const Job& job, std::vector<Cause>& causes) : job_(job), causes_(causes) {}

  void Find() {
    std::map<std::vector<std::int64_t>, Outsider> by_ranks;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const JobOperation& operation = job_.operations.all[i];
      if (operation.joint.outsider < 0) continue;
      const TimeNs behind = operation.joint.outsider - operation.joint.second;
      Outsider& late = by_ranks[operation.outsiders];
      late.ranks = operation.outsiders;
      late.worst = std::max(late.worst, behind);
      late.sum += behind;
      late.steps.insert(operation.step);
      // The outsider comes with the last of the others.
      late.removal.cuts.push_back(job_.graph.outsiders[i]);
    }
    std::vector<Outsider> known;
    for (auto& [ranks, late] : by_ranks) {
      if (!ranks.empty()) {
        known.push_back(std::move(late));
      } else {
        AddOutsiders("unknown", {}, std::move(late));
      }
    }
    // As with captured ranks, those that are about equally late are one cause.
    std::stable_sort(known.begin(), known.end(),
                     [](const Outsider& a, const Outsider& b) { return a.sum > b.sum; });
    for (std::size_t first = 0; first < known.size();) {
      Outsider together;
      std::set<std::int64_t> ranks;
      std::size_t next = first;
      for (;
           next < known.size() && static_cast<double>(known[first].sum) <=
                                      job_.rules.late_alike * static_cast<double>(known[next].sum);
           ++next) {
        ranks.insert(known[next].ranks.begin(), known[next].ranks.end());
        together.worst = std::max(together.worst, known[next].worst);
        together.steps.insert(known[next].steps.begin(), known[next].steps.end());
        const auto& cuts = known[next].removal.cuts;
        together.removal.cuts.insert(together.removal.cuts.end(), cuts.begin(), cuts.end());
      }
      AddOutsiders(fmt::format("r{}", fmt::join(ranks, "+")), {ranks.begin(), ranks.end()},
                   std::move(together));
      first = next;
    }
  }

 private:
  void AddOutsiders(const std::string& place, std::vector<std::int64_t> ranks, Outsider late) {
    Cause cause = NewCause(job_, "rank.late", place);
    cause.finding.ranks = std::move(ranks);
    std::vector<std::int32_t> steps;
    for (const std::int32_t id : cause.finding.steps) {
      if (late.steps.contains(PositionOf(id))) steps.push_back(id);
    }
    if (!steps.empty()) cause.finding.steps = std::move(steps);
    cause.finding.metrics.push_back({"late_by", static_cast<double>(late.worst), "ns"});
    cause.what_if.expect = std::move(late.removal);
    causes_.push_back(std::move(cause));
  }

  std::int32_t PositionOf(std::int32_t id) const {
    const auto& steps = job_.Part(0).steps;
    const auto found = std::find_if(steps.begin(), steps.end(),
                                    [&](const StepPart& step) { return step.id == id; });
    return static_cast<std::int32_t>(found - steps.begin());
  }

  const Job& job_;
  std::vector<Cause>& causes_;
};

}  // namespace

void FindOutsiderCauses(const Job& job, std::vector<Cause>& causes) {
  OutsiderCauses(job, causes).Find();
}

}  // namespace mpa
