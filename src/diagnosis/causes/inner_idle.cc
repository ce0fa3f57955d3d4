// SPDX-License-Identifier: Apache-2.0
// Time within collectives in which nothing is transferred.
#include <algorithm>
#include <initializer_list>

#include "finder.h"
#include "mpa/diagnosis/causes/bandwidths.h"
#include "mpa/diagnosis/causes/finding_search.h"
#include "small_operations.h"

namespace mpa {
namespace {

constexpr Threshold kInnerShare{"share", 0.03, 0, 1,
                                "idle time within operations takes at least this share of the"
                                " step"},
    kInnerGain{"gain", 0.5, 0, 1, "a fix removes this share of it"};

class InnerIdle : Finder {
 public:
  using Finder::Finder;

  void Find() {
    AddHeldUp();
    AddInner();
  }

 private:
  // The time of categories in a mean step of a mean rank.
  double MeanOf(std::initializer_list<TimeCategory> categories) const {
    double time = 0, steps = 0;
    for (const DiagnosedRank& rank : job_.ranks) {
      for (std::size_t step = job_.first_step; step < rank.part->steps.size(); ++step) {
        for (const TimeCategory category : categories)
          time += static_cast<double>(
              rank.part->steps[step].categories[static_cast<std::size_t>(category)]);
        ++steps;
      }
    }
    return steps == 0 ? 0 : time / steps;
  }

  // True for time that is more than what starts and ends of operations take.
  bool IsMuch(double time) const {
    return time > 0 && time >= job_.thresholds[kInnerShare] * static_cast<double>(job_.step_time);
  }

  // A member that was not captured, or a link to it, holds up all that were. Data on their way to
  // another node look like such a wait: who sends to several members through one port takes longer
  // than they do. So do all data without recorded sizes.
  void AddHeldUp() {
    const bool sizes_known = std::ranges::all_of(
        job_.ranks, [](const DiagnosedRank& rank) { return !rank.part->transfers.empty(); });
    if (!sizes_known) return;
    const double waits = MeanOf({TimeCategory::kInnerWait});
    if (!IsMuch(waits)) return;
    Finding candidate = NewFinding(job_, kCommInner, "peer");
    candidate.kind = FindingKind::kFault;
    candidate.what_if.opportunity = false;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const TimeNs held_up = LeastOfMembers(job_, i, &OperationPart::held_up);
      if (held_up > 0 && !CrossesPort(job_, i))
        ShortenOperation(job_, i, held_up, candidate.what_if.expect);
    }
    if (candidate.what_if.expect.waits.empty()) return;
    candidate.Measure(kTimePerStep, waits);
    candidates_.push_back(std::move(candidate));
  }

  // What operations idle between and beside their transfers.
  void AddInner() {
    const double idle = MeanOf({TimeCategory::kInnerWait, TimeCategory::kInnerIdle});
    if (!IsMuch(idle)) return;
    Finding candidate = NewFinding(job_, kCommInner);
    // There the profiler adds tasks of its own to every operation.
    const auto is_level2 = [](const DiagnosedRank& rank) { return rank.part->level == "Level2"; };
    if (std::ranges::any_of(job_.ranks, is_level2)) candidate.confidence = Certainty::kLow;
    for (std::size_t i = 0; i < job_.operations.all.size(); ++i) {
      const LinkSpeeds::Data data = speeds_.DataOf(i);
      if (data.bytes == 0 || IsSmallOperation(job_, i, data)) continue;
      const TimeNs within =
          std::min(LeastOfMembers(job_, i, &OperationPart::idle), PostOf(job_, i));
      if (within == 0) continue;
      ShortenOperation(job_, i, ShareOf(within, job_.thresholds[kInnerGain]),
                       candidate.what_if.expect);
      ShortenOperation(job_, i, within, candidate.what_if.bound);
    }
    if (candidate.what_if.expect.waits.empty()) return;
    candidate.Measure(kTimePerStep, idle);
    candidates_.push_back(std::move(candidate));
  }

  const LinkSpeeds& speeds_ = search_.Speeds();
};

AdvicePart AnyOrder() {
  AdvicePart part =
      Setting("HCCL_DETERMINISTIC=false unless results must repeat", "HCCL_DETERMINISTIC", "false");
  part.against_poor = true;
  return part;
}

}  // namespace

const FindingType kCommInner = Opportunity(
    Area::kCommunication, "comm.inner", {"communication"},
    "collectives idle between their transfers",
    {.looked_at = "time within operations in which no task moves data, on every member",
     .refuted_by = "a member still moves data, or the operation is small",
     .needs = {Record::kTransfers},
     .applies = HasTransfers,
     .find = FindBy<InnerIdle>,
     .advice = {{AnyOrder(),
                 {"compare the modes of HCCL_OP_EXPANSION_MODE", Check("HCCL_OP_EXPANSION_MODE")},
                 {"HCCL_BUFFSIZE above the message", Check("HCCL_BUFFSIZE")}},
                {CompareNccl()}},
     .thresholds = {&kInnerShare, &kInnerGain}});

}  // namespace mpa
